"""The index in LanceDB."""
