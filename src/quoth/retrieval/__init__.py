"""From a question to a ranking: functions over values."""
