"""A package as pip installs it, which brings one component of each kind."""

from __future__ import annotations

from pathlib import Path

CODE = '''
import numpy as np

from quoth.testing import HashEmbedder, ScriptedGenerator, WordReranker


class Shelf:
    """Vectors in memory."""

    name, endpoint, errors = "shelf", "", (OSError,)

    def __init__(self, access):
        self.rows = {}

    def upsert(self, rows, *, vectors):
        self.rows |= {row.id: vector for row, vector in zip(rows, vectors, strict=True)}

    def delete(self, ids):
        for key in ids:
            self.rows.pop(key, None)

    def nearest(self, vector, *, limit, conditions):
        assert not conditions
        scored = [(key, float(np.dot(row, vector))) for key, row in self.rows.items()]
        return sorted(scored, key=lambda pair: -pair[1])[:limit]

    def vectors(self, ids):
        return {key: self.rows[key] for key in ids if key in self.rows}

    def count(self):
        return len(self.rows)

    def build(self, *, rows):
        return False

    def drop(self):
        self.rows.clear()

    def close(self):
        pass


def embedder(settings):
    made = HashEmbedder()
    made.name = "brought-embedder"
    return made


def reranker(settings):
    made = WordReranker()
    made.name = "brought-reranker"
    return made


def generator(settings, model):
    made = ScriptedGenerator("The colony stays warm by shivering. [1]")
    made.provider, made.model = "brought", model or "usual"
    return made


class Transformer:
    """Says what a word means, and what was asked before."""

    name = "brought-transformer"
    local = True

    async def transform(self, query, *, history):
        before = "".join(f" {turn.question}" for turn in history)
        return query.replace("toasty", "warm") + before

    async def close(self):
        pass


def transformer(settings):
    return Transformer()


def nothing(access):
    return None


def words(settings):
    return "words"


def keyless(settings, model):
    return {}["key"]
'''
POINTS = """
[quoth.stores]
shelf = brought_to_quoth:Shelf
unfit = brought_to_quoth:nothing

[quoth.embedders]
mine = brought_to_quoth:embedder
unfit = brought_to_quoth:nothing

[quoth.rerankers]
mine = brought_to_quoth:reranker
unfit = brought_to_quoth:words

[quoth.query_transformers]
mine = brought_to_quoth:transformer
unfit = brought_to_quoth:words

[quoth.generators]
mine = brought_to_quoth:generator
unfit = brought_to_quoth:keyless
"""


def install(folder: Path) -> Path:
    """Lay the package out below a folder, as ``pip install --target`` does; gives the folder."""
    about = folder / "brought_to_quoth-1.0.dist-info"
    about.mkdir(parents=True)
    (folder / "brought_to_quoth.py").write_text(CODE, encoding="utf-8")
    metadata = "Metadata-Version: 2.1\nName: brought-to-quoth\nVersion: 1.0\n"
    (about / "METADATA").write_text(metadata, encoding="utf-8")
    (about / "entry_points.txt").write_text(POINTS, encoding="utf-8")
    return folder
