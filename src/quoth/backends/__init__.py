"""Backends: one file per engine or SDK, opened through `registry` only."""

import os

# onnxruntime starts a telemetry reporter while it is imported; quoth sends no telemetry.
os.environ["ORT_DISABLE_TELEMETRY"] = "1"
