"""Read YAML with JSON's types and the line of every part, within limits; write it for people. Pure.

Used by ``document``. PyYAML's C parser finds the structure, as every command reads the shipped
manifests: it takes a twentieth of the time of a Python parser. Values that YAML 1.1 guesses (``on``
for true, dates, octal and sexagesimal numbers) stay text, as in 1.2; a duplicate key is an error.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import yaml

from nettests.errors import ManifestError
from nettests.model import limits
from nettests.model.limits import TooMuchError, spelled

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(slots=True)
class _Open:
    anchor: str | None = None
    nodes: int = 1
    height: int = 1


@dataclass(slots=True)
class _Count:
    open: list[_Open] = field(default_factory=lambda: [_Open()])
    anchors: dict[str, tuple[int, int]] = field(default_factory=dict)
    """Nodes and height of each anchor's value."""
    aliases: int = 0

    def add(self, nodes: int, height: int, anchor: str | None = None) -> None:
        """Count a complete node."""
        if anchor:
            self.anchors[anchor] = (nodes, height)
        last = self.open[-1]
        last.nodes += nodes
        last.height = max(last.height, height + 1)
        if last.nodes > limits.NODES:
            raise TooMuchError(f"its aliases stand for more than {limits.NODES} nodes")
        if len(self.open) - 1 + height > limits.DEPTH:
            raise TooMuchError(f"it is nested more than {limits.DEPTH} levels deep")

    def alias(self, anchor: str) -> None:
        """Count the nodes that an alias stands for."""
        self.aliases += 1
        if self.aliases > limits.ALIASES:
            raise TooMuchError(f"it has more than {limits.ALIASES} aliases")
        if any(node.anchor == anchor for node in self.open):
            raise TooMuchError(f"its alias {anchor!r} stands for a part of itself")
        self.add(*self.anchors.get(anchor, (1, 1)))  # an undefined alias is an error of YAML


def bound_yaml(text: str) -> None:
    """Raise ``TooMuchError`` if the text exceeds a limit, ``yaml.YAMLError`` if it is not YAML."""
    size = len(text.encode(errors="surrogatepass"))
    if size > limits.YAML_BYTES:
        raise TooMuchError(f"it is larger than {spelled(limits.YAML_BYTES)}")
    count = _Count()
    loader = _LOADER(text)
    try:
        while loader.check_event():
            _count(loader.get_event(), count)
    finally:
        loader.dispose()


def _count(event: yaml.Event, count: _Count) -> None:
    match event:
        case yaml.CollectionStartEvent():
            count.open.append(_Open(anchor=event.anchor))
            if len(count.open) - 1 > limits.DEPTH:
                raise TooMuchError(f"it is nested more than {limits.DEPTH} levels deep")
        case yaml.CollectionEndEvent():
            done = count.open.pop()
            count.add(done.nodes, done.height, done.anchor)
        case yaml.ScalarEvent():
            count.add(1, 1, event.anchor)
        case yaml.AliasEvent():
            count.alias(str(event.anchor))


Path = tuple[str | int, ...]

_C_OR_PYTHON: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _Loader(_C_OR_PYTHON):  # type: ignore[misc]
    """Resolve only the scalars of YAML 1.2's core schema."""

    yaml_implicit_resolvers: dict[str, Any] = {}  # noqa: RUF012 - how PyYAML is told


for _tag, _pattern, _first in (
    ("null", r"~|null|Null|NULL|", ["~", "n", "N", ""]),
    ("bool", r"true|True|TRUE|false|False|FALSE", list("tTfF")),
    ("int", r"[-+]?(?:0|[1-9][0-9]*)", list("-+0123456789")),
    ("float", r"[-+]?[0-9]+\.[0-9]*(?:[eE][-+]?[0-9]+)?", list("-+0123456789")),
):
    _Loader.add_implicit_resolver(
        f"tag:yaml.org,2002:{_tag}", re.compile(f"(?:{_pattern})$"), _first
    )


