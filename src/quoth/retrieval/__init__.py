"""Ranking stages: functions over values."""
