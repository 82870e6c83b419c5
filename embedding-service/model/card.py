"""What is written beside a model file: `model.json` for programs, `MODEL.md` for people."""

import json
from pathlib import Path

import graph
import integer
import smoothing
from check import Quality
from weights import MAX_PIECES, sha256


def describe(folder: Path, source: Path, precision: str, quality: Quality | None) -> dict:
    """The card of the model in `folder`, made from the weights at `source`; holds no time and no path, so that
    the same weights give the same card."""
    card = {
        "name": "all-MiniLM-L6-v2",
        "licence": "Apache-2.0",
        "precision": precision,
        "inputs": {"input_ids": "int64 [1, n]"},
        "outputs": {"sentence_embedding": f"float32 [1, {graph.HIDDEN}], length 1"},
        "pooling": "mean over the pieces, in the graph",
        "dimension": graph.HIDDEN,
        "max_pieces": MAX_PIECES,
        "sha256": {"model.onnx": sha256(folder / "model.onnx"), "tokenizer.json": sha256(folder / "tokenizer.json"),
                   "source": sha256(source)},
    }
    if quality is None:
        card["inputs"] = {"input_ids": "int64 [batch, n]", "attention_mask": "int64 [batch, n]"}
        card["outputs"] = {"sentence_embedding": f"float32 [batch, {graph.HIDDEN}], length 1"}
        card["pooling"] = "mean over the unmasked pieces, in the graph"
    else:
        card["operator"] = f"{integer.DOMAIN}:{integer.OPERATOR}, which the file also says in standard operators"
        card["quantisation"] = {
            "weights": "int8, symmetric, a scale per column",
            "activations": "uint8, a scale and an offset per word piece",
            "smoothing_alpha": smoothing.ALPHA,
        }
        # Rounded to what holds from one processor to the next.
        card["quality"] = {"texts": quality.texts, "cosine_mean": round(quality.cosine_mean, 3),
                           "cosine_min": round(quality.cosine_min, 3), "pair_error": round(quality.pair_error, 3)}
    return card


def for_people(card: dict) -> str:
    lines = [f"# {card['name']}, {card['precision']}", "",
             f"Built from the published weights (SHA-256 `{card['sha256']['source']}`), licence {card['licence']}.", "",
             *(f"- input `{name}`: {shape}" for name, shape in card["inputs"].items()),
             *(f"- output `{name}`: {shape}" for name, shape in card["outputs"].items()),
             f"- pooling: {card['pooling']}",
             f"- at most {card['max_pieces']} word pieces, `[CLS]` and `[SEP]` among them; `tokenizer.json` neither "
             "cuts nor pads"]
    if "quality" in card:
        quality = card["quality"]
        lines += [f"- weights {card['quantisation']['weights']}; activations {card['quantisation']['activations']}",
                  f"- against the float model over {quality['texts']} texts: cosine mean {quality['cosine_mean']}, "
                  f"minimum {quality['cosine_min']}; mean error of a pair's cosine {quality['pair_error']}",
                  f"- the layers are nodes of {card['operator']}"]
    return "\n".join([*lines, f"- SHA-256 of model.onnx: `{card['sha256']['model.onnx']}`", ""])


def write(folder: Path, card: dict) -> None:
    (folder / "model.json").write_text(json.dumps(card, indent=2) + "\n", encoding="utf-8")
    (folder / "MODEL.md").write_text(for_people(card), encoding="utf-8")
