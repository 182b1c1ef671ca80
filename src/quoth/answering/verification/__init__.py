"""The check of a statement against what the model saw (docs/decisions/024).

tokens, units, values      how a text is read: words, measures, numbers and names
sources, claim             what the model saw, and a statement, read in that way
align                      the sentences of the sources that a statement is laid beside
changes, held              what was changed on the way, and what the sentences do not hold
foreign                    the same where source and statement have no words in common
model, judge               how likely the rest is borne out, and what a judge says of it
quotes, silence            quotations inside, and sentences that claim nothing
check                      all of it in order: `verify`
"""

from __future__ import annotations

from quoth.answering.verification.cross_lingual import Embed, remembering
from quoth.answering.verification.non_claims import is_non_claim
from quoth.answering.verification.source_index import Sources, read_sources
from quoth.answering.verification.verify import EvidenceSpan, StatementCheck, verify

__all__ = [
    "Embed",
    "EvidenceSpan",
    "Sources",
    "StatementCheck",
    "is_non_claim",
    "read_sources",
    "remembering",
    "verify",
]
