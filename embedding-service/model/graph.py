"""Lays out all-MiniLM-L6-v2 as an ONNX graph: from word pieces to one normalised vector, pooling included.

Laid by hand rather than exported because ONNX Runtime is measurably faster on it:
* hidden states are kept flat, [pieces, 384], so that no fusion turns `Add` and `LayerNormalization` into
  `SkipLayerNormalization`, which is slower;
* the scale of the attention is folded into Q, the type embedding into the positions.

Nothing here knows of integers: that is `integer.py`.
"""

from dataclasses import dataclass, field

import numpy
from onnx import ModelProto, TensorProto, checker, helper, numpy_helper

HIDDEN = 384
HEADS = 12
HEAD = HIDDEN // HEADS
LAYERS = 6
EPSILON = 1e-12
OPSET = 20
IR_VERSION = 10
MASKED = -10000.0
# Where the weights of the norm before the first layer are.
FIRST_NORM = "embeddings.LayerNorm"


@dataclass
class Layout:
    """Nodes and constants as they come, with names that are unique because each call gives one."""

    nodes: list = field(default_factory=list)
    constants: list = field(default_factory=list)

    def constant(self, name: str, value: numpy.ndarray) -> str:
        self.constants.append(tensor(name, value))
        return name

    def node(self, kind: str, name: str, *inputs: str, **attributes) -> str:
        self.nodes.append(helper.make_node(kind, list(inputs), [name], name=name, **attributes))
        return name


def tensor(name: str, value: numpy.ndarray) -> TensorProto:
    return numpy_helper.from_array(numpy.asarray(value, order="C"), name)


def floats(value) -> numpy.ndarray:
    return numpy.asarray(value, dtype=numpy.float32)


def integers(*values: int) -> numpy.ndarray:
    return numpy.asarray(values, dtype=numpy.int64)


def dense(graph: Layout, name: str, x: str, weight: numpy.ndarray, bias: numpy.ndarray) -> str:
    """x · weight + bias, x [pieces, in], weight [in, out]."""
    product = graph.node("MatMul", f"{name}.product", x, graph.constant(f"{name}.weight", weight))
    return graph.node("Add", name, product, graph.constant(f"{name}.bias", bias))


def normalised(graph: Layout, name: str, x: str, tensors: dict, source: str) -> str:
    return graph.node("LayerNormalization", name, x, graph.constant(f"{name}.scale", tensors[f"{source}.weight"]),
                      graph.constant(f"{name}.shift", tensors[f"{source}.bias"]), axis=-1, epsilon=EPSILON)


def tables(tensors: dict) -> dict[str, numpy.ndarray]:
    """Embeddings of words, and of positions with the type that every piece has."""
    return {"words": tensors["embeddings.word_embeddings.weight"],
            "positions": tensors["embeddings.position_embeddings.weight"]
            + tensors["embeddings.token_type_embeddings.weight"][0]}


def looked_up(graph: Layout) -> str:
    """[batch, n, 384] from `input_ids`, `words` and `positions`."""
    length = graph.node("Shape", "length", "input_ids", start=1, end=2)
    here = graph.node("Slice", "positions.here", "positions", graph.constant("zero", integers(0)), length,
                      graph.constant("axis.0", integers(0)))
    return graph.node("Add", "embedded", graph.node("Gather", "words.here", "words", "input_ids"), here)


def flat(graph: Layout, embedded: str) -> str:
    """[pieces, 384] from [batch, n, 384]."""
    return graph.node("Reshape", "embedded.flat", embedded, graph.constant("shape.flat", integers(-1, HIDDEN)))


def embeddings_sum(graph: Layout, tensors: dict) -> str:
    """[batch, n, 384] from `input_ids`."""
    for name, value in tables(tensors).items():
        graph.constant(name, value)
    return looked_up(graph)


def embeddings_normalised(graph: Layout, embedded: str, tensors: dict) -> str:
    """[pieces, 384] from [batch, n, 384]."""
    return normalised(graph, "embedded.norm", flat(graph, embedded), tensors, FIRST_NORM)


def additive_mask(graph: Layout) -> str:
    """[batch, 1, 1, n]: 0 where there is a piece, very negative where there is padding."""
    mask = graph.node("Cast", "mask", "attention_mask", to=TensorProto.FLOAT)
    missing = graph.node("Sub", "mask.missing", graph.constant("one", floats(1.0)), mask)
    scaled = graph.node("Mul", "mask.scaled", missing, graph.constant("masked", floats(MASKED)))
    return graph.node("Unsqueeze", "mask.additive", scaled, graph.constant("axes.1.2", integers(1, 2)))


