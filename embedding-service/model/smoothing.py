"""Finds the factors that make activations easy to quantise (SmoothQuant, Xiao et al. 2022).

A few channels of the hidden states are far larger than the rest, and the 8-bit scale of a row would spend its
steps on them. Dividing each channel by a factor and multiplying the weights that read it by the same
leaves the product as it is and moves the difficulty into the weights, which have a scale per column.

That serves the two inputs of a layer that are hidden states; the others have no such channels.
"""

import numpy

import graph
from session import Embedder

# How much of the difficulty the weights take.
ALPHA = 0.6
# Factors are rounded to this many steps per doubling, so that the last bits of an activation, which differ
# from processor to processor, do not change the model.
STEPS_PER_DOUBLING = 4


def largest_inputs(tensors: dict[str, numpy.ndarray], tokeniser, texts: list[str]) -> dict[str, numpy.ndarray]:
    """{tensor name: the largest magnitude of each of its 384 channels over all `texts`}."""
    names = [name for index in range(graph.LAYERS) for name in (graph.qkv_input(index), graph.feed_forward_input(index))]
    embedder = Embedder(graph.lay_out(tensors, also=names).SerializeToString(), tokeniser, names)
    largest = {name: numpy.zeros(graph.HIDDEN, dtype=numpy.float32) for name in names}
    for text in texts:
        for name, seen in zip(names, embedder.run(embedder.pieces(text)), strict=True):
            numpy.maximum(largest[name], numpy.abs(seen).max(axis=0), out=largest[name])
    return largest


def readers(tensors: dict[str, numpy.ndarray], index: int) -> dict[str, numpy.ndarray]:
    """{tensor name: the weights [384, out] of a layer that read it}."""
    source = f"encoder.layer.{index}"
    qkv = [tensors[f"{source}.attention.self.{kind}.weight"].T for kind in ("query", "key", "value")]
    return {graph.qkv_input(index): numpy.concatenate(qkv, axis=1),
            graph.feed_forward_input(index): tensors[f"{source}.intermediate.dense.weight"].T}


def factors(tensors: dict[str, numpy.ndarray], tokeniser, texts: list[str]) -> dict[str, numpy.ndarray]:
    """{tensor name: the factor of each of its 384 channels}, fitted to `texts`."""
    largest = largest_inputs(tensors, tokeniser, texts)
    found = {}
    for index in range(graph.LAYERS):
        for name, weight in readers(tensors, index).items():
            weight_size = numpy.abs(weight).max(axis=1).clip(1e-5).astype(numpy.float64)
            ideal = largest[name].clip(1e-5).astype(numpy.float64) ** ALPHA / weight_size ** (1 - ALPHA)
            found[name] = 2.0 ** (numpy.round(numpy.log2(ideal) * STEPS_PER_DOUBLING) / STEPS_PER_DOUBLING)
    return found
