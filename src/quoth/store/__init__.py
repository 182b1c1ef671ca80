"""The catalogue: SQL truth about collections, documents, chunks, jobs, queries and answers."""
