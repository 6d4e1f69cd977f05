"""Writes what is made from the package itself: the types of all options, and the API reference.

    PYTHONPATH=... python3 generate.py types FILE     the module _option_types; setup.py does that when it builds
    PYTHONPATH=... python3 generate.py reference      API.md, from the docstrings
    PYTHONPATH=... python3 generate.py check          exit status 1 if API.md is out of date

_option_types has the options of the library as keyword arguments, for type checkers and editors.
"""

import ast
import inspect
import sys
import textwrap
from pathlib import Path

import trellis
import trellis.spark
from trellis import _signatures as signatures

HERE = Path(__file__).resolve().parent
TYPES = {"flag": "bool", "integer": "int", "real": "float", "string": "str | PathLike[str]"}


def type_of(option):
    if option.name == "type":
        return "Literal[" + ", ".join(f'"{name}"' for name in trellis.learners()) + "]"
    if option.type == "choice":
        return "Literal[" + ", ".join(f'"{choice}"' for choice in option.choices.split()) + "]"
    return TYPES[option.type]


def typed_dict(name, groups, without=()):
    lines = ["", "", f"class {name}(TypedDict, total=False):"]
    for option in signatures.chosen(groups, without):
        lines.append(f"    {signatures.keyword(option.name)}: {type_of(option)} | None")
        text = signatures.describe(option).replace("\\", "\\\\")
        lines += textwrap.wrap(f'"""{text}"""', 116, initial_indent="    ", subsequent_indent="    ")
    return lines


def option_types():
    lines = [
        '"""The options of the library as keyword arguments, made by generate.py from the table of options."""',
        "",
        "from __future__ import annotations",
        "",
        "from os import PathLike",
        "from typing import Literal, TypedDict",
    ]
    s = signatures
    lines += typed_dict("TrainOptions", s.TRAIN | s.READ | s.RUN, ("columns", "dev"))
    lines += typed_dict("OnlineOptions", s.TRAIN | s.RUN, ("columns", "dev"))
    lines += typed_dict("TagOptions", s.TAG | s.RUN)
    lines += typed_dict("EvaluationOptions", s.EVAL | s.RUN)
    lines += typed_dict("ReadOptions", s.READ | s.RUN)
    lines += typed_dict("WriteOptions", s.READ | s.WRITE, ("columns",))
    return "\n".join(lines) + "\n"


def attribute_docs(cls):
    """(name, docstring) of annotated attributes, which have their docstrings below them."""
    try:
        body = ast.parse(textwrap.dedent(inspect.getsource(cls))).body[0].body
    except (OSError, TypeError):
        return
    for here, after in zip(body, [*body[1:], None]):
        if isinstance(here, ast.AnnAssign) and isinstance(here.target, ast.Name) and not here.target.id.startswith("_"):
            doc = ""
            if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant) and isinstance(after.value.value, str):
                doc = " ".join(after.value.value.split())
            yield here.target.id, ast.unparse(here.annotation), doc


def signature_of(function):
    """Without the options, which the docstring lists."""
    full = inspect.signature(function)
    own = inspect.signature(getattr(function, "__func__", function), follow_wrapped=False)
    code = getattr(getattr(function, "__func__", function), "__code__", None)
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount] if code else full.parameters
    shown = [p for p in own.parameters.values() if p.name in names and p.name not in ("self", "cls")]
    text = str(inspect.Signature(shown, return_annotation=full.return_annotation)).replace("'", "")
    if len(shown) < len([p for p in own.parameters.values() if p.name not in ("self", "cls")]):
        text = text.replace(")", ", **options)", 1) if ") ->" not in text else text.replace(") ->", ", **options) ->", 1)
    return text.replace("(, ", "(").replace("trellis._trellis.", "").replace("_trellis.", "")


def doc_of(thing):
    text = inspect.cleandoc(getattr(thing, "__doc__", None) or "")
    return text.split("\n\nOptions (None is")[0].split("\nOptions (None is")[0].rstrip()


def block(doc):
    """A docstring as Markdown: examples as code."""
    lines, code = [], False
    for line in doc.split("\n"):
        starts = line.startswith(">>>")
        if starts and not code:
            lines.append("```python")
            code = True
        elif code and not line.strip():
            lines.append("```")
            code = False
        lines.append(line)
    return "\n".join(lines + ["```"] * code)


def describe_class(name, cls):
    lines = [f"## {name}", "", block(doc_of(cls))]
    fields = list(attribute_docs(cls))
    if fields:
        lines += ["", *(f"- `{n}: {annotation}`" + (f" — {doc}" if doc else "") for n, annotation, doc in fields)]
    for member, value in vars(cls).items():
        if member.startswith("_") and member != "__init__":
            continue
        if isinstance(value, property):
            lines += ["", f"### {name}.{member}", "", block(doc_of(value))]
        elif isinstance(value, (classmethod, staticmethod)) or inspect.isfunction(value):
            function = value.__func__ if isinstance(value, (classmethod, staticmethod)) else value
            title = name if member == "__init__" else f"{name}.{member}"
            doc = "" if member == "__init__" else block(doc_of(function))
            if member == "__init__" and "self" in signature_of(function):
                continue
            lines += ["", f"### {title}{signature_of(function).removesuffix(' -> None')}", *(["", doc] if doc else [])]
    return lines


def reference():
    lines = ["# API reference of the Python package", "", "Made by generate.py from the docstrings of `trellis`.", ""]
    lines += [block(doc_of(trellis)), ""]
    names = [name for name in trellis.__all__ if not name.startswith("_")]
    functions = [name for name in names if inspect.isfunction(getattr(trellis, name))]
    for name in functions:
        function = getattr(trellis, name)
        lines += [f"## {name}{signature_of(function)}", "", block(doc_of(function)), ""]
    for name in names:
        if inspect.isclass(getattr(trellis, name)):
            lines += [*describe_class(name, getattr(trellis, name)), ""]
    tag = trellis.spark.tag
    lines += ["## trellis.spark", "", doc_of(trellis.spark), "", f"### spark.tag{signature_of(tag)}", "", doc_of(tag), ""]
    return "\n".join(line.rstrip() for line in "\n".join(lines).split("\n")) + "\n"


def main(what, path=None):
    written = HERE / "API.md"
    if what == "types":
        Path(path).write_text(option_types(), encoding="utf-8")
    elif what == "reference":
        written.write_text(reference(), encoding="utf-8")
    elif written.read_text(encoding="utf-8") != reference():
        sys.exit("API.md is out of date: run generate.py reference")


if __name__ == "__main__":
    main(*sys.argv[1:])
