"""Sources that contradict each other."""
