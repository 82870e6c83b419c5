"""Reads the published weights and the tokeniser. Knows the two file formats, nothing of the graph."""

import hashlib
import json
import struct
from pathlib import Path

import numpy
from tokenizers import Tokenizer

# The model was trained on inputs of this many word pieces, [CLS] and [SEP] among them.
MAX_PIECES = 256


def read_safetensors(path: Path) -> dict[str, numpy.ndarray]:
    """{name: float32 array} of a safetensors file: a length, a JSON table of contents, the raw little-endian data."""
    raw = path.read_bytes()
    (length,) = struct.unpack_from("<Q", raw)
    contents = json.loads(raw[8:8 + length])
    tensors = {}
    for name, entry in contents.items():
        if name == "__metadata__" or entry["dtype"] != "F32":
            continue
        start, end = entry["data_offsets"]
        flat = numpy.frombuffer(raw[8 + length + start:8 + length + end], dtype="<f4")
        tensors[name] = flat.reshape(entry["shape"])
    return tensors


def read_tokeniser(path: Path) -> tuple[Tokenizer, str]:
    """The tokeniser, cutting at MAX_PIECES, and the JSON to ship: the published one pads and cuts at 128 pieces,
    which the shipped one leaves to its user."""
    settings = json.loads(path.read_text(encoding="utf-8"))
    settings["truncation"] = None
    settings["padding"] = None
    shipped = json.dumps(settings, ensure_ascii=False)
    tokeniser = Tokenizer.from_str(shipped)
    tokeniser.enable_truncation(MAX_PIECES)
    return tokeniser, shipped


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
