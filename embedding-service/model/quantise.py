"""Turns the products with constant weights into 8-bit integer products, with scales found at run time for the inputs.

Weights are signed, with a scale per column: unsigned ones miss the processor's instructions, one scale for a whole
matrix ruins the quality. Products of two activations (in the attention) stay float.
"""

import logging
import tempfile
from pathlib import Path

import onnx
from onnxruntime.quantization import QuantType, quantize_dynamic


def quantised(model: onnx.ModelProto) -> bytes:
    # The library advises a preparing step through the root logger; a graph laid by hand needs none.
    logging.disable(logging.WARNING)
    with tempfile.TemporaryDirectory() as folder:
        result = Path(folder, "int8.onnx")
        quantize_dynamic(model, result, op_types_to_quantize=["MatMul"], per_channel=True, weight_type=QuantType.QInt8,
                         extra_options={"MatMulConstBOnly": True, "DefaultTensorType": onnx.TensorProto.FLOAT})
        return result.read_bytes()
