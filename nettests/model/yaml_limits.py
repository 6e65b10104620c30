"""Whether a YAML text is small enough to be built: its size, depth, aliases, and their expansion.

Reads the parser's events, without building anything. An alias counts as much as what its anchor stands for, so that a
few lines cannot become millions of nodes.
"""

from dataclasses import dataclass, field
from typing import Any

import yaml

from nettests.model import limits
from nettests.model.limits import TooMuchError, spelled

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(slots=True)
class _Open:
    """A collection that is being read, with its nodes and height so far."""

    anchor: str | None = None
    nodes: int = 1
    height: int = 1


@dataclass(slots=True)
class _Count:
    open: list[_Open] = field(default_factory=lambda: [_Open()])
    anchors: dict[str, tuple[int, int]] = field(default_factory=dict)
    """Nodes and height of what an anchor stands for."""
    aliases: int = 0

    def add(self, nodes: int, height: int, anchor: str | None = None) -> None:
        """Count a node that is complete."""
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
    """Raise ``TooMuchError`` if the text exceeds a limit, ``yaml.YAMLError`` if it is no YAML."""
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
