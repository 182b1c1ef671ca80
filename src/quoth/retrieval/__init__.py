"""Ranking: functions over values."""
