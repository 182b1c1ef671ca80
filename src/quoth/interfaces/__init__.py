"""Command line, HTTP, MCP and chat page."""
