"""The models that `quoth models get` knows, as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

ONNX = ("onnx/model.onnx", "onnx/model.onnx_data")
SAFETENSORS = ("model.safetensors",)
WHISPER = ("model.bin",)
MOONSHINE = ("onnx/encoder_model.onnx", "onnx/decoder_model_merged.onnx")
SMALL_FILES = (
    "config.json",
    "tokenizer.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "sentence_bert_config.json",
    "config_sentence_transformers.json",
    "modules.json",
    "1_Pooling/config.json",
    "artifact.metadata",
    "sparse_linear.pt",
    "vocabulary.txt",
    "vocabulary.json",
    "preprocessor_config.json",
)
"""What is fetched of a repository beside its weights, where it is there."""
NEEDED = ("config.json", "tokenizer.json")


@dataclass(frozen=True, slots=True)
class HubModel:
    """A model of a hub.

    ``used_as`` is embedder, reranker, speech or live English. ``weights`` are sets of files, of
    which the first one is fetched whose first file is in the repository; safetensors are converted.
    ``prompts`` are the instructions before queries and documents where the repository has no file
    for them.
    """

    repository: str
    licence: str
    used_as: str
    weights: tuple[tuple[str, ...], ...] = (ONNX, SAFETENSORS)
    prompts: Mapping[str, str] = field(default_factory=dict)


MODELS: Mapping[str, HubModel] = {
    "bge-m3": HubModel(
        "BAAI/bge-m3", "MIT", "embedder", ((*ONNX, "onnx/Constant_7_attr__value"), SAFETENSORS)
    ),
    "qwen3-embedding-0.6b": HubModel(
        "Qwen/Qwen3-Embedding-0.6B",
        "Apache-2.0",
        "embedder",
        (SAFETENSORS,),
        {
            "query": "Instruct: Given a web search query, retrieve relevant passages that answer "
            "the query\nQuery:",
            "document": "",
        },
    ),
    "multilingual-e5-small": HubModel(
        "intfloat/multilingual-e5-small",
        "MIT",
        "embedder",
        prompts={"query": "query: ", "document": "passage: "},
    ),
    "ms-marco-minilm-l-6-v2": HubModel(
        "cross-encoder/ms-marco-MiniLM-L6-v2", "Apache-2.0", "reranker"
    ),
    "bge-reranker-base": HubModel("BAAI/bge-reranker-base", "MIT", "reranker"),
    "bge-reranker-v2-m3": HubModel(
        "BAAI/bge-reranker-v2-m3", "Apache-2.0", "reranker", (SAFETENSORS,)
    ),
    "qwen3-reranker-0.6b": HubModel(
        "Qwen/Qwen3-Reranker-0.6B", "Apache-2.0", "reranker", (SAFETENSORS,)
    ),
    "answerai-colbert-small-v1": HubModel(
        "answerdotai/answerai-colbert-small-v1", "Apache-2.0", "reranker", (SAFETENSORS,)
    ),
    "whisper-tiny": HubModel("Systran/faster-whisper-tiny", "MIT", "speech", (WHISPER,)),
    "whisper-tiny.en": HubModel("Systran/faster-whisper-tiny.en", "MIT", "speech", (WHISPER,)),
    "whisper-base": HubModel("Systran/faster-whisper-base", "MIT", "speech", (WHISPER,)),
    "moonshine-base": HubModel(
        "onnx-community/moonshine-base-ONNX", "MIT", "live English", (MOONSHINE,)
    ),
    "whisper-small": HubModel("Systran/faster-whisper-small", "MIT", "speech", (WHISPER,)),
}
"""By the name of the folder, which ``--embedder``, ``--reranker`` and QUOTH_SPEECH_MODEL… take."""
