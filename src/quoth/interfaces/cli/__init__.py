"""The command line: a door to the engine."""
