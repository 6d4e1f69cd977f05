import pytest

import trellis

SENTENCES = [["the", "cat"], ["a", "dog"], ["the", "dog", "runs"], ["cat", "runs"]]
LABELS = [["DET", "NOUN"], ["DET", "NOUN"], ["DET", "NOUN", "VERB"], ["NOUN", "VERB"]]


@pytest.fixture(scope="session")
def data():
    return [[{"w": word} for word in sentence] for sentence in SENTENCES], LABELS


@pytest.fixture(scope="session")
def model(data):
    return trellis.train(*data, type="crf", l2=0.01)
