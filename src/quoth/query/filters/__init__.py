"""Filters said in the query."""
