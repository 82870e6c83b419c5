"""Times another engine for the bench: a line with a text as JSON comes in, a line with milliseconds goes out.

python3 engine.py ENGINE WEIGHTS FLOAT: which engine; the folder with config.json, model.safetensors and tokenizer.json of
the model; the float32 model.onnx, with its tokenizer.json beside it. First says "ready", or "missing" if this Python
has no such engine.
"""

import json
import shutil
import sys
import tempfile
import time
from pathlib import Path


def sentence_transformers(weights: Path, _float: Path):
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Normalize, Pooling, Transformer

    torch.set_num_threads(1)
    transformer = Transformer(str(weights))
    pooling = Pooling(transformer.get_embedding_dimension(), "mean")
    model = SentenceTransformer(modules=[transformer, pooling, Normalize()], device="cpu")
    return lambda text: model.encode([text], batch_size=1, show_progress_bar=False)


def fastembed(weights: Path, floats: Path):
    from fastembed import TextEmbedding
    from fastembed.common.model_description import ModelSource, PoolingType

    folder = Path(tempfile.mkdtemp())
    shutil.copy(weights / "config.json", folder)
    for name in ["model.onnx", "tokenizer.json"]:
        shutil.copy(floats.parent / name, folder)
    special = {"pad_token": "[PAD]", "cls_token": "[CLS]", "sep_token": "[SEP]", "unk_token": "[UNK]"}
    (folder / "special_tokens_map.json").write_text(json.dumps(special))
    (folder / "tokenizer_config.json").write_text(json.dumps({"model_max_length": 256, **special}))
    # Its own way of doing the same, on the graph that pools and normalises already.
    TextEmbedding.add_custom_model("float", PoolingType.DISABLED, False, ModelSource(url="none"), 384, "model.onnx")
    model = TextEmbedding("float", threads=1, specific_model_path=str(folder))
    embed = lambda text: list(model.embed([text]))  # noqa: E731
    embed("warm up")
    shutil.rmtree(folder)
    return embed


engine, weights, floats = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
try:
    embed = {"sentence-transformers": sentence_transformers, "fastembed": fastembed}[engine](weights, floats)
except ImportError:
    sys.exit(print("missing", flush=True))
embed("warm up")
print("ready", flush=True)
for line in sys.stdin:
    text = json.loads(line)
    start = time.perf_counter()
    embed(text)
    print((time.perf_counter() - start) * 1e3, flush=True)
