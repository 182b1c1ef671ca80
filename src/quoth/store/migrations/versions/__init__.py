"""Schema migrations, one file per step."""
