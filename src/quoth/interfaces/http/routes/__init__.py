"""Routes, one file per resource; each accesses data only through its caller."""
