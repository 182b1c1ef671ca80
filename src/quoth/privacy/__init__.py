"""What a tenant may have of his own: everything handed out, and all of it forgotten."""
