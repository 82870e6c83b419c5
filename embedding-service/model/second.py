"""A second model for the tests, as unlike the first as the same weights allow: two layers, 128 components, and laid out
as models are usually published: `token_type_ids` wanted, one vector a piece given out, pooling left to its user and
said in the files beside it. It is good for nothing but showing that such a model is read rightly.
"""

import json
from pathlib import Path

import numpy
from onnx import ModelProto, TensorProto, checker, helper

import graph
from session import session

LAYERS = 2
DIMENSION = 128
LONGEST = 40
TEXTS = ["How do I reset my password?", "yes", "Mend the bicycle at the garden fence, please!"]


def lay_out(tensors: dict[str, numpy.ndarray]) -> ModelProto:
    """`input_ids`, `attention_mask`, `token_type_ids` int64 [batch, n] to `last_hidden_state` float32 [batch, n, 128]."""
    layout = graph.Layout()
    looked_up = graph.embeddings_sum(layout, tensors)
    types = tensors["embeddings.token_type_embeddings.weight"]
    # The first type is in the positions already.
    other = layout.node("Gather", "types.here", layout.constant("types", types - types[0]), "token_type_ids")
    both = layout.node("Add", "embedded.types", looked_up, other)
    x = graph.embeddings_normalised(layout, both, tensors)
    graph.additive_mask(layout)
    ids = layout.node("Shape", "shape.ids", "input_ids")
    layout.node("Concat", "shape.heads", ids, layout.constant("heads", graph.integers(graph.HEADS, graph.HEAD)), axis=0)
    for index in range(LAYERS):
        x = graph.layer(layout, index, x, tensors)
    shape = layout.node("Concat", "shape.deep", ids, layout.constant("hidden", graph.integers(graph.HIDDEN)), axis=0)
    deep = layout.node("Reshape", "deep", x, shape)
    layout.node("Slice", "last_hidden_state", deep, layout.constant("from", graph.integers(0)),
                layout.constant("to", graph.integers(DIMENSION)), layout.constant("axis", graph.integers(2)))
    names = ["input_ids", "attention_mask", "token_type_ids"]
    inputs = [helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "n"]) for name in names]
    # Its dimension is left open, as some exporters do.
    outputs = [helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, ["batch", "n", "d"])]
    model = helper.make_model(helper.make_graph(layout.nodes, "second", inputs, outputs, layout.constants),
                              opset_imports=[helper.make_opsetid("", graph.OPSET)], ir_version=graph.IR_VERSION)
    checker.check_model(model, full_check=True)
    return model


def write(folder: Path, tensors: dict[str, numpy.ndarray], tokeniser, shipped: str) -> None:
    """The model, what stands beside it, and `expected.json`: what it makes of TEXTS."""
    folder.mkdir(parents=True, exist_ok=True)
    model = lay_out(tensors).SerializeToString(deterministic=True)
    (folder / "model.onnx").write_bytes(model)
    (folder / "tokenizer.json").write_text(shipped, encoding="utf-8")
    (folder / "1_Pooling").mkdir(exist_ok=True)
    pooling = {"word_embedding_dimension": DIMENSION, "pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False}
    (folder / "1_Pooling" / "config.json").write_text(json.dumps(pooling))
    (folder / "sentence_bert_config.json").write_text(json.dumps({"max_seq_length": LONGEST}))
    running = session(model)
    expected = {}
    for text in TEXTS:
        row = numpy.array([tokeniser.encode(text).ids], dtype=numpy.int64)
        given = {"input_ids": row, "attention_mask": numpy.ones_like(row), "token_type_ids": numpy.zeros_like(row)}
        first = running.run(["last_hidden_state"], given)[0][0, 0]
        # Six digits, which hold from one processor to the next.
        expected[text] = [round(float(x), 6) for x in first / numpy.linalg.norm(first)]
    (folder / "expected.json").write_text(json.dumps(expected))
