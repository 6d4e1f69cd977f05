"""Tagging in Spark, in local mode: the same bytes as Model.tag_many() and, where there is one, as the command."""

import importlib.util
import os
import shutil
import subprocess
import sys

import pytest

import trellis

if importlib.util.find_spec("pyspark") is None or importlib.util.find_spec("pyarrow") is None:
    pytest.skip("pyspark or pyarrow is not installed", allow_module_level=True)
if shutil.which("java") is None:
    pytest.skip("there is no Java (Debian: default-jre-headless)", allow_module_level=True)

from trellis import spark  # noqa: E402

COMMAND = os.environ.get("TRELLIS")
TOKENS = [["the", "cat"], ["a", "dog", "sleeps"], ["the", "dog"], ["Zoë", "sleeps"]]
LABELS = [["DET", "NOUN"], ["DET", "NOUN", "VERB"], ["DET", "NOUN"], ["NAME", "VERB"]]


@pytest.fixture(scope="module")
def session():
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[2]").appName("trellis")
    builder = builder.config("spark.ui.enabled", "false").config("spark.driver.host", "127.0.0.1")
    started = builder.config("spark.driver.bindAddress", "127.0.0.1").getOrCreate()
    started.sparkContext.setLogLevel("ERROR")
    yield started
    started.stop()


@pytest.fixture(scope="module")
def model():
    return trellis.train(TOKENS, LABELS, type="crf", features="pos", l2=0.1)


def sentences(count):
    return [(number, TOKENS[number % 4] + TOKENS[number * 7 % 4]) for number in range(count)]


def test_tokens(session, model, tmp_path):
    rows = sentences(500)
    path = tmp_path / "pos.model"
    model.save(path)
    frame = session.createDataFrame(rows, "number int, tokens array<string>").repartition(5)
    tagged = spark.tag(frame, path)
    assert tagged.columns == ["number", "tokens", "labels"]
    found = sorted((row.number, row.tokens, row.labels) for row in tagged.collect())
    assert [row[:2] for row in found] == rows
    assert [row[2] for row in found] == model.tag_many([row[1] for row in rows])


@pytest.mark.skipif(not COMMAND, reason="TRELLIS does not name the command")
def test_bytes_of_the_command(session, model, tmp_path):
    rows = sentences(200)
    path = tmp_path / "pos.model"
    model.save(path)
    text = "".join("\n".join(tokens) + "\n\n" for _, tokens in rows)
    expected = subprocess.run(
        [COMMAND, "tag", "-m", path, "--label", "none"], input=text.encode(), capture_output=True, check=True
    ).stdout
    frame = session.createDataFrame(rows, "number int, tokens array<string>").repartition(3)
    found = spark.tag(frame, path).orderBy("number").collect()
    blocks = ("\n".join(f"{t} {z}" for t, z in zip(row.tokens, row.labels)) + "\n\n" for row in found)
    assert "".join(blocks).encode() == expected


@pytest.mark.skipif(not COMMAND, reason="TRELLIS does not name the command")
def test_streaming_over_pipes(session, model, tmp_path):
    path = tmp_path / "pos.model"
    model.save(path)
    lines = [" ".join(tokens) for _, tokens in sentences(200)]
    arguments = [COMMAND, "tag", "-m", str(path), "--format", "wordtag", "--label", "none", "--unbuffered"]
    text = "".join(line + "\n" for line in lines).encode()
    expected = subprocess.run(arguments, input=text, capture_output=True, check=True).stdout.decode()
    found = session.sparkContext.parallelize(lines, 3).pipe(" ".join(arguments)).collect()
    assert "".join(line + "\n" for line in found) == expected


def test_options_nulls_and_other_columns(session, model):
    rows = [("x", ["the", "cat"], 1.5), ("y", None, 2.5), ("z", [], None)]
    frame = session.createDataFrame(rows, "id string, words array<string>, score double")
    found = spark.tag(frame, model, items="words", labels="z", decode="posterior").orderBy("id").collect()
    assert [tuple(row) for row in found] == [
        ("x", ["the", "cat"], 1.5, ["DET", "NOUN"]),
        ("y", None, 2.5, None),
        ("z", [], None, []),
    ]


@pytest.mark.parametrize(
    "kind, item",
    [
        ("array<struct<word:string,tag:string>>", lambda word: (word, word[:1])),
        ("array<array<string>>", lambda word: [word, word[:1]]),
    ],
)
def test_columns(session, kind, item):
    pairs = [[{"word": word, "tag": word[:1]} for word in tokens] for tokens in TOKENS]
    model = trellis.train(pairs, LABELS, columns=["word", "tag"], type="crf", templates="node word\nnode tag\n")
    rows = [([item(word) for word in tokens],) for tokens in TOKENS]
    frame = session.createDataFrame(rows, f"tokens {kind}").coalesce(1)
    assert [row.labels for row in spark.tag(frame, model).collect()] == model.tag_many(pairs)


def test_attributes(session):
    X = [[{"w": word, "first": word[0]} for word in tokens] for tokens in TOKENS]
    model = trellis.train(X, LABELS, type="crf", l2=0.1)
    frame = session.createDataFrame([(row,) for row in X], "tokens array<map<string,string>>").coalesce(1)
    assert [row.labels for row in spark.tag(frame, model).collect()] == model.tag_many(X)


def test_mistakes_are_found_on_the_driver(session, model, tmp_path):
    frame = session.createDataFrame([(["a"], "b")], "tokens array<string>, labels string")
    with pytest.raises(ValueError, match="has a column 'labels' already"):
        spark.tag(frame, model)
    with pytest.raises(ValueError, match="no column 'words'; it has: tokens, labels"):
        spark.tag(frame, model, items="words", labels="z")
    with pytest.raises(TypeError, match="unknown option 'decod'"):
        spark.tag(frame, model, labels="z", decod="viterbi")
    with pytest.raises(OSError):
        spark.tag(frame, tmp_path / "missing", labels="z")


def test_the_model_is_sent_once(session, model):
    frame = session.createDataFrame([(["the", "cat"],)], "tokens array<string>")
    before = len(spark._shipped)
    spark.tag(frame, model)
    spark.tag(frame, model)
    assert len(spark._shipped) - before <= 1
