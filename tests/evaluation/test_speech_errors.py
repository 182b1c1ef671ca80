"""Speech as a recogniser without punctuation, or with errors, would write it."""

from __future__ import annotations

from quoth.evaluation.live import JudgedWindow, misspoken
from quoth.evaluation.speech_errors import WORD_ERRORS, with_errors

SPOKEN = "Well, it's a well-known method: you guess, and improve the guess. Isn't that \"nice\"?"


def test_without_punctuation_only_words_stay() -> None:
    assert with_errors([SPOKEN], speech="unpunctuated", seed="1") == [
        "well it's a well-known method you guess and improve the guess isn't that nice"
    ]


def test_wrong_words_are_of_the_same_lecture_and_the_same_each_time() -> None:
    words = [f"w{at}" for at in range(3000)]
    windows = [
        JudgedWindow(f"{name}{part}", name, "en", " ".join(words[part::2]), frozenset())
        for name in "ab"
        for part in (0, 1)
    ]
    once, twice = misspoken(windows, "misheard"), misspoken(windows, "misheard")
    assert once == twice
    assert [window.id for window in once] == [window.id for window in windows]
    assert misspoken(windows, "plain") == tuple(windows)
    for window, damaged in zip(windows, once, strict=True):
        before, after = window.text.split(), damaged.text.split()
        assert set(after) <= set(words)
        missing = len(set(before) - set(after)) / len(before)
        assert abs(missing - WORD_ERRORS * 2 / 3) < 0.04
        assert abs(len(after) - len(before)) < 0.05 * len(before)
    assert once[0].text.split()[:50] != once[2].text.split()[:50]
