"""The notebook runs from its first cell to its last, and what it shows is HTML, SVG or text.

Its cells are run by Python itself, so that no Jupyter is needed. With TRELLIS_NOTEBOOK_HTML the page is written there.
"""

import ast
import html
import json
import os
from pathlib import Path

import pytest

NOTEBOOK = Path(__file__).resolve().parent.parent / "notebooks" / "tour.ipynb"


def run_cell(source, names):
    """Runs a cell; the value of its last expression, or None."""
    tree = ast.parse(source)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "cell", "exec"), names)
    return None if last is None else eval(compile(ast.Expression(last.value), "cell", "eval"), names)


def show(value):
    for method in "_repr_svg_", "_repr_html_":
        if hasattr(value, method):
            return getattr(value, method)()
    return f"<pre>{html.escape(repr(value))}</pre>"


@pytest.mark.skipif(not NOTEBOOK.exists(), reason="the notebook is not installed")
def test_the_notebook_runs(capsys):
    pytest.importorskip("numpy")
    cells = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
    names, shown, page = {}, [], []
    for cell in cells:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            page.append(f"<p>{html.escape(source)}</p>")
            continue
        value = run_cell(source, names)
        shown.append(show(value))
        page.append(f"<pre style='background:#f6f8fa'>{html.escape(source)}</pre>{shown[-1]}")
    assert sum("<mark" in text for text in shown) == 1 and sum("<svg" in text for text in shown) == 1
    assert sum("runner-up" in text for text in shown) == 1
    assert names["model"].tag_many(names["sentences"]) == names["labels"]
    target = os.environ.get("TRELLIS_NOTEBOOK_HTML")
    if target:
        body = f"<meta charset=utf-8><body style='font-family:sans-serif;max-width:60em'>{''.join(page)}"
        Path(target).write_text(body, encoding="utf-8")
