"""Verification of statements against the model's sources (docs/decisions/024).

tokens, units, values      tokenization: words, measures, numbers and names
source_index, claim        the sources and a statement, tokenized alike
align                      the source sentences that may support a statement
contradiction_rules, value_checks   differences that change the meaning
cross_lingual              the same without words in common
calibration, combine_judge the support probability, and a judge's share in it
quotations, non_claims     quotations within statements, and statements without a claim
verify                     all steps in order
"""

from __future__ import annotations

from quoth.answering.verification.cross_lingual import Embed, cache_embeddings
from quoth.answering.verification.non_claims import is_non_claim
from quoth.answering.verification.source_index import Sources, read_sources
from quoth.answering.verification.verify import EvidenceSpan, StatementCheck, verify

__all__ = [
    "Embed",
    "EvidenceSpan",
    "Sources",
    "StatementCheck",
    "cache_embeddings",
    "is_non_claim",
    "read_sources",
    "verify",
]
