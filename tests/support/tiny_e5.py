"""A weights file in the format of multilingual-e5-small, small enough to build in a moment."""

from __future__ import annotations

import hashlib
import math
import os
import struct
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from quoth_e5.build import build_e5

HIDDEN, LAYERS, HEADS, INNER, POSITIONS = 64, 2, 4, 128, 48
EPSILON = 1e-12
WORDS = ["the", "a", "of", "to", "and", "le", "la", "les", "de", "un", "une"]
WORDS += ["token", "tokenizer", "model", "text", "page", "chapter", "learn"]
SYLLABLES = ["ing", "er", "tion", "s", "ed", "ly", "able", "ment", "que", "é", "è", "ç", "à", "œ"]
LETTERS = [chr(code) for code in range(33, 127)] + list("éèêàçùœ漢字«»…")


@dataclass(frozen=True)
class TinyE5:
    """The file's bytes, and what was put in it."""

    data: bytes
    sha256: str
    pieces: list[str]
    matrices: dict[str, np.ndarray]

    def save(self, path: Path) -> Path:
        path.write_bytes(self.data)
        return path


def tiny_e5(seed: int = 7) -> TinyE5:
    random = np.random.default_rng(seed)
    pieces = ["<s>", "<pad>", "</s>", "<unk>", "▁", *(f"▁{word}" for word in WORDS)]
    pieces += [*WORDS, *SYLLABLES, *LETTERS]
    pieces = list(dict.fromkeys(pieces))
    scores = [0.0] * 4 + [-3 - 0.05 * at for at in range(len(pieces) - 4)]
    matrices: dict[str, np.ndarray] = {}
    tensors: list[tuple[str, bytes]] = []

    def floats(name: str, *shape: int, centre: float = 0.0) -> None:
        matrices[name] = random.normal(centre, 0.1, shape).astype(np.float32)
        tensors.append((name, matrices[name].astype("<f4").tobytes()))

    def blocks(name: str, rows: int, columns: int, scale: float) -> None:
        numbers = random.integers(-8, 8, (rows * columns // 32, 32))
        scales = random.uniform(0.5, 1.5, (len(numbers), 1)).astype("<f2") * np.float16(scale)
        packed = ((numbers[:, :16] + 8) | ((numbers[:, 16:] + 8) << 4)).astype(np.uint8)
        raw = np.concatenate([scales.astype("<f2").view(np.uint8), packed], axis=1)
        matrices[name] = (numbers * scales.astype(np.float32)).astype(np.float32)
        matrices[name] = matrices[name].reshape(rows, columns)
        tensors.append((name, raw.tobytes()))

    blocks("emb.word", len(pieces), HIDDEN, 0.1)
    floats("emb.pos", POSITIONS, HIDDEN)
    floats("emb.type", 2, HIDDEN)
    floats("emb.ln.w", HIDDEN, centre=1)
    floats("emb.ln.b", HIDDEN)
    for layer in range(LAYERS):
        for part, rows, columns in (
            *((name, HIDDEN, HIDDEN) for name in ("q", "k", "v", "ao")),
            ("fi", INNER, HIDDEN),
            ("fo", HIDDEN, INNER),
        ):
            blocks(f"l{layer}.{part}.w", rows, columns, 0.03)
            floats(f"l{layer}.{part}.b", rows)
        for part in ("aln", "oln"):
            floats(f"l{layer}.{part}.w", HIDDEN, centre=1)
            floats(f"l{layer}.{part}.b", HIDDEN)
    data = _file(pieces, scores, tensors)
    return TinyE5(data, hashlib.sha256(data).hexdigest(), pieces, matrices)


def build_tiny(folder: Path) -> Path:
    """Build the tiny model into a folder under the given one."""
    tiny = tiny_e5()
    path = tiny.save(folder / f"tiny-{os.getpid()}.bin")
    model = folder / "tiny-e5"
    build_e5(model, weights=path, sha256=tiny.sha256, progress=lambda _: None)
    return model


def forward(tiny: TinyE5, ids: list[int]) -> np.ndarray:
    """The last hidden state by plain numpy, shape (tokens, hidden)."""
    m = tiny.matrices

    def norm(x: np.ndarray, part: str) -> np.ndarray:
        spread = np.sqrt(x.var(-1, keepdims=True) + EPSILON)
        return (x - x.mean(-1, keepdims=True)) / spread * m[f"{part}.w"] + m[f"{part}.b"]

    def linear(x: np.ndarray, part: str) -> np.ndarray:
        return x @ m[f"{part}.w"].T + m[f"{part}.b"]

    x = norm(m["emb.word"][ids] + m["emb.pos"][: len(ids)] + m["emb.type"][0], "emb.ln")
    for layer in range(LAYERS):
        q, k, v = (
            linear(x, f"l{layer}.{part}").reshape(len(ids), HEADS, -1).transpose(1, 0, 2)
            for part in "qkv"
        )
        raw = np.exp(q @ k.transpose(0, 2, 1) / math.sqrt(HIDDEN // HEADS))
        mixed = (raw / raw.sum(-1, keepdims=True) @ v).transpose(1, 0, 2).reshape(len(ids), -1)
        x = norm(x + linear(mixed, f"l{layer}.ao"), f"l{layer}.aln")
        inner = linear(x, f"l{layer}.fi")
        gelu = 0.5 * inner * (1 + np.vectorize(math.erf)(inner / math.sqrt(2)))
        x = norm(x + linear(gelu, f"l{layer}.fo"), f"l{layer}.oln")
    return x


def _file(pieces: list[str], scores: list[float], tensors: list[tuple[str, bytes]]) -> bytes:
    sizes = (HIDDEN, LAYERS, HEADS, INNER, len(pieces), POSITIONS, 2)
    encoded = [piece.encode() for piece in pieces]
    ends = np.cumsum([0, *map(len, encoded)]).astype("<u4")
    head = struct.pack("<4sI7ifi", b"E5S1", 1, *sizes, EPSILON, 32)
    head += struct.pack("<i4iQ", len(pieces), 0, 2, 1, 3, ends[-1])
    head += ends.tobytes() + np.array(scores, "<f4").tobytes() + b"".join(encoded)
    table = struct.pack("<IBI", 9, 1, 32)
    head += struct.pack("<iI", 1, len(table)) + table + struct.pack("<i", len(tensors))
    at = len(head) + sum(2 + len(name) + 21 for name, _ in tensors)
    for name, raw in tensors:
        head += struct.pack("<H", len(name)) + name.encode()
        head += struct.pack("<BI2Q", 1, 0, at, len(raw))
        at += len(raw)
    return head + b"".join(raw for _, raw in tensors)
