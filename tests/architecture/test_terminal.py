"""One writer: nothing but ``nettests.terminal`` writes to a terminal."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.architecture.test_contracts import modules, relative

WRITER = "nettests/terminal/"
LAB = "nettests/lab/"
"""A program of its own, which may not import the writer of the harness."""
STREAMS = {"stdout", "stderr", "__stdout__", "__stderr__"}
ECHOES = {"echo", "secho", "echo_via_pager", "get_text_stream", "get_binary_stream"}
WRITERS = {"write_line", "write_sep", "ensure_newline", "get_terminal_writer"}
"""What pytest's own reporter offers."""
MODULES = {"rich.console", "rich"}
TAKES = {"Console", "print", "get_console", "print_json"}


def test_one_writer_prints() -> None:
    """No module of the harness prints but by ``nettests.terminal``; the version alone is told before that is loaded."""
    found = {
        f"{relative(path)}: {what}"
        for path in modules("nettests")
        if not relative(path).startswith((WRITER, LAB))
        for _, what in printing(ast.parse(path.read_text("utf-8")))
    }
    assert found == {"nettests/cli/__init__.py: echo"}


@pytest.mark.parametrize(
    "text",
    [
        "print('x')",
        "import click\nclick.echo('x')",
        "import click as c\nc.secho('x')",
        "from click import echo",
        "import sys\nsys.stdout.write('x')",
        "import sys as s\nwrite = s.stderr.write",
        "from sys import stderr",
        "import os\nos.write(1, b'x')",
        "from rich.console import Console",
        "import rich.console",
        "from rich import print",
        "reporter.write_line('x')",
        "import traceback\ntraceback.print_exc()",
        "import logging\nlogging.basicConfig()",
    ],
)
def test_every_way_to_print_is_seen(text: str) -> None:
    """The rule sees the ways in which a module could print."""
    assert list(printing(ast.parse(text)))


def printing(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield the line and the name of what may print."""
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Name(id="print" | "pprint")):
                yield node.lineno, "print"
            case ast.Attribute(attr=name) if name in STREAMS | ECHOES | WRITERS and not _own(node):
                yield node.lineno, name
            case ast.Attribute(attr=name) if name.startswith("print_ex") or name == "basicConfig":
                yield node.lineno, name
            case ast.Call(
                func=ast.Attribute(value=ast.Name(id="os"), attr="write"),
                args=[ast.Constant(value=1 | 2), *_],
            ):
                yield node.lineno, "os.write"
            case ast.Import(names=names) if any(one.name in MODULES for one in names):
                yield node.lineno, "import rich"
            case ast.ImportFrom(module="click" | "sys", names=names) if any(
                one.name in STREAMS | ECHOES for one in names
            ):
                yield node.lineno, "import of a stream"
            case ast.ImportFrom(module=module, names=names) if module in MODULES and any(
                one.name in TAKES for one in names
            ):
                yield node.lineno, "import of rich's console"


def _own(node: ast.Attribute) -> bool:
    """Whether it is what a process said (``done.stdout``), not this process's stream."""
    return not (isinstance(node.value, ast.Name) and _module(node.value.id)) and (
        node.attr in STREAMS
    )


def _module(name: str) -> bool:
    return name in {"sys", "s", "system"}


def test_the_rule_looks_at_the_harness() -> None:
    """The rule reads the modules of commands and plugin: a moved folder would leave it blind."""
    looked = {Path(relative(path)).parts[1] for path in modules("nettests")}
    assert {"cli", "plugin", "session", "terminal"} <= looked
