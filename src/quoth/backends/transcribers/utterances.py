"""Speech to text while it is spoken: sound in, sentences out, without a clock or a file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from quoth.core.protocols import Matrix
from quoth.core.speech import SpokenSegment

SAMPLE_RATE = 16_000
PROVISIONAL_S = 1.0
"""Seconds of new speech after which an utterance is recognised before its end."""
SETTLED_S = 0.7
"""Seconds of speech behind a sentence from which it counts as complete."""
MAX_UTTERANCE_S = 20.0
"""An utterance without a pause is cut here; recognition works on at most 30 s."""
KEPT_S = 0.5
"""Seconds of silence that are kept before speech, so that no beginning is cut off."""
SHORT_S = 5.0
PAUSE_S = 0.3
"""A shorter utterance ends with a pause of that length beside the .1 s of silence that is kept on
either side of speech; a longer one with any pause that the voice detection finds."""
SURE_LANGUAGE_S = 3.0
"""Seconds of speech from which its language is taken for the rest."""

FindSpeech = Callable[[Matrix], Sequence[tuple[int, int]]]
"""Returns where speech begins and ends in a sound, in samples.

Speech that may go on ends with the sound; a pause behind it means that it is over.
"""


class Recogniser(Protocol):
    """Recognises the speech in a mono sound of 16 kHz."""

    name: str

    def segments(
        self, sound: Matrix, language: str | None, start: float
    ) -> tuple[list[SpokenSegment], str]:
        """Return the sentences, whose times count from `start`, and the language."""
        ...


@dataclass(frozen=True, slots=True)
class Utterance:
    """A sentence from `start` to `end` seconds; one that is not ``final`` may still change.

    A later one with the same ``number`` and a higher ``revision`` replaces it.
    """

    number: int
    revision: int
    start: float
    end: float
    text: str
    final: bool
    language: str | None


@dataclass(slots=True)
class LiveTranscription:
    """The sound of which nothing final was said yet, and what was recognised of it.

    ``start`` is the second of the lecture at which the sound begins. An utterance ends with a
    pause, a short one with a longer one; before that its complete sentences are final, the last one
    is provisional.
    """

    recogniser: Recogniser
    find_speech: FindSpeech
    language: str | None = None
    start: float = 0.0
    heard_at: float = field(init=False)
    _sound: Matrix = field(default_factory=lambda: np.zeros(0, np.float32))
    _recognised: int = 0
    _last: list[SpokenSegment] = field(default_factory=list)
    _number: int = 0
    _revision: int = 0

    def __post_init__(self) -> None:
        self.heard_at = self.start

    @property
    def end(self) -> float:
        """Return the second up to which sound has come."""
        return self.start + len(self._sound) / SAMPLE_RATE

    def add(self, sound: Matrix, *, provisional: bool = True) -> list[Utterance]:
        """Take the sound that follows; return what is new in it.

        Without ``provisional`` an utterance is recognised at its end only.
        """
        self._sound = np.concatenate([self._sound, sound])
        found: list[Utterance] = []
        while (span := self._first_span()) is not None:
            begins, ends = span
            self.heard_at = self.start + ends / SAMPLE_RATE
            closed = ends < len(self._sound)
            if not closed and len(self._sound) - begins < MAX_UTTERANCE_S * SAMPLE_RATE:
                if (
                    provisional
                    and ends - max(begins, self._recognised) >= PROVISIONAL_S * SAMPLE_RATE
                ):
                    found += self._so_far(begins, ends)
                return found
            found += self._complete(begins, ends)
        self._drop(len(self._sound) - int(KEPT_S * SAMPLE_RATE))
        return found

    def close(self) -> list[Utterance]:
        """Return what is said in the sound that is left."""
        found = self.add(np.zeros(0, np.float32), provisional=False)
        span = self._first_span()
        return found if span is None else [*found, *self._complete(*span)]

    def skip(self, seconds: float) -> None:
        """Leave out sound that could not be taken in time."""
        self._drop(len(self._sound))
        self.start += seconds

    def _first_span(self) -> tuple[int, int] | None:
        spans = self.find_speech(self._sound) if len(self._sound) else ()
        if not spans:
            return None
        begins, ends = spans[0]
        rest = [*spans[1:], (len(self._sound), len(self._sound))]
        for more_begins, more_ends in rest:
            if (
                ends - begins >= SHORT_S * SAMPLE_RATE
                or more_begins - ends >= PAUSE_S * SAMPLE_RATE
            ):
                break
            ends = more_ends
        return begins, ends

    def _complete(self, begins: int, ends: int) -> list[Utterance]:
        known = ends <= self._recognised  # nothing was said since
        sentences = self._last if known else self._recognise(begins, ends)
        found = [self._next(sentence, final=True) for sentence in sentences]
        self._last = []
        self._drop(max(1, ends))
        return found

    def _so_far(self, begins: int, ends: int) -> list[Utterance]:
        self._recognised = ends
        sentences = self._recognise(begins, ends)
        settled = self.start + ends / SAMPLE_RATE - SETTLED_S
        done = [each for each in sentences[:-1] if each.end <= settled]
        found = [self._next(sentence, final=True) for sentence in done]
        rest = self._last = sentences[len(done) :]
        if rest:
            text = " ".join(each.text for each in rest)
            found.append(self._next(SpokenSegment(rest[0].start, rest[-1].end, text), final=False))
        if done:
            self._drop(int((done[-1].end - self.start) * SAMPLE_RATE))
        return found

    def _recognise(self, begins: int, ends: int) -> list[SpokenSegment]:
        sound = self._sound[begins:ends]
        start = self.start + begins / SAMPLE_RATE
        sentences, language = self.recogniser.segments(sound, self.language, start)
        if sentences and ends - begins >= SURE_LANGUAGE_S * SAMPLE_RATE:
            self.language = self.language or language
        return [each for each in sentences if each.text]

    def _next(self, sentence: SpokenSegment, *, final: bool) -> Utterance:
        made = Utterance(
            self._number, self._revision, sentence.start, max(sentence.start, sentence.end),
            sentence.text, final, self.language,
        )  # fmt: skip
        self._revision += 1
        if final:
            self._number, self._revision = self._number + 1, 0
        return made

    def _drop(self, samples: int) -> None:
        samples = max(0, min(samples, len(self._sound)))
        self._sound = self._sound[samples:]
        self._recognised = max(0, self._recognised - samples)
        self.start += samples / SAMPLE_RATE
