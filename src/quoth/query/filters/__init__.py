"""Filters expressed in the query."""
