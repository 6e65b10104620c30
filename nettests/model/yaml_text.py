"""Parse YAML with JSON's types, with the line of every part.

Used by ``document``. PyYAML's C parser finds the structure, because every command reads the shipped manifests: it
takes a twentieth of the time of a parser in Python. Values that YAML 1.1 guesses (``on`` for true, dates, octal and
sexagesimal numbers) stay text, as in YAML 1.2, and a duplicate key is an error.
"""

import re
from collections.abc import Mapping
from typing import Any

import yaml

from nettests.errors import ManifestError
from nettests.model.limits import TooMuchError
from nettests.model.yaml_limits import bound_yaml

Path = tuple[str | int, ...]

_C_OR_PYTHON: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _Loader(_C_OR_PYTHON):  # type: ignore[misc]
    """Scalars of YAML 1.2's core schema and nothing else."""

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
    """Return the data and the line, from 1, of each path; ``ManifestError`` if it is no YAML."""
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
    except (yaml.YAMLError, ValueError) as error:  # also a number of thousands of digits
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
    """Return the data in a text of a cluster; ``ManifestError`` if it is no YAML or exceeds a limit."""
    return read_yaml(text, "it")[0]
