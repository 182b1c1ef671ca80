"""From passages to a cited answer: functions over values."""
