"""Runs a model the way the service does: one thread, one text at a time, no padding."""

import numpy
import onnxruntime
from tokenizers import Tokenizer


def session(model: bytes) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    # Errors only: the rest is talk about this machine's devices.
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


class Embedder:
    def __init__(self, model: bytes, tokeniser: Tokenizer, outputs: list[str] | None = None) -> None:
        self.session = session(model)
        self.tokeniser = tokeniser
        self.outputs = outputs or ["sentence_embedding"]

    def run(self, ids: list[int]) -> list[numpy.ndarray]:
        """The outputs for one row of word pieces."""
        row = numpy.array([ids], dtype=numpy.int64)
        given = {"input_ids": row, "attention_mask": numpy.ones_like(row)}
        return self.session.run(self.outputs, {known.name: given[known.name] for known in self.session.get_inputs()})

    def pieces(self, text: str) -> list[int]:
        return self.tokeniser.encode(text).ids

    def embed(self, text: str) -> numpy.ndarray:
        """float32 [384], length 1."""
        return self.run(self.pieces(text))[0][0]
