"""Exact search over a memory-mapped copy of the index."""
