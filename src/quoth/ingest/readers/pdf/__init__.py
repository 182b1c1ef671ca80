"""Reading PDF."""
