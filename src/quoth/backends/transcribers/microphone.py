"""The microphone of this machine, by PortAudio."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from quoth.core.errors import BackendError, MissingExtra

RATE = 16_000
BLOCK = RATE // 10


@contextmanager
def open_microphone(take: Callable[[bytes], object]) -> Iterator[None]:
    """Yield the sound of the microphone as PCM of 16 bits, mono, 16 kHz, until the block ends.

    ``take`` is called in another thread. Raises BackendError where there is no microphone.
    """
    try:
        import sounddevice
    except (ImportError, OSError):  # OSError: the package is there, PortAudio is not
        raise MissingExtra(
            "The microphone needs PortAudio. Install it with: pip install 'quoth[speech]', and on "
            "Linux: apt-get install libportaudio2"
        ) from None

    def on_block(block: Any, _frames: int, _time: Any, _status: Any) -> None:
        take(bytes(block))

    try:
        stream = sounddevice.RawInputStream(
            samplerate=RATE, blocksize=BLOCK, channels=1, dtype="int16", callback=on_block
        )
    except sounddevice.PortAudioError as error:
        raise BackendError(
            f"There is no microphone on this machine ({error}). Connect one, or name a recording."
        ) from None
    with stream:
        yield
