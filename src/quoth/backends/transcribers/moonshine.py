"""English speech to text by Moonshine, which reads an utterance at its own length.

Whisper pads every sound to 30 s. Moonshine (Jeffries et al. 2024, arXiv:2410.15608) gives no times
of words, so that it is for live speech, whose utterances are short.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from quoth.backends.onnx.session import SESSION_ERRORS, Numbers, open_runtime, open_tokenizer
from quoth.backends.transcribers.registry import DECODER, ENCODER, TOKENIZER
from quoth.backends.transcribers.utterances import SAMPLE_RATE
from quoth.core.errors import BackendError
from quoth.core.protocols import Matrix
from quoth.core.speech import SpokenSegment

LANGUAGE = "en"
FIRST, LAST = 1, 2
"""The tokens before the first word and behind the last one."""
TOKENS_A_SECOND = 6.5
"""Most tokens of English speech (the model's authors); more means that it repeats itself."""
PAST, PRESENT = "past_key_values.", "present."


class MoonshineRecogniser:
    """Recognises English utterances with the weights in a folder."""

    def __init__(self, folder: Path) -> None:
        self.name = folder.name
        self._tokenizer = open_tokenizer(folder / TOKENIZER)
        self._encoder = open_runtime(folder / ENCODER)
        self._decoder = open_runtime(folder / DECODER)
        self._empty = {
            node.name: np.zeros((1, node.shape[1], 0, node.shape[3]), np.float32)
            for node in self._decoder.get_inputs()
            if node.name.startswith(PAST)
        }

    def segments(
        self, sound: Matrix, language: str | None, start: float
    ) -> tuple[list[SpokenSegment], str]:
        """Return what is said, in one segment; raises BackendError."""
        del language
        try:
            text = self._tokenizer.decode(self._tokens(sound)).strip()
        except SESSION_ERRORS as error:
            raise BackendError(f"The speech could not be recognised: {error}.") from error
        return [SpokenSegment(start, start + len(sound) / SAMPLE_RATE, text)], LANGUAGE

    def _tokens(self, sound: Matrix) -> list[int]:
        """Return the likeliest next token, one after the other."""
        [states] = self._encoder.run(None, {"input_values": sound[None]})
        cache: dict[str, Numbers] = dict(self._empty)
        tokens = [FIRST]
        for _ in range(int(len(sound) / SAMPLE_RATE * TOKENS_A_SECOND)):
            further = len(tokens) > 1
            # The keys and values of the sound are computed with the first token only.
            changed = [name for name in cache if not further or ".decoder." in name]
            logits, *present = self._decoder.run(
                ["logits", *(name.replace(PAST, PRESENT) for name in changed)],
                {
                    "input_ids": np.array([tokens[-1:]], np.int64),
                    "encoder_hidden_states": states,
                    "use_cache_branch": np.array([further]),
                    **cache,
                },
            )
            cache.update(zip(changed, present, strict=True))
            tokens.append(int(logits[0, -1].argmax()))
            if tokens[-1] == LAST:
                break
        return tokens
