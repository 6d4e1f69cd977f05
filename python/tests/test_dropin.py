"""trellis.dropin: scripts and pickles of python-crfsuite and sklearn-crfsuite, unchanged."""

import importlib
import os
import pickle
import subprocess
import sys
import types

import pytest

import trellis.dropin
from trellis import pycrfsuite

HERE = os.path.dirname(os.path.abspath(__file__))
SCRIPT = """
import sys
import pycrfsuite
from pycrfsuite._logparser import TrainLogParser
trainer = pycrfsuite.Trainer(verbose=False)
trainer.append([{"w": "a"}, {"w": "b"}], ["x", "y"])
trainer.train(sys.argv[1])
with pycrfsuite.Tagger().open(sys.argv[1]) as tagger:
    print(tagger.tag([{"w": "b"}, {"w": "a"}]), isinstance(trainer.logparser, TrainLogParser), __name__)
import helper
print(pycrfsuite.__name__, helper.value, sys.argv[2:])
"""


@pytest.fixture
def installed():
    trellis.dropin.install()
    yield
    trellis.dropin.uninstall()


def run(*arguments, **keywords):
    command = [sys.executable, "-m", "trellis.dropin", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, **keywords)


def test_a_script_runs_unchanged(tmp_path):
    (tmp_path / "script.py").write_text(SCRIPT)
    (tmp_path / "helper.py").write_text("value = 3\n")
    for how in ((tmp_path / "script.py",), ("-m", "script")):
        done = run(*how, tmp_path / "m", "more", "-h", cwd=tmp_path if how[0] == "-m" else None)
        assert done.returncode == 0, done.stderr
        first, second = done.stdout.splitlines()
        assert first.endswith("True __main__") and second == "trellis.pycrfsuite 3 ['more', '-h']"


def test_usage(tmp_path):
    assert run("--help").stdout.startswith("usage:")
    done = run()
    assert done.returncode == 2 and done.stderr.startswith("usage:")
    done = run(tmp_path / "nowhere.py")
    assert done.returncode == 2 and "no such file" in done.stderr
    (tmp_path / "failing.py").write_text("import sys; sys.exit(5)")
    assert run(tmp_path / "failing.py").returncode == 5


def test_install_and_uninstall(monkeypatch):
    before = types.ModuleType("pycrfsuite")
    monkeypatch.setitem(sys.modules, "pycrfsuite", before)
    spec = pycrfsuite.__spec__
    trellis.dropin.install()
    trellis.dropin.install()
    try:
        assert importlib.import_module("pycrfsuite") is pycrfsuite
        assert importlib.import_module("pycrfsuite._dumpparser") is pycrfsuite._dumpparser
        assert pycrfsuite.__spec__ is spec and pycrfsuite.__name__ == "trellis.pycrfsuite"
        with pytest.raises(ModuleNotFoundError):
            importlib.import_module("pycrfsuite.nonsense")
    finally:
        trellis.dropin.uninstall()
    assert sys.modules["pycrfsuite"] is before


def old_pickle(data: bytes) -> bytes:
    """A pickle as sklearn-crfsuite 0.3 makes it, without the arguments that came later."""
    modules = {}
    for name in ("sklearn_crfsuite", "sklearn_crfsuite.estimator", "sklearn_crfsuite._fileresource"):
        modules[name] = types.ModuleType(name)
    for name in ("pycrfsuite", "pycrfsuite._logparser"):
        modules[name] = types.ModuleType(name)
    classes = {}
    for module, name in (
        ("sklearn_crfsuite.estimator", "CRF"),
        ("sklearn_crfsuite._fileresource", "FileResource"),
        ("pycrfsuite._logparser", "TrainLogParser"),
    ):
        classes[name] = type(name, (), {"__module__": module})
        setattr(modules[module], name, classes[name])
    crf, resource, log = (classes[name]() for name in ("CRF", "FileResource", "TrainLogParser"))
    resource.__dict__.update(name=None, auto=True, keep_tempfiles=False, suffix=".crfsuite", prefix="model", fd=9)
    resource.__dict__["__FILE_RESOURCE_DATA__"] = data
    events = [("start", 0, 1), ("featgen_end", 1, 2)]
    log.__dict__.update(state="STORING", iterations=[{"num": 1}], log=["a\n", "b\n"], events=events)
    arguments = dict.fromkeys("algorithm min_freq c1 max_iterations trainer_cls".split())
    crf.__dict__.update(arguments, c2=0.5, verbose=False, modelfile=resource, training_log_=log, _tagger=None)
    crf.__dict__["_info_cached"] = None
    saved = {name: sys.modules.get(name) for name in modules}
    sys.modules.update(modules)
    try:
        return pickle.dumps(crf)
    finally:
        for name, module in saved.items():
            if module is None:
                del sys.modules[name]
            else:
                sys.modules[name] = module


def test_old_pickles(installed):
    pytest.importorskip("sklearn")
    from sklearn.base import clone

    stored = []
    trainer = pycrfsuite.Trainer(verbose=False)
    trainer.append([{"w": "a"}, {"w": "b"}], ["x", "y"])
    trainer._run(-1, stored.append)
    crf = pickle.loads(old_pickle(stored[0]))
    assert type(crf).__module__ == "trellis.sklearn_crfsuite.estimator"
    assert crf.predict_single([{"w": "a"}, {"w": "b"}]) == ["x", "y"] and crf.size_ == len(stored[0])
    assert crf.training_log_.last_log == "b\n" and crf.training_log_.iterations == [{"num": 1}]
    assert crf.model_filename is None and crf.keep_tempfiles is False and crf.c2 == 0.5
    assert pickle.loads(pickle.dumps(crf)).classes_ == ["x", "y"]
    crf.all_possible_states = None
    fields = set(clone(type(crf)()).get_params())
    assert {"c2", "model_filename"} <= fields