def attention(graph: Layout, name: str, x: str, tensors: dict) -> str:
    source = f"encoder.{name}.attention.self"
    heads = {}
    for kind, scale, order in [("query", HEAD ** -0.5, [0, 2, 1, 3]), ("key", 1.0, [0, 2, 3, 1]),
                               ("value", 1.0, [0, 2, 1, 3])]:
        weight = floats(tensors[f"{source}.{kind}.weight"].T * scale)
        bias = floats(tensors[f"{source}.{kind}.bias"] * scale)
        flat = dense(graph, f"{name}.{kind}", x, weight, bias)
        split = graph.node("Reshape", f"{name}.{kind}.split", flat, "shape.heads")
        heads[kind] = graph.node("Transpose", f"{name}.{kind}.heads", split, perm=order)
    scores = graph.node("MatMul", f"{name}.scores", heads["query"], heads["key"])
    masked = graph.node("Add", f"{name}.scores.masked", scores, "mask.additive")
    shares = graph.node("Softmax", f"{name}.shares", masked, axis=-1)
    mixed = graph.node("MatMul", f"{name}.mixed", shares, heads["value"])
    joined = graph.node("Transpose", f"{name}.mixed.joined", mixed, perm=[0, 2, 1, 3])
    return graph.node("Reshape", f"{name}.mixed.flat", joined, "shape.flat")


def layer(graph: Layout, index: int, x: str, tensors: dict) -> str:
    name = f"layer.{index}"
    source = f"encoder.{name}"
    mixed = attention(graph, name, x, tensors)
    out = dense(graph, f"{name}.out", mixed, tensors[f"{source}.attention.output.dense.weight"].T,
                tensors[f"{source}.attention.output.dense.bias"])
    x = normalised(graph, f"{name}.attended", graph.node("Add", f"{name}.out.sum", out, x), tensors,
                   f"{source}.attention.output.LayerNorm")
    wide = dense(graph, f"{name}.wide", x, tensors[f"{source}.intermediate.dense.weight"].T,
                 tensors[f"{source}.intermediate.dense.bias"])
    # The exact Gelu, as the model was trained with; the tanh form changes the result.
    active = graph.node("Gelu", f"{name}.active", wide, approximate="none")
    narrow = dense(graph, f"{name}.narrow", active, tensors[f"{source}.output.dense.weight"].T,
                   tensors[f"{source}.output.dense.bias"])
    return normalised(graph, f"{name}.done", graph.node("Add", f"{name}.narrow.sum", narrow, x), tensors,
                      f"{source}.output.LayerNorm")


def qkv_input(index: int) -> str:
    """Name of the tensor that Q, K and V of a layer read."""
    return "embedded.norm" if index == 0 else f"layer.{index - 1}.done"


def feed_forward_input(index: int) -> str:
    """Name of the tensor that the first feed-forward product of a layer reads."""
    return f"layer.{index}.attended"


def pooled(graph: Layout, x: str) -> None:
    """Mean over the pieces that are no padding, then length 1."""
    shape = graph.node("Concat", "shape.deep", "shape.ids", graph.constant("hidden", integers(HIDDEN)), axis=0)
    deep = graph.node("Reshape", "deep", x, shape)
    weights = graph.node("Unsqueeze", "mask.weights", "mask", graph.constant("axis.last", integers(-1)))
    kept = graph.node("Mul", "deep.kept", deep, weights)
    total = graph.node("ReduceSum", "total", kept, graph.constant("axis.1", integers(1)), keepdims=0)
    count = graph.node("ReduceSum", "count", weights, "axis.1", keepdims=0)
    mean = graph.node("Div", "mean", total, graph.node("Max", "count.safe", count, graph.constant("tiny", floats(1e-9))))
    length = graph.node("ReduceL2", "mean.length", mean, graph.constant("axes.1", integers(1)), keepdims=1)
    graph.node("Div", "sentence_embedding", mean,
               graph.node("Max", "mean.length.safe", length, graph.constant("tiny.length", floats(1e-12))))


def lay_out(tensors: dict[str, numpy.ndarray], also: list[str] | None = None) -> ModelProto:
    """The model: `input_ids`, `attention_mask` int64 [batch, n] to `sentence_embedding` float32 [batch, 384].

    `also`: names of further tensors to give out, [pieces, 384] each, for calibration.
    """
    graph = Layout()
    x = embeddings_normalised(graph, embeddings_sum(graph, tensors), tensors)
    additive_mask(graph)
    ids = graph.node("Shape", "shape.ids", "input_ids")
    graph.node("Concat", "shape.heads", ids, graph.constant("heads", integers(HEADS, HEAD)), axis=0)
    for index in range(LAYERS):
        x = layer(graph, index, x, tensors)
    pooled(graph, x)
    batch = ["batch", "n"]
    inputs = [helper.make_tensor_value_info(name, TensorProto.INT64, batch) for name in ["input_ids", "attention_mask"]]
    outputs = [helper.make_tensor_value_info("sentence_embedding", TensorProto.FLOAT, ["batch", HIDDEN])]
    outputs += [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["pieces", HIDDEN]) for name in also or []]
    model = helper.make_model(helper.make_graph(graph.nodes, "all-MiniLM-L6-v2", inputs, outputs, graph.constants),
                              opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR_VERSION,
                              producer_name="agent-sentinel")
    checker.check_model(model, full_check=True)
    return model
