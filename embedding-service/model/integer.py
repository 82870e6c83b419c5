"""Lays out the model in 8-bit integer arithmetic: weights rounded here, activations at run time, row by row.

Nearly all is one node, of an operator of this project, `Encoder`, which the embedding service computes by code of its own
(`../encoder`). The file also says in standard operators what it computes, so every other ONNX Runtime can run it too, only
slower; that is how `check.py` measures it.

Weights are signed, with a scale per column; activations unsigned, with a scale and an offset per row. What a row's
neighbours are does not change its rounding, so a text has one vector whatever it is computed with.
"""

import numpy
from onnx import FunctionProto, ModelProto, TensorProto, checker, helper

import graph
from graph import EPSILON, HEAD, HEADS, HIDDEN, LAYERS, Layout, floats, integers

DOMAIN = "agent.sentinel"
OPERATOR = "Encoder"
LAYER = "EncoderLayer"
VERSIONS = [helper.make_opsetid("", graph.OPSET), helper.make_opsetid(DOMAIN, 1)]
STEPS = 255.0
LARGEST_WEIGHT = 127
LEAST_SCALE = 1e-12
# Of a layer; `../encoder/src/layer.rs` says what each is.
PRODUCTS = ("qkv", "out", "widen", "narrow")
INPUTS = ["rows", "qkv.factors", "widen.factors",
          *(f"{product}.{part}" for product in PRODUCTS for part in ("weight", "scale", "bias")),
          *(f"{norm}.{part}" for norm in ("attended", "done") for part in ("scale", "shift"))]
# Of the encoder: pieces, embeddings, the first norm, and for each layer its inputs without rows.
ENCODER_INPUTS = ["input_ids", "words", "positions", "first.scale", "first.shift",
                  *(f"layer.{index}.{name}" for index in range(LAYERS) for name in INPUTS[1:])]


def rounded(weight: numpy.ndarray) -> tuple[numpy.ndarray, numpy.ndarray]:
    """int8 weights [in, out] and the scale of each column."""
    scale = floats(numpy.abs(weight).max(axis=0).clip(LEAST_SCALE) / LARGEST_WEIGHT)
    return numpy.round(weight / scale).astype(numpy.int8), scale


def weights(tensors: dict[str, numpy.ndarray], index: int, smoothing: dict[str, numpy.ndarray]) -> dict[str, numpy.ndarray]:
    """{name in INPUTS: value} of a layer."""
    source = f"encoder.layer.{index}"
    qkv, widen = smoothing[graph.qkv_input(index)], smoothing[graph.feed_forward_input(index)]
    scales = {"query": HEAD ** -0.5, "key": 1.0, "value": 1.0}
    joined = [(tensors[f"{source}.attention.self.{kind}.weight"].T * scale * qkv[:, None],
               tensors[f"{source}.attention.self.{kind}.bias"] * scale) for kind, scale in scales.items()]

    def dense(name: str) -> tuple[numpy.ndarray, numpy.ndarray]:
        return tensors[f"{source}.{name}.weight"].T, tensors[f"{source}.{name}.bias"]

    wide, wide_bias = dense("intermediate.dense")
    products = [(numpy.concatenate([weight for weight, _ in joined], axis=1),
                 numpy.concatenate([bias for _, bias in joined])),
                dense("attention.output.dense"), (wide * widen[:, None], wide_bias), dense("output.dense")]
    found = {"qkv.factors": floats(1.0 / qkv), "widen.factors": floats(1.0 / widen)}
    for name, (weight, bias) in zip(PRODUCTS, products, strict=True):
        found[f"{name}.weight"], found[f"{name}.scale"] = rounded(weight)
        found[f"{name}.bias"] = floats(bias)
    for name, norm in [("attended", "attention.output.LayerNorm"), ("done", "output.LayerNorm")]:
        found[f"{name}.scale"] = tensors[f"{source}.{norm}.weight"]
        found[f"{name}.shift"] = tensors[f"{source}.{norm}.bias"]
    return found


class Body(Layout):
    """As `Layout`, of a function: that can have no constants but nodes that give one."""

    def constant(self, name: str, value: numpy.ndarray) -> str:
        return self.node("Constant", name, value=graph.tensor(name, value))


def product(body: Body, name: str, x: str) -> str:
    """x · weight + bias, x [rows, in] rounded to bytes."""
    least = body.node("ReduceMin", f"{name}.least", x, "axis.last", keepdims=1)
    most = body.node("ReduceMax", f"{name}.most", x, "axis.last", keepdims=1)
    reach = body.node("Sub", f"{name}.reach", most, least)
    scale = body.node("Max", f"{name}.step", body.node("Div", f"{name}.part", reach, "steps"), "scale.least")
    above = body.node("Sub", f"{name}.above", x, least)
    steps = body.node("Round", f"{name}.whole", body.node("Div", f"{name}.steps", above, scale))
    inside = body.node("Clip", f"{name}.inside", steps, "zero", "steps")
    whole = body.node("Cast", f"{name}.weight.float", f"{name}.weight", to=TensorProto.FLOAT)
    # Whole numbers in floats: products of bytes are not summed rightly by every processor.
    exact = body.node("Mul", f"{name}.exact", body.node("MatMul", f"{name}.sums", inside, whole), scale)
    column = body.node("ReduceSum", f"{name}.weight.sum", whole, "axis.first", keepdims=1)
    still = body.node("Mul", f"{name}.still", column, least)
    both = body.node("Add", f"{name}.both", exact, still)
    return body.node("Add", f"{name}.done", body.node("Mul", f"{name}.scaled", both, f"{name}.scale"), f"{name}.bias")


