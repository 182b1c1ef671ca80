"""The same wishes in many wordings: comparisons, kinds, follow-ups."""

from __future__ import annotations
