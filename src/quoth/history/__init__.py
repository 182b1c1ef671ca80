"""What was asked: listed, explained, asked again, handed on."""
