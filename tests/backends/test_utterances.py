"""Speech to text while it is spoken, with a recogniser that reads its words from the sound."""

from __future__ import annotations

import numpy as np
import pytest

from quoth.backends.transcribers.utterances import (
    MAX_UTTERANCE_S,
    SAMPLE_RATE,
    LiveTranscription,
)
from quoth.core.protocols import Matrix
from tests.support.heard_double import WordReader, find_speech, silence, speech


def started(*, start: float = 0.0) -> LiveTranscription:
    return LiveTranscription(WordReader("large"), find_speech, start=start)


def test_a_pause_makes_an_utterance_final_and_nothing_is_said_in_silence() -> None:
    heard = started(start=100.0)
    assert heard.add(silence(2.0)) == []
    assert heard.add(speech("one.")) == []
    [said] = heard.add(silence(1.0))
    assert (said.text, said.final, said.number) == ("one.", True, 0)
    assert said.start == pytest.approx(102.0, abs=0.2)
    assert said.end == pytest.approx(102.5, abs=0.2)
    assert heard.add(silence(700.0)) == []
    assert heard.end - heard.heard_at > 699


def test_the_last_sentence_is_provisional_until_it_is_settled() -> None:
    heard = started()
    found = []
    for word in "a b c d. e f g h. i j k l.".split():
        found += heard.add(speech(word))
    found += heard.close()
    finals = [each for each in found if each.final]
    assert [each.text for each in finals] == ["a b c d.", "e f g h.", "i j k l."]
    assert [each.number for each in finals] == [0, 1, 2]
    assert any(not each.final for each in found)
    for number in (0, 1, 2):
        revisions = [each.revision for each in found if each.number == number]
        assert revisions == sorted(set(revisions))


def test_a_short_utterance_goes_on_over_a_short_pause_and_a_long_one_ends_with_it() -> None:
    heard = started()

    def finals(sound: Matrix) -> list[str]:
        return [each.text for each in heard.add(sound, provisional=False) if each.final]

    breath = silence(0.25)
    assert finals(np.concatenate([speech("a b."), breath])) == []
    assert finals(np.concatenate([speech("c d e f g h i j"), breath])) == [
        "a b.",
        "c d e f g h i j",
    ]
    assert finals(np.concatenate([speech("k."), breath])) == []
    assert finals(silence(0.1)) == ["k."]


def test_without_provisional_work_only_the_whole_utterance_is_recognised() -> None:
    heard = started()
    for word in "a b c d. e f.".split():
        assert heard.add(speech(word), provisional=False) == []
    reader = heard.recogniser
    assert isinstance(reader, WordReader)
    assert reader.calls == 0
    assert [each.text for each in heard.close()] == ["a b c d.", "e f."]
    assert reader.calls == 1


def test_what_was_recognised_is_final_without_more_work_where_only_silence_follows() -> None:
    heard = started()
    [before] = heard.add(np.concatenate([speech("a b c d."), silence(0.2)]))
    [after] = heard.add(silence(1.0))
    assert (before.final, after.final) == (False, True)
    assert (after.text, after.number, after.revision) == ("a b c d.", before.number, 1)
    reader = heard.recogniser
    assert isinstance(reader, WordReader)
    assert reader.calls == 1


def test_speech_without_a_pause_is_cut() -> None:
    heard = started()
    words = [f"w{at}" for at in range(60)]
    said = []
    for word in words:
        said += [each for each in heard.add(speech(word), provisional=False) if each.final]
    said += heard.close()
    assert " ".join(each.text for each in said).split() == words
    assert all(each.end - each.start <= MAX_UTTERANCE_S + 1 for each in said)


def test_sound_that_is_left_out_moves_the_times_behind_it() -> None:
    heard = started()
    heard.add(speech("lost"), provisional=False)
    heard.skip(30.0)
    heard.add(speech("kept."))
    [said] = heard.add(silence(1.0))
    assert said.text == "kept."
    assert said.start == pytest.approx(30.5, abs=0.2)


def test_the_language_is_taken_from_the_first_long_utterance() -> None:
    heard = started()
    heard.add(np.concatenate([speech("a."), silence(1.0)]))
    assert heard.language is None
    heard.add(np.concatenate([speech("b c d e f g h."), silence(1.0)]))
    assert heard.language == "fr"


def test_blocks_of_any_size_give_the_same_text() -> None:
    sound = np.concatenate([speech("a b. c d e f. g."), silence(1.0), speech("h i."), silence(1.0)])
    texts = set()
    for block in (160, 1600, 5000, len(sound)):
        heard = started()
        said = []
        for at in range(0, len(sound), block):
            said += heard.add(sound[at : at + block])
        said += heard.close()
        texts.add(" ".join(each.text for each in said if each.final))
        assert heard.end == pytest.approx(len(sound) / SAMPLE_RATE)
    assert texts == {"a b. c d e f. g. h i."}
