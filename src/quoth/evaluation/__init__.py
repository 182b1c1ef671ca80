"""Measuring: the same engine, known questions, numbers."""
