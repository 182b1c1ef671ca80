"""Statements about passages, true and false."""
