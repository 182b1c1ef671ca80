"""Server process: sockets, protocol, warm-up, state."""
