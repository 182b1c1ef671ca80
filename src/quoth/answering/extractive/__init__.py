"""Extractive answers: verbatim sentences of the sources."""
