"""Measures the quantised model against the float one, and refuses it if it is not good enough."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy

from session import Embedder

LEAST_MEAN = 0.998
LEAST_MINIMUM = 0.990


@dataclass
class Quality:
    texts: int
    cosine_mean: float
    cosine_min: float
    # Mean absolute difference of the cosine of two texts, over all pairs.
    pair_error: float

    def complaint(self) -> str | None:
        if self.cosine_mean >= LEAST_MEAN and self.cosine_min >= LEAST_MINIMUM:
            return None
        return (f"the quantised model is too far from the float one: cosine mean {self.cosine_mean:.4f} (least "
                f"{LEAST_MEAN}), minimum {self.cosine_min:.4f} (least {LEAST_MINIMUM}) over {self.texts} texts; were "
                "the texts in texts/ or the smoothing changed?")


def compare(whole: Embedder, small: Embedder, texts: list[str]) -> Quality:
    # Side by side: inference lets other threads run.
    with ThreadPoolExecutor(2) as threads:
        exact, rounded = threads.map(lambda embedder: numpy.array([embedder.embed(text) for text in texts]),
                                     [whole, small])
    cosines = (exact * rounded).sum(axis=1)
    pairs = numpy.triu_indices(len(texts), 1)
    errors = numpy.abs((rounded @ rounded.T - exact @ exact.T)[pairs])
    return Quality(len(texts), float(cosines.mean()), float(cosines.min()), float(errors.mean()))
