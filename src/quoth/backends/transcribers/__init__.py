"""Transcribers: speech to text with the time of every word."""
