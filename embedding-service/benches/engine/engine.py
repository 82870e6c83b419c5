"""Times sentence-transformers for the bench: a line with a text as JSON comes in, a line with milliseconds goes out.

python3 engine.py FOLDER, the folder having config.json, model.safetensors and tokenizer.json of the model.
"""

import json
import sys
import time

import torch
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import Normalize, Pooling, Transformer

torch.set_num_threads(1)
transformer = Transformer(sys.argv[1])
model = SentenceTransformer(modules=[transformer, Pooling(transformer.get_embedding_dimension(), "mean"), Normalize()],
                            device="cpu")
for line in sys.stdin:
    text = json.loads(line)
    start = time.perf_counter()
    model.encode([text], batch_size=1, show_progress_bar=False)
    print((time.perf_counter() - start) * 1e3, flush=True)
