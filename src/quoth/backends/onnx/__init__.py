"""What ONNX models share."""
