#!/usr/bin/env python3
"""What each public function does with NULL, from include/trellis.h.

    scripts/null_arguments.py --table      a Markdown table: function, arguments that may be NULL, answer for the others
    scripts/null_arguments.py --cases      C: a call of every function with each of its pointers NULL, for the tests

An argument may be NULL if it is called `error`, `user` or `progress`, if it is a set of options that is only read, if
the function destroys or closes it, or if the comment above the function says "`argument` may be NULL".
"""
import pathlib
import re
import sys

HEADER = pathlib.Path(__file__).parent.parent / "include/trellis.h"
# Arrays that may be NULL if they have no elements: (argument, its count).
COUNTS = {"paths": "path_count", "tries": "try_count", "resources": "resource_count", "names": "count",
          "data": "size", "sequences": "count", "ret_intervals": "count", "gold": "length",
          "predicted": "length", "labels": ("count", "length")}


def functions():
    """Yields (comment, type of the result, name, [(type, name of an argument)])."""
    text = HEADER.read_text()
    comment = ""
    for match in re.finditer(r"/\*(.*?)\*/|TRELLIS_API\s+([^;{]*?)\b(trellis_\w+)\s*\(([^;]*)\)\s*;|^typedef|^$",
                             text, re.S | re.M):
        if match[1] is not None:
            comment = " ".join(match[1].replace("*", " ").split())
        elif match[3]:
            arguments = " ".join(match[4].split())
            parsed = [re.match(r"(.*?)(\w+)$", part.strip()).groups() for part in arguments.split(",")]
            yield comment, " ".join(match[2].split()), match[3], \
                [] if arguments == "void" else [(kind.strip(), name) for kind, name in parsed]
        elif match[0] == "":
            comment = ""


def is_pointer(kind):
    return "*" in kind or kind in ("trellis_sink", "trellis_progress_function")


def may_be_null(comment, function, kind, name):
    said = re.findall(r"((?:`\w+`(?:, | and )?)+) may be NULL", comment)
    return name in ("error", "user", "progress") or kind == "const trellis_options *" or \
        re.search(r"_(destroy|close)$", function) is not None or any(f"`{name}`" in names for names in said)


def count_of(name, arguments):
    names = [other for _, other in arguments]
    counts = COUNTS.get(name, ())
    return next((c for c in ([counts] if isinstance(counts, str) else counts) if c in names), None)


def answer(result, function):
    """What a function gives for a NULL that it does not take."""
    if result == "trellis_status":
        return "TRELLIS_OPTION"
    if function.startswith("trellis_model_find_") or function == "trellis_reader_label_column":
        return "SIZE_MAX"
    return {"void": "nothing happens", "bool": "false", "double": "NaN", "trellis_text": "an empty text"}.get(
        result, "NULL" if "*" in result else "0")


def table():
    print("| function | may be NULL | answer to another NULL |\n|---|---|---|")
    for comment, result, name, arguments in functions():
        pointers = [(kind, argument) for kind, argument in arguments if is_pointer(kind)]
        optional = [a for kind, a in pointers if may_be_null(comment, name, kind, a)]
        empty = [a for kind, a in pointers if a not in optional and count_of(a, arguments)]
        shown = [f"`{a}`" for a in optional] + [f"`{a}` if `{count_of(a, arguments)}` is 0" for a in empty]
        if pointers:
            needed = len(optional) < len(pointers)
            print(f"| `{name}` | {', '.join(shown)} | {answer(result, name) if needed else ''} |")


def value(kind, name):
    """An argument that is there, of the fixture `f` in tests/install/test_null_arguments.c."""
    bare = kind.replace("const ", "").replace(" ", "")
    if kind == "trellis_sink":
        return "drop"
    if kind == "trellis_progress_function":
        return "go_on"
    if bare.endswith("**") and (name.startswith("ret_") or name == "storage"):
        return f"&({kind[:-1].strip()}){{0}}"
    if name.startswith("ret_") or bare in ("bool*", "double*", "size_t*"):
        base = kind[:-1].replace("const ", "").strip()
        grows = base.startswith("trellis_") and base not in ("trellis_interval", "trellis_span")
        return f"({base} *)&({base}[64]){{{{{'.struct_size = sizeof(' + base + ')' if grows else '0'}}}}}"
    known = {"path": "f->path", "preset_or_path": '"pos"', "task": '"task"', "title": '"title"', "key": '"type"',
             "value": '"1"', "label": '"A"', "names": "f->names", "paths": "f->paths", "tries": "f->tries",
             "data": "f->bytes", "user": "f", "error": "&f->error", "from": "f->model", "first": "f->evaluation",
             "second": "f->evaluation", "gold": "f->labels", "predicted": "f->labels", "sequences": "f->sequence",
             "name": '"seed"', "source": "&f->source", "training": "&f->training", "resources": "f->resources",
             "suggestion": "&f->suggestion", "gradient": "&f->gradient", "labelled": "&f->labelled"}
    if kind == "const trellis_labelled *":
        return "&f->labelled"
    if kind == "trellis_chain_sequence *":
        return "&f->chain_sequence"
    if kind == "const trellis_chain_scores *":
        return "&f->chain_scores"
    if kind == "const int32_t *":
        return "f->numbers"
    if kind in ("const trellis_text *",):
        return "f->labels"
    if name in known and is_pointer(kind):
        return known[name]
    if bare.startswith("trellis_") and bare.endswith("*"):
        return f"f->{bare[len('trellis_'):-1]}"
    return {"trellis_text": "f->text", "bool": "false", "double": "1"}.get(
        kind, f"({kind})1")


def cases():
    for comment, result, name, arguments in functions():
        for k, (kind, argument) in enumerate(arguments):
            if not is_pointer(kind) or (re.search(r"_(destroy|close)$", name) is None and argument == "user"):
                continue
            optional = may_be_null(comment, name, kind, argument)
            given = [f"({other_kind})NULL" if i == k else value(other_kind, other)
                     for i, (other_kind, other) in enumerate(arguments)]
            call = f"{name}({', '.join(given)})"
            if result == "trellis_status" and not optional:
                body = f"return {call} == TRELLIS_OPTION"
            elif result == "void":
                body = f"{call}; return true"
            else:
                body = f"(void){call}; return true"
            print(f'CASE({name}, {argument}, {body})')


if __name__ == "__main__":
    {"--table": table, "--cases": cases}[sys.argv[1]]()
