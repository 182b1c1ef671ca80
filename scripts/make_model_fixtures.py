"""Makes the models of ``tests/data/models``: small, with random weights, and their true outputs.

    pip install torch transformers sentence-transformers FlagEmbedding pylate
    python scripts/make_model_fixtures.py          # writes tests/data/models

Each folder is a transformers folder as a hub has it, about 20 kB. ``expected.json`` holds what the
reference implementation of the model computes for `TEXTS`: FlagEmbedding for BGE-M3,
sentence-transformers for Qwen3-Embedding and the cross-encoders, pylate for ColBERT, and the code
of its model card for Qwen3-Reranker. Weights are rounded to float16, as they are stored.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file
from tokenizers import AddedToken, Tokenizer, models, pre_tokenizers, processors
from transformers import (
    AutoModelForCausalLM,
    AutoTokenizer,
    BertConfig,
    BertForSequenceClassification,
    BertModel,
    PreTrainedTokenizerFast,
    Qwen3Config,
    Qwen3ForCausalLM,
    Qwen3Model,
    XLMRobertaConfig,
    XLMRobertaForSequenceClassification,
    XLMRobertaModel,
)

FOLDER = Path(__file__).parents[1] / "tests" / "data" / "models"
QUERY = "which boat has a red sail"
TEXTS = [
    "the red sail of the boat , and the boat",
    "dough needs flour and salt",
    "a judge reads the statute . a witness waits in the court",
]
WORDS = sorted({word for text in (QUERY, *TEXTS) for word in text.split()})
BERT = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "[unused0]", "[unused1]"]
ROBERTA = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
PROMPT = "Judge whether the Document meets requirements based on Query Instruct provided Note that"
QWEN = ["<|endoftext|>", "<|im_start|>", "<|im_end|>", "<unk>", "yes", "no", "<", ">", ":"]
QWEN += ["Instruct", "Query", "Document", "Given", "web", "search", "query", "retrieve", "answer"]
SIZES = {"hidden_size": 16, "num_hidden_layers": 2, "intermediate_size": 24}
HEADS = {"num_attention_heads": 4, "max_position_embeddings": 66}


def tokenizer(folder: Path, special: list[str], words: list[str], **names: str) -> None:
    """Write a tokenizer of whole words with the special tokens of its kind."""
    vocabulary = list(dict.fromkeys([*special, *words]))
    ids = {word: at for at, word in enumerate(vocabulary)}
    made = Tokenizer(models.WordLevel(ids, unk_token=names["unk_token"]))
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    marks = [word for word in special if len(word) > 1 and word[0] in "[<"]
    made.add_special_tokens([AddedToken(word, special=True) for word in marks])
    if "cls_token" in names:
        first, last = names["cls_token"], names["sep_token"]
        between = f"{last} {last} $B {last}" if first == "<s>" else f"{last} $B:1 {last}:1"
        made.post_processor = processors.TemplateProcessing(
            single=f"{first} $A {last}",
            pair=f"{first} $A {between}",
            special_tokens=[(first, ids[first]), (last, ids[last])],
        )
    elif "eos" in names:
        last = names.pop("eos")
        made.post_processor = processors.TemplateProcessing(
            single=f"$A {last}", special_tokens=[(last, ids[last])]
        )
    inputs = ["input_ids", "token_type_ids", "attention_mask"]
    PreTrainedTokenizerFast(
        tokenizer_object=made,
        model_max_length=64 if "cls_token" in names else 256,
        model_input_names=inputs if "[CLS]" in special else inputs[::2],
        **names,
    ).save_pretrained(folder)


def save(folder: Path, model: torch.nn.Module) -> None:
    """Write configuration and weights, which are such as float16 can hold."""
    torch.manual_seed(7)
    with torch.no_grad():
        for name, weights in model.named_parameters():
            # Norms stay near one: a network of noise alone would give no differences.
            centre = 1.0 if "norm" in name.casefold() and name.endswith("weight") else 0.0
            weights.copy_((torch.randn_like(weights) * 0.25 + centre).half().float())
    model.config.architectures = model.config.architectures or [type(model).__name__]
    model.config.save_pretrained(folder)
    state = {name: value.contiguous() for name, value in model.state_dict().items()}
    if "lm_head.weight" in state and model.config.tie_word_embeddings:
        del state["lm_head.weight"]
    save_file(state, folder / "model.safetensors", metadata={"format": "pt"})


def write(folder: Path, name: str, content: object) -> None:
    """Write a JSON file."""
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def rounded(numbers: Any) -> Any:
    """Return numbers with seven digits."""
    if isinstance(numbers, list | tuple):
        return [rounded(each) for each in numbers]
    return round(float(numbers), 7)


def bge_m3(folder: Path) -> None:
    """XLM-RoBERTa with CLS vectors and lexical weights."""
    from FlagEmbedding import BGEM3FlagModel

    tokenizer(folder, ROBERTA, WORDS, **roberta_names())
    model = XLMRobertaModel(roberta_config(), add_pooling_layer=False)
    save(folder, model)
    torch.manual_seed(32)  # gives some tokens a weight and others none
    for name, shape in (("sparse", (1, 16)), ("colbert", (16, 16))):
        state = {"weight": torch.randn(shape).half(), "bias": torch.randn(shape[0]).half() / 8}
        torch.save(state, folder / f"{name}_linear.pt")
    write(folder, "1_Pooling/config.json", {"pooling_mode_cls_token": True})
    write(folder, "modules.json", [])
    reference = BGEM3FlagModel(str(folder), use_fp16=False, devices="cpu")
    found = reference.encode([QUERY, *TEXTS], return_dense=True, return_sparse=True)
    sparse = [
        {str(token): rounded(weight) for token, weight in weights.items()}
        for weights in found["lexical_weights"]
    ]
    write(
        folder, "expected.json", {"dense": rounded(found["dense_vecs"].tolist()), "sparse": sparse}
    )
    (folder / "colbert_linear.pt").unlink()


def cross_encoder(folder: Path, *, roberta: bool) -> None:
    """A BERT or XLM-RoBERTa with one logit per pair."""
    from sentence_transformers import CrossEncoder

    if roberta:
        tokenizer(folder, ROBERTA, WORDS, **roberta_names())
        model: Any = XLMRobertaForSequenceClassification(roberta_config(num_labels=1))
    else:
        tokenizer(folder, BERT, WORDS, **bert_names())
        model = BertForSequenceClassification(bert_config(num_labels=1))
    save(folder, model)
    reference = CrossEncoder(str(folder), activation_fn=torch.nn.Identity(), device="cpu")
    scores = reference.predict([(QUERY, text) for text in TEXTS])
    write(folder, "expected.json", {"scores": rounded(scores.tolist())})


def colbert(folder: Path) -> None:
    """A BERT with a projection of its token vectors, in the format of answerai-colbert-small."""
    from pylate import models as late
    from pylate.scores import colbert_scores

    tokenizer(folder, BERT, WORDS, **bert_names())
    projection = torch.randn(8, 16).half().float()
    config = bert_config()
    config.architectures = ["HF_ColBERT"]
    model = BertModel(config, add_pooling_layer=False)
    save(folder, model)
    state = {
        f"bert.{name}": value for name, value in load_file(folder / "model.safetensors").items()
    }
    save_file({**state, "linear.weight": projection}, folder / "model.safetensors")
    config.save_pretrained(folder)
    marks = {"query_token_id": "[unused0]", "doc_token_id": "[unused1]"}
    told = {"dim": 8, "query_maxlen": 32, "doc_maxlen": 64, "attend_to_mask_tokens": False}
    write(folder, "artifact.metadata", {**told, **marks})
    reference = late.ColBERT(str(folder), device="cpu", document_length=64)
    asked = reference.encode([QUERY], is_query=True)
    held = reference.encode(TEXTS, is_query=False)
    scores = [colbert_scores(asked[:1], text[None]).item() for text in held]
    vectors = {"query": rounded(asked[0].tolist()), "document": rounded(held[0].tolist())}
    write(folder, "expected.json", {"scores": rounded(scores), **vectors})


def qwen3_embedding(folder: Path) -> None:
    """A Qwen3 whose last token is the vector, with an instruction before queries."""
    from sentence_transformers import SentenceTransformer

    tokenizer(folder, QWEN, WORDS, eos="<|endoftext|>", **qwen_names())
    save(folder, Qwen3Model(qwen_config()))
    instruction = "Instruct: Given a web search query, retrieve answer\nQuery:"
    pooling = {"word_embedding_dimension": 16, "pooling_mode_lasttoken": True}
    pooling |= {"pooling_mode_mean_tokens": False}
    write(folder, "1_Pooling/config.json", pooling | {"include_prompt": True})
    prompts = {"prompts": {"query": instruction, "document": ""}}
    write(folder, "config_sentence_transformers.json", prompts)
    kinds = ("", "Transformer"), ("1_Pooling", "Pooling"), ("2_Normalize", "Normalize")
    modules = [
        {"idx": at, "name": str(at), "path": path, "type": f"sentence_transformers.models.{kind}"}
        for at, (path, kind) in enumerate(kinds)
    ]
    write(folder, "modules.json", modules)
    (folder / "2_Normalize").mkdir()
    reference = SentenceTransformer(str(folder), device="cpu")
    query = reference.encode([QUERY], prompt_name="query")
    write(
        folder,
        "expected.json",
        {"query": rounded(query.tolist()), "document": rounded(reference.encode(TEXTS).tolist())},
    )
    shutil.rmtree(folder / "2_Normalize")


def qwen3_reranker(folder: Path) -> None:
    """A Qwen3 that answers yes or no, asked as its model card does."""
    words = [*WORDS, *PROMPT.split(), "be", "can", "only", "relevant", "passages", "system", "user"]
    tokenizer(folder, [*QWEN, "assistant", "think", '"', "."], words, **qwen_names())
    save(folder, Qwen3ForCausalLM(qwen_config(tie_word_embeddings=True)))
    read = AutoTokenizer.from_pretrained(folder, padding_side="left")
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    yes, no = read.convert_tokens_to_ids("yes"), read.convert_tokens_to_ids("no")
    head = (
        "<|im_start|>system\nJudge whether the Document meets the requirements based on the Query "
        'and the Instruct provided. Note that the answer can only be "yes" or "no".<|im_end|>\n'
        "<|im_start|>user\n"
    )
    tail = "<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n"
    task = "Given a web search query, retrieve relevant passages that answer the query"
    scores = []
    for text in TEXTS:
        pair = f"<Instruct>: {task}\n<Query>: {QUERY}\n<Document>: {text}"
        ids = [
            token
            for part in (head, pair, tail)
            for token in read.encode(part, add_special_tokens=False)
        ]
        with torch.no_grad():
            logits = model(torch.tensor([ids])).logits[0, -1]
        scores.append(float(logits[yes] - logits[no]))
    write(folder, "expected.json", {"scores": rounded(scores)})


def bert_config(**more: Any) -> BertConfig:
    """Return the configuration of a small BERT."""
    return BertConfig(vocab_size=len(BERT) + len(WORDS), **SIZES, **HEADS, **more)


def roberta_config(**more: Any) -> XLMRobertaConfig:
    """Return the configuration of a small XLM-RoBERTa."""
    vocab_size = len(ROBERTA) + len(WORDS)
    return XLMRobertaConfig(
        vocab_size=vocab_size, type_vocab_size=1, pad_token_id=1, **SIZES, **HEADS, **more
    )


def qwen_config(**more: Any) -> Qwen3Config:
    """Return the configuration of a small Qwen3, with two key heads for four query heads."""
    return Qwen3Config(
        vocab_size=96,
        num_key_value_heads=2,
        head_dim=8,
        rope_theta=1_000_000.0,
        **SIZES,
        num_attention_heads=4,
        max_position_embeddings=256,
        **more,
    )


def bert_names() -> dict[str, str]:
    """Return the special tokens of BERT by their use."""
    names = {"unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
    return names | {"pad_token": "[PAD]", "mask_token": "[MASK]"}


def roberta_names() -> dict[str, str]:
    """Return the special tokens of RoBERTa by their use."""
    names = {"unk_token": "<unk>", "cls_token": "<s>", "sep_token": "</s>", "bos_token": "<s>"}
    return names | {"pad_token": "<pad>", "mask_token": "<mask>", "eos_token": "</s>"}


def qwen_names() -> dict[str, str]:
    """Return the special tokens of Qwen3 by their use."""
    return {"unk_token": "<unk>", "pad_token": "<|endoftext|>", "eos_token": "<|im_end|>"}


def main() -> None:
    """Write every folder anew."""
    makers = {
        "bge-m3": bge_m3,
        "ms-marco-minilm-l-6-v2": lambda folder: cross_encoder(folder, roberta=False),
        "bge-reranker-base": lambda folder: cross_encoder(folder, roberta=True),
        "answerai-colbert-small-v1": colbert,
        "qwen3-embedding-0.6b": qwen3_embedding,
        "qwen3-reranker-0.6b": qwen3_reranker,
    }
    shutil.rmtree(FOLDER, ignore_errors=True)
    for name, make in makers.items():
        folder = FOLDER / name
        folder.mkdir(parents=True)
        make(folder)
        weights = load_file(folder / "model.safetensors")
        halved = {each: value.half() for each, value in weights.items()}
        save_file(halved, folder / "model.safetensors")
        size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
        print(f"{name}: {size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
