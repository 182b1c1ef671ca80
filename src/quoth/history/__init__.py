"""Stored queries: explain, replay, export."""
