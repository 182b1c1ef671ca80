"""The limited child process that parses files."""
