"""The profiles of the Windows firewall in effect on a node.

No rule is declared here: whether it is on is a fact, by which ``probes.host_facts`` completes what discovery knows.
Source: Microsoft, ``Get-NetFirewallProfile`` (``ActiveStore`` holds group policies and the node's own settings together).
"""

import json
from collections.abc import Mapping

from nettests.model.powershell import as_json, read_shown, to_the_end
from nettests.rules.evidence import Object
from nettests.rules.readings import ToolOutput


def _keep(text: str) -> str:
    """Keep whether each profile is on."""
    # sample: [{"Name":"Domain","Enabled":"True"},{"Name":"Private","Enabled":"True"},{"Name":"Public","Enabled":"False"}]
    return json.dumps([{key: row[key] for key in ("Name", "Enabled")} for row in _rows(text)])


def _rows(text: str) -> list[Object]:
    loaded = read_shown(text)
    return loaded if isinstance(loaded, list) else [loaded]


PROFILES = ToolOutput(
    name="firewall-profiles",
    words=to_the_end(
        as_json(
            "Get-NetFirewallProfile -PolicyStore ActiveStore -ErrorAction Stop "
            "| Select-Object -Property @('Name', @{Name='Enabled'; Expression={[string]$_.Enabled}})",
            depth=2,
        )
    ),
    keep=_keep,
)
_ON, _OFF = frozenset({1, "True"}), frozenset({0, "False"})
"""How PowerShell prints a ``GpoBoolean``: as a word, which the script has it print; journals of former versions have a number."""


def profiles_of(text: str) -> Mapping[str, bool]:
    """Return which profiles are on; ``ValueError`` where the text says something else."""
    try:
        states = {str(row["Name"]): row["Enabled"] for row in _rows(text)}
    except (TypeError, LookupError) as error:
        raise ValueError("it names no profile") from error
    if not states or any(value not in _ON | _OFF for value in states.values()):
        raise ValueError(f"it is neither on nor off in all profiles: {text}")
    return {name: value in _ON for name, value in states.items()}
