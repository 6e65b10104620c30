"""Scripts of PowerShell: each is one by its grammar, and shows when its output was cut short."""

import ast
import importlib
import pkgutil
from collections.abc import Iterator
from pathlib import Path

import pytest
import tree_sitter_powershell
from tree_sitter import Language, Node, Parser

from nettests import rules
from nettests.diagnose.inventory import WINDOWS
from nettests.model.powershell import (
    END,
    POWERSHELL,
    as_json,
    powershell,
    read_shown,
    to_the_end,
    whole_output,
)
from nettests.model.words import OS, Family
from nettests.probes import client_scripts, commands, origin
from nettests.rules.readings import ToolOutput

PACKAGE = Path(rules.__file__).parents[1]
PARSER = Parser(Language(tree_sitter_powershell.language()))
MAKERS = {"powershell", "to_the_end"}
"""Functions that make a command of a script; modules that call them have to be among those below."""


def readings() -> Iterator[ToolOutput]:
    """Yield the readings of tools that modules of rules declare."""
    for module in pkgutil.iter_modules(rules.__path__, f"{rules.__name__}."):
        declared = vars(importlib.import_module(module.name)).values()
        yield from (value for value in declared if isinstance(value, ToolOutput))


def scripts() -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield every command that runs a script, with a name."""
    yield from ((reading.name, reading.words) for reading in readings())
    yield from ((command.file, command.words) for command in WINDOWS)
    yield from client_scripts.TRIALS.items()
    yield "resolve-dnsname", origin.RESOLVE_DNSNAME
    yield "lookup", commands.resolve_dnsname("web.demo.svc.cluster.local", Family.IPV6)
    yield "idle client", client_scripts.ECHO.words(OS.WINDOWS, "10.0.0.1", 80, 5)
    yield "web client", client_scripts.WEB.words(OS.WINDOWS, "10.0.0.1", 80, 5)
    yield "flow client", client_scripts.FLOW.words(OS.WINDOWS, "10.0.0.1", 81, 2)


SCRIPTS = {name: words[-1] for name, words in scripts() if words[: len(POWERSHELL)] == POWERSHELL}


def errors(script: str) -> list[str]:
    """Return the places that are none of the language's."""

    def walk(node: Node) -> Iterator[str]:
        if node.is_error or node.is_missing:
            yield script[node.start_byte : node.start_byte + 60]
        for child in node.children:
            yield from walk(child)

    return list(walk(PARSER.parse(script.encode()).root_node))


@pytest.mark.parametrize("name", sorted(SCRIPTS))
def test_a_script_is_one_by_its_grammar(name: str) -> None:
    """What does not parse would fail on a node alone, where no test runs."""
    assert not errors(SCRIPTS[name])


@pytest.mark.parametrize("script", ["if (Test-Path 'a' { 1 }", "@(1, 2", "Get-Item 'a"])
def test_what_is_no_script_is_seen(script: str) -> None:
    """The grammar refuses what PowerShell would refuse."""
    assert errors(script)


def test_every_module_with_a_script_is_among_them() -> None:
    """A module that makes commands of scripts is one whose commands are parsed above."""
    makers = {
        ".".join(("nettests", *path.relative_to(PACKAGE).with_suffix("").parts))
        for path in PACKAGE.rglob("*.py")
        if not path.is_relative_to(PACKAGE / "lab") and makes_scripts(path)
    }
    parsed = {
        origin.__name__,
        commands.__name__,
        client_scripts.__name__,
        "nettests.diagnose.inventory",
        "nettests.model.powershell",
        *(name for name in makers if name.startswith(f"{rules.__name__}.")),  # by ``readings``
    }
    assert makers == parsed


def makes_scripts(path: Path) -> bool:
    """Whether a module calls one of the makers."""
    calls = (
        node for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.Call)
    )
    return any(isinstance(call.func, ast.Name) and call.func.id in MAKERS for call in calls)


def test_scripts_that_read_a_node_stop_at_an_error_and_say_that_they_ended() -> None:
    """The exit code alone is that of the last command; an output may be lost while it is 0."""
    read = {name: SCRIPTS[name] for name in ("hns-networks", "kubelet-settings", "services.txt")}
    for script in read.values():
        assert script.startswith("$ErrorActionPreference = 'Stop'; ")
        assert script.endswith(f"; '{END}'")


@pytest.mark.parametrize(
    ("output", "whole"),
    [
        (f"[]\r\n{END}\r\n", "[]\r\n"),
        (f"{END}\n", ""),
        (f"a\n{END}\n{END}\n", f"a\n{END}\n"),
        ("[]\r\n", None),
        ("", None),
        (f'["{END}"]\n', None),
        (f"[]\n{END}\nmore\n", None),
    ],
)
def test_an_output_without_its_end_is_not_whole(output: str, whole: str | None) -> None:
    """The mark stands on the last line, by itself."""
    assert whole_output(to_the_end("Get-Date"), output) == whole


def test_other_commands_print_no_mark() -> None:
    """What they print is taken as it is."""
    assert whole_output(powershell("Get-Date -Format o"), "today") == "today"
    assert whole_output(("ipconfig.exe",), "") == ""


def test_no_one_and_several_objects_make_an_array() -> None:
    """Piped to ConvertTo-Json one object would be no array, and none would print nothing."""
    script = as_json("Get-Item 'a' -ErrorAction Stop", depth=3)
    assert (
        script == "ConvertTo-Json -InputObject @(Get-Item 'a' -ErrorAction Stop) -Depth 3 -Compress"
    )
    assert read_shown("[]") == []
    assert read_shown('{"value":[{"a":1}],"Count":1}') == [{"a": 1}]
    assert read_shown('{"value":1,"Count":1}') == {"value": 1, "Count": 1}
