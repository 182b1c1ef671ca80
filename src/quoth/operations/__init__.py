"""Worker, backups, retention, logs and metrics."""
