"""The tokenizer of multilingual-e5-small, used without loading its whole vocabulary.

Building the search tree over 250,000 pieces takes more than half a second and 300 MB, every time
a process starts. A Unigram tokenizer, however, only ever looks at pieces that occur in the text.
`LeanTokenizer` looks those up in a sorted table on disk, which is mapped and not read, and passes
them to the same library: the result is the same by construction, and ready at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers, processors

from quoth_e5.weights import Vocabulary

TABLE = "vocabulary"
PARTS_AT_ONCE = 200_000
"""Bounds the memory for a text without spaces."""
FEW_WORDS = 64
"""Texts of up to so many words are cut word by word, with a memory."""
KNOWN_WORDS = 20_000
SPACE = "▁"
"""Stands for the space before a word in the pieces (U+2581)."""
# The rules "nmt_nfkc" of SentencePiece, with which the model was trained.
CONTROLS = r"[\x00-\x08\x0b\x0e-\x1f\x7f\x{8f}\x{9f}]"
BLANKS = r"[\t\n\f\r\x{1680}\x{200b}-\x{200f}\x{2028}\x{2029}\x{2581}\x{feff}\x{fffd}]"


def normalizer() -> normalizers.Normalizer:
    """Return the rules: no control characters, every blank one space, NFKC."""
    return normalizers.Sequence(
        [
            normalizers.Replace(Regex(CONTROLS), ""),
            normalizers.Replace(Regex(BLANKS), " "),
            normalizers.NFKC(),
            normalizers.Replace(Regex(" {2,}"), " "),
            normalizers.Strip(),
        ]
    )


def full_tokenizer(vocabulary: Vocabulary) -> Tokenizer:
    """Build the complete tokenizer, as saved for other programs in ``tokenizer.json``."""
    pieces = list(zip(vocabulary.pieces, vocabulary.scores, strict=True))
    tokenizer = _tokenizer(_unigram(pieces, unk=vocabulary.unk), rules=normalizer())
    names = [(vocabulary.pieces[at], at) for at in (vocabulary.bos, vocabulary.eos)]
    single = f"{names[0][0]} $A {names[1][0]}"
    tokenizer.post_processor = processors.TemplateProcessing(single=single, special_tokens=names)
    return tokenizer


def write_table(vocabulary: Vocabulary, *, folder: Path) -> None:
    """Write the pieces, sorted by their bytes, with ids and scores, as three mappable arrays."""
    pieces = np.array([piece.encode("utf-8") for piece in vocabulary.pieces])
    order = np.argsort(pieces, kind="stable")
    folder.mkdir()
    np.save(folder / "pieces.npy", pieces[order])
    np.save(folder / "ids.npy", order.astype(np.int32))
    np.save(folder / "scores.npy", np.array(vocabulary.scores, np.float32)[order])
    longest = max(len(piece) for piece in vocabulary.pieces)
    facts = [vocabulary.bos, vocabulary.eos, vocabulary.unk, longest]
    np.save(folder / "facts.npy", np.array(facts, np.int32))


class LeanTokenizer:
    """Tokenizer over the vocabulary pieces that occur in the given texts."""

    def __init__(self, folder: Path) -> None:
        self._pieces = np.load(folder / "pieces.npy", mmap_mode="r")
        self._ids = np.load(folder / "ids.npy", mmap_mode="r")
        self._scores = np.load(folder / "scores.npy", mmap_mode="r")
        bos, eos, unk, self._longest = np.load(folder / "facts.npy").tolist()
        self._ends = ([bos], [eos])
        self.ends = (1, 1)
        # The unknown piece scores ten less than the lowest piece, so a lowest piece is always
        # needed.
        self._always = [int(np.flatnonzero(self._ids == unk)[0]), int(np.argmin(self._scores))]
        self._rules = normalizer()
        self._known: dict[str, list[int]] = {}

    def encode(self, texts: Sequence[str], *, limit: int) -> list[list[int]]:
        """Return the ids of each text with the special tokens, cut to ``limit`` tokens."""
        first, last = self._ends
        return [[*first, *ids[: limit - 2], *last] for ids in self._content(texts)]

    def count(self, texts: Sequence[str]) -> list[int]:
        """Count the tokens of each text without special tokens, however long it is."""
        return [len(ids) for ids in self._content(texts)]

    def _content(self, texts: Sequence[str]) -> Iterable[list[int]]:
        plain = [self._rules.normalize_str(text).split(" ") for text in texts]
        words = {word for each in plain for word in each}
        if len(words) > FEW_WORDS:
            return self._cut(texts, words=words)
        # The pieces of a word do not depend on its position, and queries have few words.
        known = self._known if len(self._known) < KNOWN_WORDS else {}
        fresh = [word for word in words if word and word not in known]
        if any(self._rules.normalize_str(word) != word for word in fresh):
            # Alone it would be read otherwise, as a rare blank that is none within a text.
            return self._cut(texts, words=words)
        if fresh:
            known.update(zip(fresh, self._cut_words(fresh), strict=True))
            self._known = known
        return [[at for word in each if word for at in known[word]] for each in plain]

    def _cut(self, texts: Sequence[str], *, words: set[str]) -> Iterable[list[int]]:
        model, ids = self._model(words)
        tokenizer = _tokenizer(model, rules=self._rules)
        for text in texts:
            # The library tokenizes batches in its own threads, which costs more than it saves here.
            encoding = tokenizer.encode(text, add_special_tokens=False)
            yield [ids[at] for at in encoding.ids]

    def _cut_words(self, words: Sequence[str]) -> Iterable[list[int]]:
        """Tokenize words that normalization leaves unchanged, one by one."""
        model, ids = self._model(words)
        for word in words:
            yield [ids[token.id] for token in model.tokenize(SPACE + word)]

    def _model(self, words: Iterable[str]) -> tuple[models.Unigram, list[int]]:
        """Return a model of the pieces in these words, and the original id of each of its ids."""
        found = self._pieces_within(words)
        rows = sorted(found)
        pieces = list(zip(map(found.__getitem__, rows), self._scores[rows].tolist(), strict=True))
        return _unigram(pieces, unk=rows.index(self._always[0])), self._ids[rows].tolist()

    def _pieces_within(self, words: Iterable[str]) -> dict[int, str]:
        """Return the rows of all pieces that are a substring of one of the words."""
        found = {row: self._pieces[row].decode("utf-8") for row in self._always}
        parts: set[str] = set()
        for word in words:
            marked = SPACE + word
            for start in range(len(marked)):
                end = min(len(marked), start + self._longest)
                parts.update(marked[start:stop] for stop in range(start + 1, end + 1))
                if len(parts) > PARTS_AT_ONCE:
                    found.update(self._look_up(parts))
                    parts.clear()
        found.update(self._look_up(parts))
        return found

    def _look_up(self, parts: Iterable[str]) -> dict[int, str]:
        width = self._pieces.dtype.itemsize
        fits = {part: whole for part in parts if len(whole := part.encode("utf-8")) <= width}
        wanted = np.array(list(fits.values()), self._pieces.dtype)
        rows = np.minimum(np.searchsorted(self._pieces, wanted), len(self._pieces) - 1)
        there = (self._pieces[rows] == wanted).tolist()
        return {
            row: part for part, row, same in zip(fits, rows.tolist(), there, strict=True) if same
        }


def _unigram(pieces: list[tuple[str, float]], *, unk: int) -> models.Unigram:
    """Build a Unigram model (Kudo, 2018, https://arxiv.org/abs/1804.10959)."""
    return models.Unigram(pieces, unk_id=unk, byte_fallback=False)


def _tokenizer(model: models.Unigram, *, rules: normalizers.Normalizer) -> Tokenizer:
    """Return the tokenizer around a model: normalization, words, pieces."""
    tokenizer = Tokenizer(model)
    tokenizer.normalizer = rules
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(
        replacement=SPACE, prepend_scheme="always", split=True
    )
    return tokenizer
