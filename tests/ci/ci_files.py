"""The files of ``ci/`` as values: what they say, and the shell that they hold."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]
GITHUB, GITLAB, AZURE, PROW = FILES = (
    "ci/github-actions.yml",
    "ci/gitlab-ci.yml",
    "ci/azure-pipelines.yml",
    "ci/prow.yaml",
)
_SHELL = {"run", "before_script", "script", "bash", "args"}
"""Keys whose text is shell."""


def text_of(file: str) -> str:
    """The text of a CI file."""
    return (ROOT / file).read_text("utf-8")


def read(file: str) -> Any:
    """What a CI file says."""
    return yaml.safe_load(text_of(file))


def shells(said: object) -> list[str]:
    """Every piece of shell below a value, in its order."""
    return list(_shells(said))


def _shells(said: object) -> Iterator[str]:
    for key, below in _below(said):
        texts = below if isinstance(below, list) else [below]
        lines = [text for text in texts if isinstance(text, str)]
        if key in _SHELL and len(lines) == len(texts):
            yield from lines
        else:
            yield from _shells(below)


def _below(said: object) -> list[tuple[object, object]]:
    if isinstance(said, dict):
        return list(said.items())
    return [("", one) for one in said] if isinstance(said, list) else []


def command_lines(file: str) -> Iterator[str]:
    """Each command of a CI file's shell on a line of its own; words that are kept for ``nettests run`` with that name."""
    for shell in shells(read(file)):
        for line in shell.replace("\\\n", " ").splitlines():
            # sample: "if [ -f baseline.yaml ]; then set -- \"$@\" --baseline baseline.yaml --fail-on new; fi"
            for command in re.split(r"; (?:then )?", line.strip()):
                yield re.sub(r"^set -- (?:\"\$@\" )?", "nettests run ", command)
