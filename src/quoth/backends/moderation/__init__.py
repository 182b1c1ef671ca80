"""Moderation of questions and of what language models write."""
