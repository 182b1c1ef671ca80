"""From a source to chunks."""
