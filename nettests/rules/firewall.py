"""The profiles of the Windows firewall in effect on a node.

No rule is declared here: whether it is on is a fact, by which ``probes.host_facts`` completes what discovery knows.
Source: Microsoft, ``Get-NetFirewallProfile`` (``ActiveStore`` holds group policies and the node's own settings together).
"""

import json
from collections.abc import Mapping

from nettests.model.json_text import read_json
from nettests.model.powershell import powershell
from nettests.rules.evidence import Object
from nettests.rules.readings import ToolOutput


def _keep(text: str) -> str:
    """Keep whether each profile is on."""
    # sample: [{"Name":  "Domain", "Enabled":  1}, {"Name":  "Private", "Enabled":  1}, {"Name":  "Public", "Enabled":  0}]
    return json.dumps([{key: row[key] for key in ("Name", "Enabled")} for row in _rows(text)])


def _rows(text: str) -> list[Object]:
    loaded = read_json(text)
    return loaded if isinstance(loaded, list) else [loaded]


PROFILES = ToolOutput(
    name="firewall-profiles",
    words=powershell(
        "Get-NetFirewallProfile -PolicyStore ActiveStore | Select-Object Name,Enabled | ConvertTo-Json"
    ),
    keep=_keep,
)
_ON, _OFF = frozenset({1, "True"}), frozenset({0, "False"})
"""How PowerShell prints a ``GpoBoolean``: Windows PowerShell as a number, others as a word; 2 is not configured."""


def profiles_of(text: str) -> Mapping[str, bool]:
    """Return which profiles are on; ``ValueError`` where the text says something else."""
    try:
        states = {str(row["Name"]): row["Enabled"] for row in _rows(text)}
    except (TypeError, LookupError) as error:
        raise ValueError("it names no profile") from error
    if not states or any(value not in _ON | _OFF for value in states.values()):
        raise ValueError(f"it is neither on nor off in all profiles: {text}")
    return {name: value in _ON for name, value in states.items()}
