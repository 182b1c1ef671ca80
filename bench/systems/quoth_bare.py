"""quoth doing what the peers do and no more: embedding, both legs with as many candidates as
theirs, fusion, texts, context.

It is the same engine by the same path, without strategies by kind of question, scores that
support each other, copies and neighbours. Understanding, calibration and the catalogue stay.
"""

from __future__ import annotations

from functools import partial

from bench.system import CANDIDATES
from bench.systems import quoth_engine

BARE = {
    "candidates_per_leg": CANDIDATES,
    "strategy": "rank",
    "mmr_lambda": 1.0,
    "duplicate_cosine": 1.0,
    "context_window": 0,
}

build = quoth_engine.build
finish = quoth_engine.finish
load = partial(quoth_engine.load, choices=BARE)
