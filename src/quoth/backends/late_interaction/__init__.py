"""Late interaction over stored token vectors."""
