"""What the service tells its operators: logs, counters and spans, none with anybody's text."""
