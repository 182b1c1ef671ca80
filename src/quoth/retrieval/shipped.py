"""The calibrations that come with quoth, by embedder; figures and data: docs/decisions/017."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from quoth.tuning import Calibration, Tuning

E5 = ("multilingual-e5-small-int8", "1e8f0dda296a589c")
"""Name and revision of the default embedder."""

SHIPPED: Mapping[tuple[str, str], Tuning] = MappingProxyType(
    {
        E5: Tuning(
            relevance=Calibration(
                bias=-4.527,
                weights=MappingProxyType({"gap": 7.243, "words": 1.976, "place": 1.795}),
                questions=16626,
                source="ten collections of five judged sets",
            ),
            answerable=Calibration(
                bias=-24.886,
                weights=MappingProxyType(
                    {
                        "foreign": 20.553,
                        "foreign_gap": 21.613,
                        "foreign_coverage": 0.749,
                        "matched": 3.696,
                        "gap": 6.201,
                        "best": 23.127,
                        "meets": 0.976,
                        "agree": 3.782,
                    }
                ),
                questions=16626,
                source="ten collections of five judged sets",
            ),
            answer_from=0.5,
        )
    }
)
