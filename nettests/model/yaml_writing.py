"""Write YAML for people and for ``kubectl apply``: values in, text out, in their order. Pure.

A text that some reader would take for a number, a boolean or null is quoted: readers of YAML 1.1 (PyYAML,
``kubectl``) and of 1.2 differ in what they guess. ``yaml_text`` reads.
"""

import re
from collections.abc import Iterable
from typing import Any

import yaml


class _Dumper(yaml.SafeDumper):
    """Resolve scalars by YAML 1.2 as well as by PyYAML's 1.1."""

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002 - PyYAML requires it
        """Never write aliases: people read both places."""
        return True


def _text(dumper: Any, text: str) -> Any:
    """Escape line breaks that JSON does not have: PyYAML writes them unescaped, and reads a space."""
    style = '"' if _BREAKS.intersection(text) else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_BREAKS = frozenset("\x85\u2028\u2029")
_Dumper.add_representer(str, _text)


class _Literal(_Dumper):
    """A text of several lines is a block, line by line as it is."""


def _block(dumper: Any, text: str) -> Any:
    lines = "\n" in text and not _BREAKS.intersection(text)
    return (
        dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|")
        if lines
        else _text(dumper, text)
    )


_Literal.add_representer(str, _block)


class _Indented(_Dumper):
    """Sequences are indented by two columns."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:  # noqa: FBT001, FBT002, ARG002 - as PyYAML's
        """Never leave out the indentation of a sequence."""
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
