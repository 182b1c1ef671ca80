"""Receiving files."""
