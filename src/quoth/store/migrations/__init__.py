"""Migrations of the catalogue."""
