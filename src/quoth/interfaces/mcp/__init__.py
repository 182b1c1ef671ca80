"""MCP tools for agents."""
