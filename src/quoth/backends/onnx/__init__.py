"""Shared parts of the ONNX backends: sessions, batching, tokenizers."""
