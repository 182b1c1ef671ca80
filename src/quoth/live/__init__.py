"""Live lectures as plain values: segments make windows, and windows choose citation cards."""
