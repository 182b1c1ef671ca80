"""Moonshine with a small model: a word is a tone of half a second, as loud as its token."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer, decoders, models

from quoth.backends.transcribers.moonshine import DECODER, LAST, MoonshineRecogniser
from quoth.backends.transcribers.registry import ENCODER, live_speech_settings
from quoth.core.errors import ConfigError
from quoth.core.settings import Settings

FRAME = 8_000
WORDS = ["<unk>", "<s>", "</s>", "▁Streams", "▁are", "▁lists", "."]
STEP = 0.1
PAST = "past_key_values.0.decoder.key"


def _save(
    file: Path, nodes: list[onnx.NodeProto], given: dict[str, list[object]], made: list[str]
) -> None:
    types = {"input_ids": TensorProto.INT64, "use_cache_branch": TensorProto.BOOL}
    graph = helper.make_graph(
        nodes,
        "small",
        [
            helper.make_tensor_value_info(name, types.get(name, TensorProto.FLOAT), shape)
            for name, shape in given.items()
        ],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in made],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 14)], ir_version=8)
    file.parent.mkdir(parents=True, exist_ok=True)
    onnx.save_model(model, file)


def _constant(name: str, value: object) -> onnx.NodeProto:
    tensor = numpy_helper.from_array(np.asarray(value))
    return helper.make_node("Constant", [], [name], value=tensor)


def write_small_moonshine(folder: Path) -> Path:
    """Write weights that read one token a frame; the length of the cache says which frame."""
    node = helper.make_node
    _save(
        folder / ENCODER,
        [
            _constant("shape", [1, -1, FRAME]),
            _constant("step", np.float32(STEP)),
            _constant("end", np.full((1, 1, 1), LAST, np.float32)),
            node("Reshape", ["input_values", "shape"], ["frames"]),
            node("ReduceMax", ["frames"], ["loud"], axes=[2]),
            node("Div", ["loud", "step"], ["tokens"]),
            node("Concat", ["tokens", "end"], ["last_hidden_state"], axis=1),
        ],
        {"input_values": [1, "n"]},
        ["last_hidden_state"],
    )
    _save(
        folder / DECODER,
        [
            _constant("cell", [1, 1, -1, 1]),
            _constant("two", 2),
            _constant("places", np.arange(len(WORDS), dtype=np.float32)),
            _constant("row", [1, 1, -1]),
            node("Cast", ["input_ids"], ["number"], to=TensorProto.FLOAT),
            node("Reshape", ["number", "cell"], ["new"]),
            node("Concat", [PAST, "new"], [PAST.replace("past_key_values", "present")], axis=2),
            node("Shape", [PAST], ["sizes"]),
            node("Gather", ["sizes", "two"], ["at"]),
            node("Gather", ["encoder_hidden_states", "at"], ["token"], axis=1),
            node("Sub", ["places", "token"], ["far"]),
            node("Abs", ["far"], ["distance"]),
            node("Neg", ["distance"], ["near"]),
            node("Reshape", ["near", "row"], ["logits"]),
        ],
        {
            "input_ids": [1, "s"],
            "encoder_hidden_states": [1, "f", 1],
            PAST: [1, 1, "p", 1],
            "use_cache_branch": [1],
        },
        ["logits", PAST.replace("past_key_values", "present")],
    )
    tokenizer = Tokenizer(models.WordLevel({word: at for at, word in enumerate(WORDS)}, "<unk>"))
    tokenizer.add_special_tokens(WORDS[:3])
    tokenizer.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.Fuse()])
    tokenizer.save(str(folder / "tokenizer.json"))
    return folder


def sound(*tokens: int) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    return np.concatenate([np.full(FRAME, token * STEP, np.float32) for token in tokens])


def test_an_utterance_is_decoded_token_by_token_to_its_end(tmp_path: Path) -> None:
    recogniser = MoonshineRecogniser(write_small_moonshine(tmp_path / "moonshine-base"))
    [said], language = recogniser.segments(sound(3, 4, 5, 6), None, 10.0)
    assert (said.text, said.start, said.end) == ("Streams are lists.", 10.0, 12.0)
    assert (language, recogniser.name) == ("en", "moonshine-base")
    [again], _ = recogniser.segments(sound(5), "en", 0.0)  # nothing is kept of the one before
    assert again.text == "lists"


def test_a_folder_without_a_tokenizer_is_named(tmp_path: Path) -> None:
    (write_small_moonshine(tmp_path) / "tokenizer.json").unlink()
    with pytest.raises(ConfigError, match=r"tokenizer\.json cannot be read"):
        MoonshineRecogniser(tmp_path)


def test_weights_for_english_are_taken_where_they_are(tmp_path: Path) -> None:
    settings = Settings(models=tmp_path)
    assert live_speech_settings(settings).english is None
    folder = write_small_moonshine(tmp_path / "moonshine-base")
    assert live_speech_settings(settings).english == folder
    named = Settings(models=tmp_path / "none", speech_model_english=str(folder))
    assert live_speech_settings(named).english == folder
