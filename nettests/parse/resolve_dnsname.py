"""Read the output of PowerShell's ``Resolve-DnsName``, which queries the Windows DNS client.

Unlike nslookup, it uses the resolver of applications. Failures are recognised by their
``FullyQualifiedErrorId``, which is never translated.
"""

import re

from nettests.model.observation import Raw
from nettests.model.words import Outcome
from nettests.parse.nslookup import is_address
from nettests.parse.reading import Reading, not_understood, one_line

_FAILURES = {
    "DNS_ERROR_RCODE_NAME_ERROR": Outcome.NXDOMAIN,
    "DNS_ERROR_RECORD_DOES_NOT_EXIST": Outcome.NXDOMAIN,
    "DNS_INFO_NO_RECORDS": Outcome.NXDOMAIN,
    "DNS_ERROR_RCODE_SERVER_FAILURE": Outcome.SERVFAIL,
    "DNS_ERROR_RCODE_REFUSED": Outcome.REFUSED,
    "ERROR_TIMEOUT": Outcome.TIMED_OUT,
    "DNS_ERROR_NO_DNS_SERVERS": Outcome.UNREACHABLE,
}

# samples: "kubernetes.default.svc.cluster.local           A      5     Answer     10.96.0.1"
#          "kubernetes.default.svc.cluster.local           AAAA   5     Answer     fd00:10:..."
_RECORD = re.compile(r"^\S+\s+(?:A|AAAA)\s+\d+\s+Answer\s+(\S+)\s*$", re.MULTILINE)
# sample: "    + FullyQualifiedErrorId : DNS_ERROR_RCODE_NAME_ERROR,Microsoft.DnsClient.Commands.…"
_ERROR = re.compile(r"FullyQualifiedErrorId\s*:\s*([A-Z_]+)\b")
# sample: "cluster.local                  SOA    5     Authority  ns.dns.cluster.local …"
_AUTHORITY = re.compile(r"^\S+\s+SOA\s+\d+\s+Authority\b", re.MULTILINE)


def read(raw: Raw) -> Reading:
    """Read the result of a lookup by the Windows DNS client."""
    addresses = tuple(_RECORD.findall(raw.stdout))
    if addresses:
        if not all(map(is_address, addresses)):  # PowerShell truncates columns to the line width
            return not_understood(f"Resolve-DnsName shows no whole address: {raw.stdout}")
        shown = ", ".join(addresses)
        return Reading(outcome=Outcome.RESOLVED, detail=f"resolved to {shown}", addresses=addresses)
    text = f"{raw.stdout}\n{raw.stderr}"
    match = _ERROR.search(text)
    if match is not None and match[1] in _FAILURES:
        return Reading(outcome=_FAILURES[match[1]], detail=match[1])
    if _AUTHORITY.search(raw.stdout):
        return Reading(outcome=Outcome.NXDOMAIN, detail="the name has no address")
    return not_understood(f"Resolve-DnsName's output is not understood: {one_line(text)}")
