"""YAML documents from users: parsed, validated; errors with file, line, key and nearest valid key.

Used for limitation manifests and cluster profiles. Takes text and a JSON Schema (draft 2020-12);
the file name only appears in messages.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from jsonschema import Draft202012Validator, ValidationError

from nettests.errors import ManifestError
from nettests.model.nearest import nearest
from nettests.model.visible import one_line
from nettests.model.yaml_text import read_yaml

Path = Sequence[str | int]

SHOWN = 5
"""Mistakes reported at once."""
_VALUE_LENGTH = 80
"""Characters of a wrong value that a message repeats."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """One valid document: plain nested data, and the line of each part."""

    file: str
    data: Any
    lines: Mapping[tuple[str | int, ...], int]

    def line(self, path: Path = ()) -> int:
        """Return the line, from 1, of the deepest part of ``path`` with a known position."""
        whole = tuple(path)
        ends = (whole[:length] for length in range(len(whole), 0, -1))
        return next((self.lines[end] for end in ends if end in self.lines), 1)

    def error(self, path: Path, problem: str, *, hint: str = "") -> ManifestError:
        """Return an error about the value at ``path``."""
        where = f"{_dotted(path)}: " if path else ""
        return ManifestError(f"{self.file}:{self.line(path)}: {where}{problem}", hint=hint)


def read_document(text: str, file: str, schema: Mapping[str, Any]) -> Document:
    """Parse the document in ``text``; ``ManifestError`` if it is no YAML or violates the schema."""
    data, lines = read_yaml(text, file)
    document = Document(file=file, data=data, lines=lines)
    problems = Draft202012Validator(schema).iter_errors(document.data)
    mistakes = sorted(
        {mistake for problem in problems for mistake in _mistakes(document, _deepest(problem))}
    )
    if mistakes:
        raise _error(document, mistakes)
    return document


def _error(document: Document, mistakes: Sequence[tuple[int, str, str]]) -> ManifestError:
    lines = [f"{document.file}:{line}: {text}" for line, text, _ in mistakes[:SHOWN]]
    if len(mistakes) > SHOWN:
        lines.append(f"{document.file}: {len(mistakes) - SHOWN} more mistakes")
    hints = [hint for _, _, hint in mistakes[:SHOWN] if hint]
    return ManifestError("\n".join(lines), hint="; ".join(dict.fromkeys(hints)))


def _deepest(problem: ValidationError) -> ValidationError:
    """Return the branch of an ``anyOf`` that matched deepest: most likely the intended one."""
    while problem.context:
        problem = max(problem.context, key=lambda branch: len(branch.absolute_path))
    return problem


def _mistakes(document: Document, problem: ValidationError) -> Iterator[tuple[int, str, str]]:
    path = list(problem.absolute_path)
    schema = problem.schema if isinstance(problem.schema, Mapping) else {}
    wanted: Any = problem.validator_value
    instance: Any = problem.instance
    match problem.validator:
        case "additionalProperties":
            allowed = [str(key) for key in schema.get("properties", {})]
            for key in map(str, instance):
                if key not in allowed:
                    here = [*path, key]
                    yield _worded(document, here, f"unknown key {key!r}", nearest(key, allowed))
        case "required":
            missing = [key for key in wanted if key not in instance]
            yield _worded(document, path, f"{', '.join(missing)} is missing")
        case "enum":
            allowed = [str(value) for value in wanted]
            text = f"{one_line(repr(instance), limit=_VALUE_LENGTH)} is not one of the valid values"
            yield _worded(document, path, text, nearest(str(instance), allowed))
        case "type" if isinstance(instance, float):
            text = f"{instance!r} is a number; write a version in quotes"
            yield _worded(document, path, text)
        case _:
            # jsonschema repeats the value, which may be the whole file.
            value = one_line(repr(instance), limit=_VALUE_LENGTH)
            yield _worded(document, path, problem.message.replace(repr(instance), value))


def _worded(document: Document, path: Path, text: str, hint: str = "") -> tuple[int, str, str]:
    where = f"{_dotted(path)}: " if path else ""
    return (document.line(path), f"{where}{text}", hint)


def _dotted(path: Path) -> str:
    return ".".join(str(part) for part in path)
