"""Models that embed pictures of pages."""
