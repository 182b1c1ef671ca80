"""Fetch models from a hub and convert them to ONNX, without torch.

`quoth_models.table` is the list of known models, `quoth_models.get` fetches one, and
`quoth_models.convert` turns a transformers folder into one that quoth opens.
"""
