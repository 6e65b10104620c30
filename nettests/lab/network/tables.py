"""An nft table as a value, and the transactions that turn one state of it into another. Pure.

Only differences are sent: a change of one Service touches its chains and its elements of the dispatch maps;
everything else stays, including the sets that remember clients. ``nft`` cannot raise its socket buffer in a user namespace,
so a transaction is limited to ``net.core.wmem_max``; a larger change is split: new chains first, then the elements and
base chains that dispatch to them, and removals last.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import islice

from nettests.lab.topology import Address

_LARGEST = 30_000
"""Characters of one transaction. A rule that translates by a map takes five times its length in netlink, and the
default ``wmem_max`` is 212,992 bytes."""
_ELEMENTS_AT_ONCE = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Chain:
    """A chain of rules; with ``hook`` (type, hook, priority) a base chain."""

    rules: tuple[str, ...]
    hook: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Lookup:
    """A named set or map that rules look up; ``type`` is nft's.

    ``elements`` maps keys to verdicts, which are empty in a set.
    """

    type: str
    elements: Mapping[str, str]

    @property
    def kind(self) -> str:
        """nft's keyword: ``map`` or ``set``."""
        return "map" if ":" in self.type else "set"


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table: chains, lookups, definitions of sets and of ``ct timeout`` objects by name.

    ``sets`` get their elements from rules, ``lookups`` from here; their definitions never change.
    Only ``render`` writes timeouts; differences leave them out.
    """

    name: str
    family: str = "ip"
    chains: Mapping[str, Chain] = field(default_factory=dict)
    sets: Mapping[str, str] = field(default_factory=dict)
    lookups: Mapping[str, Lookup] = field(default_factory=dict)
    timeouts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def label(self) -> str:
        """Family and name, as in nft commands."""
        return f"{self.family} {self.name}"

    @property
    def removal(self) -> str:
        """The commands that remove the table; no error if it is not loaded."""
        return f"add table {self.label}\ndelete table {self.label}\n"


def word(address: Address) -> str:
    """Return nft's keyword for the family of an address: ``ip`` or ``ip6``."""
    return "ip" if address.version == 4 else "ip6"


def place(address: Address, port: int) -> str:
    """Return address and port for a ``dnat`` statement: ``10.244.1.5:80``, ``[fd00::5]:80``."""
    return f"{address}:{port}" if address.version == 4 else f"[{address}]:{port}"


def replacement(new: Table) -> list[str]:
    """Return the transactions that replace any table of this name by ``new``."""
    first, *rest = transactions(Table(name=new.name, family=new.family), new) or [""]
    return [new.removal + f"add table {new.label}\n" + first, *rest]


def transactions(old: Table, new: Table) -> list[str]:
    """Return the transactions, usually one, that turn ``old`` into ``new``; none if they are equal."""
    units = [
        *_added(old, new),
        *_changed_chains(old, new, base=False),
        *_changed_elements(old, new),
        *_changed_chains(old, new, base=True),
        *_removed(old, new),
    ]
    if not units:
        return []
    texts = [f"add table {new.label}\n"]
    for unit in units:
        if len(texts[-1]) + len(unit) > _LARGEST:
            texts.append("")
        texts[-1] += unit
    return texts


def _added(old: Table, new: Table) -> Iterable[str]:
    for name, definition in new.sets.items():
        if name not in old.sets:
            yield f"add set {new.label} {name} {{ {definition} }}\n"
    for name, lookup in new.lookups.items():
        if name not in old.lookups:
            yield f"add {lookup.kind} {new.label} {name} {{ type {lookup.type}; }}\n"
    for name, chain in new.chains.items():
        if name not in old.chains:
            hook = f" {{ {chain.hook}; }}" if chain.hook else ""
            yield f"add chain {new.label} {name}{hook}\n"


def _changed_chains(old: Table, new: Table, *, base: bool) -> Iterable[str]:
    """Yield changed chains; the caller takes base chains last, as they dispatch to the others."""
    for name, chain in new.chains.items():
        before = old.chains.get(name)
        if (chain.hook is not None) != base or before is chain or before == chain:
            continue
        flush = f"flush chain {new.label} {name}\n" if before else ""
        yield flush + "".join(f"add rule {new.label} {name} {rule}\n" for rule in chain.rules)


def _changed_elements(old: Table, new: Table) -> Iterable[str]:
    """Delete and add changed elements; nft cannot replace them."""
    for name, lookup in new.lookups.items():
        before = old.lookups[name].elements if name in old.lookups else {}
        gone = [key for key, to in before.items() if lookup.elements.get(key) != to]
        come = [
            f"{key} : {to}" if to else key
            for key, to in lookup.elements.items()
            if before.get(key) != to
        ]
        yield from _elements(f"delete element {new.label} {name}", gone)
        yield from _elements(f"add element {new.label} {name}", come)


def _elements(command: str, elements: Iterable[str]) -> Iterable[str]:
    rest = iter(elements)
    while some := list(islice(rest, _ELEMENTS_AT_ONCE)):
        yield f"{command} {{ {', '.join(some)} }}\n"


def _removed(old: Table, new: Table) -> Iterable[str]:
    chains = [name for name in old.chains if name not in new.chains]
    yield from (f"flush chain {new.label} {name}\n" for name in chains)
    # Removed lookups come before removed chains, to which their elements may lead.
    for name, lookup in old.lookups.items():
        if name not in new.lookups:
            yield f"delete {lookup.kind} {new.label} {name}\n"
    yield from (f"delete chain {new.label} {name}\n" for name in chains)
    yield from (f"delete set {new.label} {name}\n" for name in old.sets if name not in new.sets)


def render(table: Table) -> str:
    """Return the whole table as a readable ruleset for ``nft -f``."""
    lines = [f"table {table.label} {{"]
    lines += [f" set {name} {{ {definition} }}" for name, definition in table.sets.items()]
    for name, lookup in table.lookups.items():
        elements = ", ".join(f"{key} : {to}" if to else key for key, to in lookup.elements.items())
        held = f" elements = {{ {elements} }};" if elements else ""
        lines.append(f" {lookup.kind} {name} {{ type {lookup.type};{held} }}")
    for name, definition in table.timeouts.items():
        lines += [f" ct timeout {name} {{", *(f"  {line}" for line in definition), " }"]
    for name, chain in table.chains.items():
        lines.append(f" chain {name} {{")
        lines += [f"  {chain.hook};"] if chain.hook else []
        lines += [f"  {rule}" for rule in chain.rules]
        lines.append(" }")
    return "\n".join([*lines, "}"]) + "\n"
