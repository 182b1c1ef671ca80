"""Reading the query."""
