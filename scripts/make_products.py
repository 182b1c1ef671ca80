"""Write the models of `quoth.backends.late_interaction.encoding`: each is a single matrix product.

python scripts/make_products.py
"""

from __future__ import annotations

from pathlib import Path

from onnx import TensorProto, helper

FOLDER = Path(__file__).parent.parent / "src" / "quoth" / "backends" / "onnx" / "data"
PRODUCTS = {
    "MatMul": (TensorProto.FLOAT, TensorProto.FLOAT, TensorProto.FLOAT),
    "MatMulInteger": (TensorProto.UINT8, TensorProto.INT8, TensorProto.INT32),
}
OPSET, IR = 13, 8


def product_model(operator: str) -> bytes:
    """Return the model of one operator for matrices of any size."""
    left, right, product = (
        helper.make_tensor_value_info(name, kind, [None, None])
        for name, kind in zip(("left", "right", "product"), PRODUCTS[operator], strict=True)
    )
    node = helper.make_node(operator, ["left", "right"], ["product"])
    graph = helper.make_graph([node], operator, [left, right], [product])
    sets = [helper.make_opsetid("", OPSET)]
    made: bytes = helper.make_model(graph, opset_imports=sets, ir_version=IR).SerializeToString()
    return made


if __name__ == "__main__":
    for name in PRODUCTS:
        (FOLDER / f"{name}.onnx").write_bytes(product_model(name))
