"""Sources of documents: files and the web."""
