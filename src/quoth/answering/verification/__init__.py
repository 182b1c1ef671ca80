"""Verification of statements against the model's sources (docs/decisions/046).

tokens, units              tokenization: words, measures, numbers and names
word_classes               words that change what a clause says, from files in ``data``
source_index, claim        the sources and a statement, tokenized alike
evidence, features, head   the sentences that may support it, and the trained probability
cross_lingual              the same without words in common
non_claims                 statements without a claim
reasons                    why a statement is not supported, in words
verify                     all steps in order, and quotations within statements
"""

from __future__ import annotations

from quoth.answering.verification.cross_lingual import Embed, cache_embeddings
from quoth.answering.verification.non_claims import is_non_claim
from quoth.answering.verification.reasons import describe_reasons
from quoth.answering.verification.source_index import Sources, read_sources
from quoth.answering.verification.verify import EvidenceSpan, StatementCheck, verify

__all__ = [
    "Embed",
    "EvidenceSpan",
    "Sources",
    "StatementCheck",
    "cache_embeddings",
    "describe_reasons",
    "is_non_claim",
    "read_sources",
    "verify",
]
