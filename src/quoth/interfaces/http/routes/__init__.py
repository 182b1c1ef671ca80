"""The routes, a file for each kind of thing; none has a way in but its `Caller`."""
