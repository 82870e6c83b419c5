"""Builds the embedding model from the published weights: `OUT/model-fp32` and `OUT/model`, the int8 one; and
`OUT/model-second`, which only the tests use.

`python3 build.py --weights FOLDER --out FOLDER`, with the packages of requirements.txt importable. Each result folder
holds model.onnx, tokenizer.json, model.json and MODEL.md. The same weights give the same bytes on every run.
"""

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path

import card
import check
import graph
import integer
import second
import smoothing
import texts
from session import Embedder
from weights import read_safetensors, read_tokeniser


def stage(what: str, work: Callable):
    """Does `work` and says what it was and how long it took."""
    print(f"      {what}: ", end="", flush=True)
    start = time.monotonic()
    result = work()
    print(f"{time.monotonic() - start:.1f} s", flush=True)
    return result


def build(source: Path, out: Path) -> str | None:
    """Writes both models below `out`; returns why the result must not be used, if so."""
    tensors = stage("read the weights", lambda: read_safetensors(source / "model.safetensors"))
    tokeniser, shipped = read_tokeniser(source / "tokenizer.json")
    fitted, measured = texts.calibration(), texts.check()
    if shared := set(fitted) & set(measured):
        return f"{len(shared)} texts are in calibration.txt and in what the result is measured on too; each must stand in one of them only"

    float_model = stage("lay out the graph", lambda: graph.lay_out(tensors).SerializeToString(deterministic=True))
    factors = stage(f"find the smoothing factors on {len(fitted)} texts",
                    lambda: smoothing.factors(tensors, tokeniser, fitted))
    small_model = stage("quantise", lambda: integer.lay_out(tensors, factors).SerializeToString(deterministic=True))

    whole, small = Embedder(float_model, tokeniser), Embedder(small_model, tokeniser)
    quality = stage(f"compare int8 with float on {len(measured)} texts", lambda: check.compare(whole, small, measured))
    print(f"      cosine mean {quality.cosine_mean:.4f}, minimum {quality.cosine_min:.4f}; "
          f"mean error of a pair's cosine {quality.pair_error:.4f}")
    if complaint := quality.complaint():
        return complaint
    # Not in the card: it must not depend on what lies beside the repository.
    if recorded := texts.recorded():
        beside = stage(f"compare them on {len(recorded)} texts of recorded runs",
                       lambda: check.compare(whole, small, recorded))
        print(f"      cosine mean {beside.cosine_mean:.4f}, minimum {beside.cosine_min:.4f}; "
              f"mean error of a pair's cosine {beside.pair_error:.4f}")
        if complaint := beside.complaint():
            return complaint

    for name, precision, model, its_quality in [("model-fp32", "float32", float_model, None),
                                                ("model", "int8", small_model, quality)]:
        folder = out / name
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "model.onnx").write_bytes(model)
        (folder / "tokenizer.json").write_text(shipped, encoding="utf-8")
        card.write(folder, card.describe(folder, source / "model.safetensors", precision, its_quality))
    stage("write the second model of the tests",
          lambda: second.write(out / "model-second", tensors, tokeniser, shipped))
    return None


def main() -> int:
    options = argparse.ArgumentParser(description="Builds the embedding model from the published weights.")
    options.add_argument("--weights", type=Path, required=True, help="folder with model.safetensors and tokenizer.json")
    options.add_argument("--out", type=Path, required=True, help="folder that gets model-fp32, model and model-second")
    given = options.parse_args()
    complaint = build(given.weights, given.out)
    if complaint:
        print(f"model: {complaint}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
