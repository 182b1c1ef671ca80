"""One reader per format."""
