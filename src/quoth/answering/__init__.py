"""From passages to a cited answer."""
