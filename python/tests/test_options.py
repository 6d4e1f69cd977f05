"""Options as keyword arguments: completion, help, types."""

import inspect
import subprocess
import sys
from pathlib import Path

import pytest

import trellis

GENERATOR = Path(__file__).resolve().parent.parent / "generate.py"


def test_every_option_of_a_training_is_in_its_signature():
    parameters = inspect.signature(trellis.train).parameters
    for option in trellis.options().values():
        if option.groups & (1 << 2):
            assert option.name in parameters or option.name + "_" in parameters
    assert not any(p.kind is p.VAR_KEYWORD for p in parameters.values())
    assert "l2: " in trellis.train.__doc__ and "lambda_: " in trellis.train.__doc__
    assert "decode" in inspect.signature(trellis.Model.tag).parameters


def test_limits_are_options_of_training_tagging_and_reading(data):
    """Limits on untrusted input are in every signature that takes options, and have effect."""
    limits = [option.name for option in trellis.options().values() if option.groups & (1 << 9)]
    assert "max_length" in limits
    for function in trellis.train, trellis.read, trellis.Model.tag, trellis.Model.nbest:
        assert set(limits) <= set(inspect.signature(function).parameters)
    model = trellis.train(*data)
    longer = data[0][0] * 5
    with pytest.raises(ValueError, match="max-length"):
        model.tag(longer, max_length=len(longer) - 1)
    assert len(model.tag(longer, max_length=len(longer))) == len(longer)
    with pytest.raises(ValueError, match="max-length"):
        trellis.train([longer], [data[1][0] * 5], max_length=len(longer) - 1)


def test_all_keywords_are_taken(data):
    """Each keyword of the signature is one that train() knows, and None is its default."""
    keywords = [p.name for p in inspect.signature(trellis.train).parameters.values() if p.kind is p.KEYWORD_ONLY]
    model = trellis.train(*data, **dict.fromkeys(keywords))
    assert model.tag(data[0][0]) == data[1][0]


@pytest.mark.skipif(not GENERATOR.exists(), reason="generate.py is not installed")
def test_generated_files_are_up_to_date():
    done = subprocess.run([sys.executable, str(GENERATOR), "check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
