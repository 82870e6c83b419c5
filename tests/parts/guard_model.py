"""The model of the input guard's second opinion, out of a pinned wheel as it was published. Its licence lies beside it."""

from pathlib import Path

from catalogue import PINS, Part
from fetch import extract
from store import Store

FOLDER = "stackone_defender/models/minilm-multihead-v5"


def fill_guard_model(store: Store, to: Path) -> None:
    extract(PINS / "guard-model.txt", to, {
        f"{FOLDER}/model_quantized.onnx": "guard-model/model.onnx",
        f"{FOLDER}/tokenizer.json": "guard-model/tokenizer.json",
        f"{FOLDER}/classifier_config.json": "guard-model/classifier_config.json",
        "stackone_defender-*.dist-info/licenses/LICENSE": "guard-model/LICENSE",
    })


PARTS = [
    Part("guard-model", "the model of the second opinion on tool results (stackone-defender)", ["guard-model"],
         [PINS / "guard-model.txt"], fill_guard_model, ["GUARD_MODEL_PATH"]),
]
