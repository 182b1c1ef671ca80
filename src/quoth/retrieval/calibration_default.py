"""Default calibrations by embedder; figures and data: docs/decisions/017."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from quoth.core.calibration import Calibration, Tuning

E5 = ("multilingual-e5-small-int8", "1e8f0dda296a589c")
"""Name and revision of the default embedder."""

SOURCE = "eight collections of five judged sets, three of them also cut down to 90 to 200 passages"

DEFAULT_CALIBRATION: Mapping[tuple[str, str], Tuning] = MappingProxyType(
    {
        E5: Tuning(
            answerable=Calibration(
                bias=-20.87,
                weights=MappingProxyType(
                    {
                        "covered": 2.485,
                        "best": 18.806,
                        "read": 3.157,
                        "ahead": 13.081,
                        "foreign": 3.15,
                        "foreign_read": 33.432,
                        "foreign_ahead": 33.785,
                        "unread": -4.73,
                        "unread_matched": 1.846,
                        "unread_gap": 11.466,
                        "unread_best": 24.137,
                        "unread_meets": 0.94,
                        "foreign_unread": 14.08,
                        "foreign_unread_gap": 23.203,
                        "foreign_unread_coverage": 4.795,
                    }
                ),
                questions=7425,
                source=SOURCE,
            ),
            answer_from=0.2,
        )
    }
)
