"""``powershell -Command "Resolve-DnsName NAME"``, read as text; ``hns_cmdlets`` and ``dialogue`` know the others.

``Get-Command Resolve-DnsName`` tells whether it is there.

No script is interpreted. The cmdlet is part of the node's PowerShell (HostProcess); PowerShell Core in the
agnhost image does not have it (kubernetes/kubernetes, test/e2e/windows/dns.go).
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import dns.message
import dns.rdatatype

from nettests.lab.dns import records, windows
from nettests.lab.dns.resolution import Failure, ResolutionError
from nettests.lab.interfaces import Process
from nettests.lab.programs import datagram_dialogue, dialogue
from nettests.lab.programs.terminal import err, out
from nettests.lab.programs.windows import hns_cmdlets, node_cmdlets, script

# Samples: Resolve-DnsName kubernetes.default
#          Resolve-DnsName -Name 'web.demo.svc.cluster.local' -Type A -DnsOnly
_RESOLVE = re.compile(
    r"Resolve-DnsName\s+(?:-Name\s+)?(?P<quote>['\"]?)(?P<name>[A-Za-z0-9._-]+)(?P=quote)"
    r"(?:\s+-Type\s+(?P<type>[A-Za-z]+))?(?:\s+-(?:DnsOnly|NoHostsFile|QuickTimeout))*\s*",
    re.IGNORECASE,
)
_PRESENT = "Get-Command Resolve-DnsName"
_COMMAND_TABLE = (
    "\nCommandType     Name                     Version    Source\n"
    "-----------     ----                     -------    ------\n"
    "Cmdlet          Resolve-DnsName          1.0.0.0    DnsClient\n\n\n"
)
_LACKING = (
    "Get-Command: The term 'Resolve-DnsName' is not recognized as the name of a cmdlet, function, "
    "script file, or operable program.\n"
)
_IGNORED = frozenset({"-noprofile", "-noninteractive", "-nologo"})
_COMMAND = frozenset({"-command", "-c"})
_ERRORS = {
    Failure.NO_SUCH_HOST: ("DNS name does not exist", "DNS_ERROR_RCODE_NAME_ERROR"),
    Failure.SERVER_FAILURE: ("DNS server failure", "DNS_ERROR_RCODE_SERVER_FAILURE"),
    Failure.TIMED_OUT: (
        "This operation returned because the timeout period expired",
        "ERROR_TIMEOUT",
    ),
    Failure.NO_SERVER: ("No DNS servers configured for local system", "DNS_ERROR_NO_DNS_SERVERS"),
}


@dataclass(frozen=True, slots=True)
class _Row:
    name: str
    kind: str
    ttl: int
    section: str
    data: str


async def run(process: Process, words: Sequence[str]) -> int:
    """Run the command text if it is a known cmdlet; 1 when it failed or is not known."""
    rest = [word for word in words if word.lower() not in _IGNORED]
    if rest and rest[0].lower() in _COMMAND:
        rest = rest[1:]
    given = script.read(" ".join(rest).strip())
    code = await _run(process, given.text)
    if code == 0 and given.last is not None:
        await out(process, f"{given.last}\n")
    return code


async def _run(process: Process, text: str) -> int:
    if text.lower() == _PRESENT.lower():
        if process.machine.host_process:
            await out(process, _COMMAND_TABLE)
            return 0
        await err(process, _LACKING)
        return 1
    for command in (
        hns_cmdlets.run,
        node_cmdlets.run,
        dialogue.powershell,
        datagram_dialogue.powershell,
    ):
        code = await command(process, text)
        if code is not None:
            return code
    match = _RESOLVE.fullmatch(text)
    if match is None or not process.machine.host_process:
        await err(process, _unknown(text.partition(" ")[0]))
        return 1
    return await _resolve(process, match["name"], (match["type"] or "A").upper(), text)


async def _resolve(process: Process, name: str, kind: str, text: str) -> int:
    try:
        answer = await _first_answer(process, name, kind)
    except ResolutionError as error:
        await err(process, _failed(name, text, error.failure))
        return 1
    await out(process, _table(_rows(answer)))
    return 0


async def _first_answer(process: Process, name: str, kind: str) -> dns.message.Message:
    """Request the names the DNS client tries; the first that exists wins."""
    failure = Failure.NO_SUCH_HOST
    for candidate in windows.candidates(process.machine.resolver, name):
        answer = await windows.query(process.machine, candidate, kind)
        failure = records.failure(answer)
        if answer.answer or failure is Failure.NO_DATA:
            return answer
    raise ResolutionError(failure, name)


def _rows(answer: dns.message.Message) -> list[_Row]:
    sections = (("Answer", answer.answer), ("Authority", answer.authority))
    return [
        _Row(
            rrset.name.to_text(omit_final_dot=True),
            dns.rdatatype.to_text(rrset.rdtype),
            rrset.ttl,
            section,
            record.to_text().rstrip("."),
        )
        for section, rrsets in sections
        for rrset in rrsets
        for record in rrset
    ]


def _table(rows: Sequence[_Row]) -> str:
    """Lay rows out as Format-Table does; the last column is named after the first row's data."""
    titles = {"A": "IPAddress", "AAAA": "IPAddress", "CNAME": "NameHost", "PTR": "NameHost"}
    last = titles.get(rows[0].kind, "Data") if rows else "Data"
    cells = [("Name", "Type", "TTL", "Section", last)]
    cells.append(tuple("-" * len(title) for title in cells[0]))  # type: ignore[arg-type]
    cells += [(row.name, row.kind, str(row.ttl), row.section, row.data) for row in rows]
    widths = (46, 6, 5, 10)
    lines = [
        " ".join(f"{cell:<{width}}" for cell, width in zip(line[:-1], widths, strict=True))
        + f" {line[-1]}"
        for line in cells
    ]
    return "\n" + "".join(f"{line}\n" for line in lines) + "\n"


def _failed(name: str, text: str, failure: Failure) -> str:
    reason, code = _ERRORS[failure]
    return (
        f"Resolve-DnsName : {name} : {reason}\n"
        "At line:1 char:1\n"
        f"+ {text}\n"
        f"+ {'~' * len(text)}\n"
        f"    + CategoryInfo          : ResourceUnavailable: ({name}:String) [Resolve-DnsName], "
        "Win32Exception\n"
        f"    + FullyQualifiedErrorId : {code},Microsoft.DnsClient.Commands.ResolveDnsName\n \n"
    )


def _unknown(word: str) -> str:
    return (
        f"{word} : The term '{word}' is not recognized as the name of a cmdlet, function, script "
        "file, or operable program. The lab's PowerShell knows Resolve-DnsName and, before "
        "ConvertTo-Json, Get-HnsNetwork, Get-HnsEndpoint, Get-HnsPolicyList, Get-CimInstance Win32_Process and "
        "Get-NetFirewallProfile, in HostProcess "
        "containers.\n"
    )