def read_yaml(text: str, file: str) -> tuple[Any, Mapping[Path, int]]:
    """Return the data and the line, from 1, of each path; ``ManifestError`` if it is not YAML."""
    try:
        bound_yaml(text)
    except TooMuchError as error:
        raise ManifestError(f"{file}: not read: {error}") from error
    except (yaml.YAMLError, UnicodeError):
        pass  # invalid YAML is reported below, with its line
    try:
        loader = _Loader(text)
    except (yaml.YAMLError, UnicodeError) as error:
        raise ManifestError(f"{file}: not valid YAML: {error}") from error
    try:
        root = loader.get_single_node()
        lines: dict[Path, int] = {}
        if root is None:
            return None, lines
        _place(root, (), lines, file)
        return loader.construct_document(root), lines
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise _broken(file, mark, str(error.problem)) from error
    except (yaml.YAMLError, ValueError) as error:  # also a number with thousands of digits
        raise ManifestError(f"{file}: not valid YAML: {error}") from error
    finally:
        loader.dispose()


def _broken(file: str, mark: yaml.Mark | None, problem: str) -> ManifestError:
    line = mark.line + 1 if mark else 1
    return ManifestError(f"{file}:{line}: not valid YAML: {problem}")


def _place(node: yaml.Node, path: Path, lines: dict[Path, int], file: str) -> None:
    """Record the line of every part; an alias gets the line of its anchor."""
    if isinstance(node, yaml.SequenceNode):
        for index, item in enumerate(node.value):
            lines[*path, index] = item.start_mark.line + 1
            _place(item, (*path, index), lines, file)
    elif isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            here = (*path, str(key.value))
            if here in lines:
                problem = f"found duplicate key {key.value!r}, first in line {lines[here]}"
                raise _broken(file, key.start_mark, problem)
            lines[here] = key.start_mark.line + 1
            _place(value, here, lines, file)


def plain_yaml(text: str) -> Any:
    """Parse YAML from a cluster; ``ManifestError`` if it is not YAML or exceeds a limit."""
    return read_yaml(text, "it")[0]


class _Dumper(yaml.SafeDumper):
    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002 - PyYAML requires it
        """Never write aliases: people read both places."""
        return True


def _text(dumper: Any, text: str) -> Any:
    """Escape line breaks unknown to JSON: PyYAML writes them unescaped and reads a space."""
    style = '"' if _BREAKS.intersection(text) else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_BREAKS = frozenset("\x85\u2028\u2029")
_Dumper.add_representer(str, _text)


class _Literal(_Dumper):
    """Write multi-line text as a literal block."""


def _block(dumper: Any, text: str) -> Any:
    lines = "\n" in text and not _BREAKS.intersection(text)
    return (
        dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|")
        if lines
        else _text(dumper, text)
    )


_Literal.add_representer(str, _block)


class _Indented(_Dumper):
    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:  # noqa: FBT001, FBT002, ARG002 - as PyYAML's
        """Always indent a sequence."""
        super().increase_indent(flow, indentless=False)


for _tag, _pattern, _first in (
    ("int", r"0o[0-7]+|0x[0-9a-fA-F]+", ["0"]),
    ("float", r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?", list("-+.0123456789")),
):
    for _of in (_Dumper, _Literal, _Indented):
        _of.add_implicit_resolver(
            f"tag:yaml.org,2002:{_tag}", re.compile(f"(?:{_pattern})$"), _first
        )


def write_yaml(
    item: Any, *, width: int = 80, ascii_only: bool = False, literal: bool = False
) -> str:
    """Return one document in block style; with ``ascii_only`` all control characters are escaped.

    With ``literal`` a text of several lines is written as a block, so that people can read it.
    """
    text: str = yaml.dump(
        item,
        Dumper=_Literal if literal else _Dumper,
        default_flow_style=False,
        sort_keys=False,
        width=width,
        allow_unicode=not ascii_only,
    )
    return text


def write_compact_yaml(items: Iterable[Any]) -> str:
    """Return documents whose innermost collections take one line each, in ASCII."""
    text: str = yaml.dump_all(items, Dumper=_Indented, default_flow_style=None, sort_keys=False)
    return text
