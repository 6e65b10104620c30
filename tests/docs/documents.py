"""The documents of the repository, and their fenced blocks, as values."""

import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
PLACES = ("*.md", "docs/**/*.md", "reports/*.md", "nettests/**/*.md", "manifests/**/*.md")

_BLOCK = re.compile(
    # sample: "<!-- test: run -->\n```sh\nnettests lab profiles\n```\n"
    # sample: "<!-- test: file acme.yaml -->\n```yaml\nkind: LimitationManifest\n```\n"
    # sample: "<!-- test: copy reports/sample/results.json -->\n"
    # sample: "```text\nLIFTED windows-1 pod …\n```\n"
    r"^(?:<!-- test: (?P<action>run|file|copy|clusters?) ?(?P<name>[^\n]*?) -->\n)?"
    r"(?:```(?P<language>\w+)\n(?P<text>.*?)^```$)?",
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A fenced block. ``action`` says what a mark above it requests: run, file, copy, cluster, clusters or nothing."""

    document: str
    line: int
    action: str
    name: str
    language: str
    text: str

    @property
    def place(self) -> str:
        """``docs/guides/the-lab.md:12``."""
        return f"{self.document}:{self.line}"


@cache
def documents() -> tuple[str, ...]:
    """Every Markdown file that is the repository's own."""
    found = {path for place in PLACES for path in ROOT.glob(place)}
    made = (ROOT / "reports" / "sample", ROOT / "nettests" / "_bundled")
    own = (path for path in found if not any(path.is_relative_to(folder) for folder in made))
    return tuple(sorted(str(path.relative_to(ROOT)) for path in own))


def text_of(document: str) -> str:
    """The text of a document."""
    return (ROOT / document).read_text("utf-8")


@cache
def blocks(document: str) -> tuple[Block, ...]:
    """The fenced blocks and marks of a document, in their order."""
    text = text_of(document)
    return tuple(
        Block(
            document=document,
            line=text.count("\n", 0, found.start()) + 1,
            action=found["action"] or "",
            name=found["name"] or "",
            language=found["language"] or "",
            text=found["text"] or "",
        )
        for found in _BLOCK.finditer(text)
        if found["action"] or found["language"]
    )


def every_block(*languages: str) -> list[Block]:
    """The blocks of all documents in these languages."""
    return [
        block
        for document in documents()
        for block in blocks(document)
        if block.language in languages
    ]


def prose(document: str) -> str:
    """A document without its fenced blocks."""
    return re.sub(r"^```.*?^```$", "", text_of(document), flags=re.MULTILINE | re.DOTALL)


def commands(block: Block) -> Iterator[str]:
    """The command lines of a shell or console block, continued lines joined, comments left out."""
    joined = block.text.replace("\\\n", " ")
    for line in joined.splitlines():
        if block.language == "console" and not line.startswith("$ "):
            continue
        yield textwrap.dedent(line.removeprefix("$ ")).partition(" #")[0]


def rows(document: str, header: str) -> list[list[str]]:
    """The cells of the table that begins with ``header``, row by row."""
    lines = text_of(document).partition(f"\n{header}\n")[2].splitlines()[1:]
    table = []
    for line in lines:
        if not line.startswith("|"):
            break
        table.append([cell.strip() for cell in line.strip("|").split(" | ")])
    return table