def added_and_normalised(body: Body, name: str, x: str, more: str, output: str) -> str:
    total = body.node("Add", f"{name}.sum", x, more)
    return body.node("LayerNormalization", output, total, f"{name}.scale", f"{name}.shift", axis=-1, epsilon=EPSILON)


def attention(body: Body, qkv: str) -> str:
    """[rows, HIDDEN] from queries, keys and values side by side."""
    shape = body.constant("shape.heads", integers(-1, 3, HEADS, HEAD))
    heads = body.node("Transpose", "heads", body.node("Reshape", "split", qkv, shape), perm=[1, 2, 0, 3])
    query, key, value = (body.node("Gather", kind, heads, body.constant(f"{kind}.at", numpy.int64(at)), axis=0)
                         for at, kind in enumerate(["query", "key", "value"]))
    scores = body.node("MatMul", "scores", query, body.node("Transpose", "key.turned", key, perm=[0, 2, 1]))
    mixed = body.node("MatMul", "mixed", body.node("Softmax", "shares", scores, axis=-1), value)
    joined = body.node("Transpose", "mixed.joined", mixed, perm=[1, 0, 2])
    return body.node("Reshape", "mixed.flat", joined, body.constant("shape.flat", integers(-1, HIDDEN)))


def layer_function() -> FunctionProto:
    """What a layer of the encoder computes, in standard operators."""
    body = Body()
    for name, value in [("axis.first", integers(0)), ("axis.last", integers(-1)), ("steps", floats(STEPS)),
                        ("scale.least", floats(LEAST_SCALE)), ("zero", floats(0.0))]:
        body.constant(name, value)
    mixed = attention(body, product(body, "qkv", body.node("Mul", "rows.even", "rows", "qkv.factors")))
    attended = added_and_normalised(body, "attended", "rows", product(body, "out", mixed), "attended")
    wide = product(body, "widen", body.node("Mul", "attended.even", attended, "widen.factors"))
    # The exact Gelu, as the model was trained with; the tanh form changes the result.
    narrow = product(body, "narrow", body.node("Gelu", "active", wide, approximate="none"))
    added_and_normalised(body, "done", attended, narrow, "result")
    return helper.make_function(DOMAIN, LAYER, INPUTS, ["result"], body.nodes, VERSIONS[:1])


def encoder_function() -> FunctionProto:
    """What `Encoder` computes, in layers and standard operators: the mean of the rows that leave the last layer."""
    body = Body()
    rows = graph.flat(body, graph.looked_up(body))
    x = body.node("LayerNormalization", "first", rows, "first.scale", "first.shift", axis=-1, epsilon=EPSILON)
    for index in range(LAYERS):
        x = body.node(LAYER, f"layer.{index}", x, *(f"layer.{index}.{name}" for name in INPUTS[1:]), domain=DOMAIN)
    body.node("ReduceMean", "result", x, body.constant("axis.rows", integers(0)), keepdims=1)
    return helper.make_function(DOMAIN, OPERATOR, ENCODER_INPUTS, ["result"], body.nodes, VERSIONS,
                                attributes=["heads", "epsilon"])


def lay_out(tensors: dict[str, numpy.ndarray], smoothing: dict[str, numpy.ndarray]) -> ModelProto:
    """The model: `input_ids` int64 [1, n] to `sentence_embedding` float32 [1, 384].

    `smoothing`: from `smoothing.factors`.
    """
    layout = Layout()
    found = graph.tables(tensors)
    found |= {"first.scale": tensors[f"{graph.FIRST_NORM}.weight"], "first.shift": tensors[f"{graph.FIRST_NORM}.bias"]}
    for index in range(LAYERS):
        found |= {f"layer.{index}.{name}": value for name, value in weights(tensors, index, smoothing).items()}
    constants = [layout.constant(name, found[name]) for name in ENCODER_INPUTS[1:]]
    mean = layout.node(OPERATOR, "mean", "input_ids", *constants, domain=DOMAIN, heads=HEADS, epsilon=EPSILON)
    length = layout.node("ReduceL2", "mean.length", mean, layout.constant("axis.values", integers(1)), keepdims=1)
    layout.node("Div", "sentence_embedding", mean, length)
    inputs = [helper.make_tensor_value_info("input_ids", TensorProto.INT64, [1, "n"])]
    outputs = [helper.make_tensor_value_info("sentence_embedding", TensorProto.FLOAT, [1, HIDDEN])]
    model = helper.make_model(helper.make_graph(layout.nodes, "all-MiniLM-L6-v2", inputs, outputs, layout.constants),
                              opset_imports=VERSIONS, ir_version=graph.IR_VERSION,
                              functions=[layer_function(), encoder_function()], producer_name="agent-sentinel")
    checker.check_model(model, full_check=True)
    return model
