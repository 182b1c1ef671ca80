"""Answers in the words of the sources."""
