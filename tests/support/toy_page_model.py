"""A model for pictures of pages whose answers are known, and PDF files with coloured pages."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from tests.support.toy_rerankers import write_tokenizer

COLOURS = {"crimson": (1.0, 0.0, 0.0), "emerald": (0.0, 1.0, 0.0), "azure": (0.0, 0.0, 1.0)}
VOCABULARY = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *COLOURS]
WIDTH, HEIGHT, SHORTER, DIMENSION = 16, 12, 20, 8
MEAN, SPREAD = (0.4, 0.5, 0.6), (0.2, 0.25, 0.3)


def weights(seed: int = 3) -> np.ndarray:
    """The vision tower: one random layer over every pixel."""
    random = np.random.default_rng(seed)
    return random.normal(0, 1, (3 * HEIGHT * WIDTH, DIMENSION)).astype(np.float32)


def seen(pixels: np.ndarray, seed: int = 3) -> np.ndarray:
    """What the vision tower makes of a picture, computed by hand; shape (height, width, 3)."""
    normal = (pixels.astype(np.float64) / 255 - MEAN) / SPREAD
    vector = normal.transpose(2, 0, 1).reshape(-1) @ weights(seed).astype(np.float64)
    return vector / np.linalg.norm(vector)


def words(seed: int = 3) -> np.ndarray:
    """The text tower: the vector of a word is that of a page in its colour, others are faint."""
    table = np.full((len(VOCABULARY), DIMENSION), 1e-6)
    for at, colour in enumerate(COLOURS.values(), start=len(VOCABULARY) - len(COLOURS)):
        table[at] = seen(np.full((HEIGHT, WIDTH, 3), 255.0) * colour, seed)
    return table.astype(np.float32)


def write_page_model(folder: Path, *, seed: int = 3) -> Path:
    """Write the folder as an export of CLIP has it."""
    (folder / "onnx").mkdir(parents=True)
    _save(
        folder / "onnx" / "vision_model.onnx",
        [
            helper.make_node("Flatten", ["pixel_values"], ["flat"], axis=1),
            helper.make_node("MatMul", ["flat", "weights"], ["image_embeds"]),
        ],
        helper.make_tensor_value_info("pixel_values", TensorProto.FLOAT, ["n", 3, HEIGHT, WIDTH]),
        {"weights": weights(seed)},
        "image_embeds",
    )
    _save(
        folder / "onnx" / "text_model.onnx",
        [
            helper.make_node("Gather", ["words", "input_ids"], ["tokens"]),
            helper.make_node("ReduceMean", ["tokens"], ["text_embeds"], axes=[1], keepdims=0),
        ],
        helper.make_tensor_value_info("input_ids", TensorProto.INT64, ["n", "tokens"]),
        {"words": words(seed)},
        "text_embeds",
    )
    write_tokenizer(folder / "tokenizer.json", VOCABULARY)
    picture = {
        "size": {"shortest_edge": SHORTER},
        "crop_size": {"height": HEIGHT, "width": WIDTH},
        "image_mean": MEAN,
        "image_std": SPREAD,
    }
    (folder / "preprocessor_config.json").write_text(json.dumps(picture))
    (folder / "config.json").write_text(json.dumps({"model_type": "clip"}))
    return folder


def write_coloured_pdf(path: Path, pages: Sequence[tuple[str, str]]) -> Path:
    """Write a PDF with pages of a colour and a line of text each."""
    objects = ["<< /Type /Catalog /Pages 2 0 R >>", ""]
    kids = []
    for colour, text in pages:
        red, green, blue = COLOURS[colour]
        content = (
            f"{red} {green} {blue} rg 0 0 400 600 re f 0 g BT /F 12 Tf 40 500 Td ({text}) Tj ET"
        )
        kids.append(f"{len(objects) + 1} 0 R")
        objects.append(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 400 600] "
            f"/Contents {len(objects) + 2} 0 R /Resources << /Font << /F << /Type /Font "
            "/Subtype /Type1 /BaseFont /Helvetica >> >> >> >>"
        )
        objects.append(f"<< /Length {len(content)} >>\nstream\n{content}\nendstream")
    objects[1] = f"<< /Type /Pages /Count {len(kids)} /Kids [{' '.join(kids)}] >>"
    body, places = "%PDF-1.4\n", []
    for number, each in enumerate(objects, start=1):
        places.append(len(body))
        body += f"{number} 0 obj\n{each}\nendobj\n"
    table = "".join(f"{at:010} 00000 n \n" for at in places)
    end = f"trailer << /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{len(body)}\n%%EOF\n"
    path.write_text(
        f"{body}xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}{end}", encoding="ascii"
    )
    return path


def _save(
    path: Path,
    nodes: list[onnx.NodeProto],
    given: onnx.ValueInfoProto,
    tensors: dict[str, np.ndarray],
    output: str,
) -> None:
    graph = helper.make_graph(
        nodes,
        "tower",
        [given],
        [helper.make_tensor_value_info(output, TensorProto.FLOAT, ["n", DIMENSION])],
        [numpy_helper.from_array(values, name) for name, values in tensors.items()],
    )
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])
    made.ir_version = 8
    onnx.save(made, str(path))
