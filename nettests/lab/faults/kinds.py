"""The kinds of faults (``kinds.yaml``), with their options and effects. Values.

Help, reference and validation of options use this table; ``targets.FAULTS`` has an action for each row.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from nettests.lab.data_files import read_yaml
from nettests.lab.errors import LabError, nearest
from nettests.lab.programs.windows.broken_tools import broken_tools

_DATA = read_yaml(__package__, "kinds.yaml")
_TOOLS_FOLLOW = "program-missing"
"""The kind after which those of ``broken_tools`` are listed."""


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of fault; the options in ``needs`` are required."""

    name: str
    summary: str
    options: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()

    @property
    def synopsis(self) -> str:
        """Name and options, as on a command line."""
        places = _DATA["places"]
        words = [f"--{need} {places[need]}" for need in self.needs]
        words += [
            f"[--{option} {places[option]}]" for option in self.options if option not in self.needs
        ]
        return " ".join((self.name, *words))


def _read() -> Iterator[Kind]:
    for name, row in _DATA["kinds"].items():
        options, needs = (tuple(row.get(key, "").split()) for key in ("options", "needs"))
        yield Kind(name, row["summary"], options, needs)
        if name == _TOOLS_FOLLOW:
            yield from (
                Kind(tool, each.summary, ("node",)) for tool, each in broken_tools().items()
            )


KINDS = tuple(_read())
"""All kinds: the network first, then Services, names, nodes, and the API."""


def checked(name: str, options: Collection[str]) -> Kind:
    """Return the kind of that name; ``LabError`` if there is none, or if options do not fit."""
    kinds = {kind.name: kind for kind in KINDS}
    if name not in kinds:
        raise LabError(
            f'There is no fault "{name}".',
            hint=f"{nearest(name, kinds)}Faults: {', '.join(sorted(kinds))}.",
        )
    kind = kinds[name]
    missing = [f"--{need}" for need in kind.needs if need not in options]
    if missing:
        raise LabError(f"{name} needs {', '.join(missing)}.", hint=kind.synopsis)
    unknown = [f"--{option}" for option in options if option not in kind.options]
    if unknown:
        raise LabError(f"{name} takes no {', '.join(unknown)}.", hint=kind.synopsis)
    return kind
