"""Copies of a library, made while it is in use, checked and brought back."""
