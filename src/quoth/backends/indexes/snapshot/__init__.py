"""Exact search over a memory-mapped snapshot of an index."""
