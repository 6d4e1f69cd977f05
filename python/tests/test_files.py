"""Reading and writing corpora."""

import gzip
import io

import pytest

import trellis
from conftest import LABELS, SENTENCES


def written(**options):
    file = io.BytesIO()
    trellis.write(file, SENTENCES, LABELS, **options)
    return file.getvalue()


@pytest.mark.parametrize("form", ["columns", "conllu", "wordtag", "jsonl"])
def test_round_trips(form, tmp_path):
    path = tmp_path / "corpus"
    label = {"label": "upos"} if form == "conllu" else {}
    trellis.write(path, SENTENCES, LABELS, output_format=form, **label)
    found = list(trellis.read(path, format=form, **label))
    assert [list(sentence.labels) for sentence in found] == LABELS
    words = 1 if form == "conllu" else 0
    assert [[token[words] for token in sentence.items] for sentence in found] == SENTENCES
    assert found[0].line == 1 and found[0].weight == 1


def test_attributes():
    items = [[{"a": 1.0, "b": 0.5}, {"c": 2.0}], [{"new:line": 1.0}]]
    file = io.BytesIO()
    trellis.write(file, items, [["X", "Y"], ["X"]], output_format="crfsuite")
    found = list(trellis.read(file.getvalue(), format="crfsuite"))
    assert [sentence.items for sentence in found] == items
    assert [sentence.labels for sentence in found] == [("X", "Y"), ("X",)]


def test_names_of_columns_and_compression():
    reader = trellis.read(b"1\ta\t_\tX\t_\t_\t_\t_\t_\t_\n\n", format="conllu", label="UPOS")
    assert list(next(reader).labels) == ["X"]
    assert reader.columns[:4] == ("ID", "FORM", "LEMMA", "UPOS")
    with pytest.raises(StopIteration):
        next(reader)
    assert len(list(trellis.read(gzip.compress(written())))) == 4


def test_writing_without_labels_and_with_names():
    file = io.BytesIO()
    trellis.write(file, [[("a", "X"), ("b", "Y")]])
    assert file.getvalue() == b"a\tX\nb\tY\n\n"
    file = io.BytesIO()
    trellis.write(file, [[{"word": "a", "pos": "X"}]], [["L"]], columns=["word", "pos"])
    assert file.getvalue() == b"a\tX\tL\n\n"


def test_closed_things_raise(tmp_path):
    with trellis.read(written()) as reader:
        next(reader)
    with pytest.raises(ValueError, match="the reader is closed"):
        next(reader)
    with pytest.raises(ValueError, match="the reader is closed"):
        _ = reader.columns
    with trellis.Writer(tmp_path / "x") as writer:
        writer.write(["a"], ["A"])
    writer.close()
    with pytest.raises(ValueError, match="the writer is closed"):
        writer.write(["a"], ["A"])
    assert (tmp_path / "x").read_bytes() == b"a\tA\n\n"


def test_bad_input(tmp_path):
    with pytest.raises(FileNotFoundError):
        trellis.read(tmp_path / "none")
    with pytest.raises(ValueError, match=":2"):
        list(trellis.read(b"1\ta\t_\tX\t_\t_\t_\t_\t_\t_\nnonsense\n", format="conllu"))
    with pytest.raises(TypeError):
        trellis.read(5)
    with pytest.raises(TypeError, match="sequence 0, position 0: a cell must be str or bytes, not int"):
        trellis.write(io.BytesIO(), [[(1,)]])
    with pytest.raises(ValueError, match="cannot represent"):
        trellis.write(io.BytesIO(), [[("new\nline",)]], [["A"]])
    with pytest.raises(TypeError, match="unknown option"):
        trellis.read(b"", fromat="conllu")
