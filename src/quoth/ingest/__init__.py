"""Ingest: sources, readers, chunker, enrichment, sandbox."""
