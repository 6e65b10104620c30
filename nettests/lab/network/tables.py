"""An nft table as a value, and the transactions that turn one state of it into another. Pure.

Only what differs is sent: a change of one Service touches the chains of that Service and the chain
that dispatches to it; everything else stays, with the sets that remember clients and with what a
person changed by hand. ``nft`` may not raise its socket buffer in a user namespace, so one
transaction is limited to what fits into ``net.core.wmem_max``; a larger change is split such that new
chains come first, the dispatching base chains next, and what nothing refers to any more goes last.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from nettests.lab.topology import Address

_LARGEST = 60_000
"""Characters of one transaction; about a third of the default ``wmem_max`` once it is netlink."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chain:
    """Rules; with ``hook`` (type, hook, priority) a base chain."""

    rules: tuple[str, ...]
    hook: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table of family ``ip`` or ``ip6``: chains, definitions of sets and of ``ct timeout`` objects by name.

    The latter are there from the beginning, or not at all: ``render`` knows them, differences do not.
    """

    name: str
    family: str = "ip"
    chains: Mapping[str, Chain] = field(default_factory=dict)
    sets: Mapping[str, str] = field(default_factory=dict)
    timeouts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def label(self) -> str:
        """Family and name, as nft's commands want them."""
        return f"{self.family} {self.name}"


def word(address: Address) -> str:
    """Return what nft calls the family of an address: ``ip`` or ``ip6``."""
    return "ip" if address.version == 4 else "ip6"


def replacement(new: Table) -> list[str]:
    """Return transactions that put ``new`` in the place of whatever has its name."""
    clean = f"add table {new.label}\ndelete table {new.label}\n"
    first, *rest = transactions(Table(name=new.name, family=new.family), new) or [""]
    return [clean + f"add table {new.label}\n" + first, *rest]


def transactions(old: Table, new: Table) -> list[str]:
    """Return the transactions, one as a rule, that turn ``old`` into ``new``; none if they are equal."""
    units = [
        *_added_sets(old, new),
        *_added_chains(old, new),
        *_changed_chains(old, new),
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


def _added_sets(old: Table, new: Table) -> Iterable[str]:
    for name, definition in new.sets.items():
        if name not in old.sets:
            yield f"add set {new.label} {name} {{ {definition} }}\n"


def _added_chains(old: Table, new: Table) -> Iterable[str]:
    for name, chain in new.chains.items():
        if name not in old.chains:
            hook = f" {{ {chain.hook}; }}" if chain.hook else ""
            yield f"add chain {new.label} {name}{hook}\n"


def _changed_chains(old: Table, new: Table) -> Iterable[str]:
    """Base chains last: they dispatch to the others."""
    for name, chain in sorted(new.chains.items(), key=lambda item: item[1].hook is not None):
        before = old.chains.get(name)
        if before == chain:
            continue
        flush = f"flush chain {new.label} {name}\n" if before else ""
        yield flush + "".join(f"add rule {new.label} {name} {rule}\n" for rule in chain.rules)


def _removed(old: Table, new: Table) -> Iterable[str]:
    chains = [name for name in old.chains if name not in new.chains]
    yield from (f"flush chain {new.label} {name}\n" for name in chains)
    yield from (f"delete chain {new.label} {name}\n" for name in chains)
    yield from (f"delete set {new.label} {name}\n" for name in old.sets if name not in new.sets)


def render(table: Table) -> str:
    """Return the whole table as a ruleset a person can read and ``nft -f`` can load."""
    lines = [f"table {table.label} {{"]
    lines += [f" set {name} {{ {definition} }}" for name, definition in table.sets.items()]
    for name, definition in table.timeouts.items():
        lines += [f" ct timeout {name} {{", *(f"  {line}" for line in definition), " }"]
    for name, chain in table.chains.items():
        lines.append(f" chain {name} {{")
        lines += [f"  {chain.hook};"] if chain.hook else []
        lines += [f"  {rule}" for rule in chain.rules]
        lines.append(" }")
    return "\n".join([*lines, "}"]) + "\n"
