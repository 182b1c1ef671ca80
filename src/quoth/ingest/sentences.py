"""The sentence splitter, under the name that the ingest path knows it by."""

from quoth.sentences import sentences

__all__ = ["sentences"]
