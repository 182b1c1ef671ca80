"""Outline, chapters, summaries and entities of a document."""
