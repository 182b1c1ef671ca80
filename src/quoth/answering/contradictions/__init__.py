"""Contradictions between sources."""
