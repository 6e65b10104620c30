r"""The DNS suffixes that nslookup tries in a Windows Pod, from the Pod's registry.

No rule is declared here: they are a fact that ``probes.host_facts`` adds to discovery. The probe
image has BIND's nslookup, which reads ``SearchList`` below ``Tcpip\Parameters`` or, without one,
uses the computer's primary domain (ISC BIND ``lib/irs/win32/resconf.c``). Windows does not
translate value names.
"""

import re
from collections.abc import Iterable

from nettests.model.dns_names import NAMESPACE_DOMAIN
from nettests.model.windows_programs import node_argv
from nettests.model.words import SuffixList
from nettests.rules import reduction
from nettests.rules.readings import ToolOutput

KEY = r"HKLM\SYSTEM\CurrentControlSet\Services\Tcpip\Parameters"
LIST, DOMAIN = "SearchList", "Domain"
IN_POD = ToolOutput(
    name="pod-dns-suffixes",
    words=node_argv("reg.exe", "query", KEY),
    # the key itself shows that it was read, whether or not it has such values
    # samples: HKEY_LOCAL_MACHINE\SYSTEM\CurrentControlSet\Services\Tcpip\Parameters
    #              SearchList    REG_SZ    demo.svc.cluster.local,svc.cluster.local
    keep=reduction.lines(
        rf"(?m)^HKEY_\S+Tcpip\\Parameters[ \t]*$|^ {{4}}(?:{LIST}|{DOMAIN}) {{4}}REG_.*$"
    ),
)


_NAMESPACE = r"[a-z0-9-]+"
_OF_NAMESPACE = NAMESPACE_DOMAIN.format(namespace=_NAMESPACE, domain=r"(?P<domain>[a-z0-9.-]+)")
SEARCH_LIST = ToolOutput(
    name="pod-search-list",
    words=node_argv("cat", "/etc/resolv.conf"),
    # sample: search demo.svc.cluster.local svc.cluster.local cluster.local
    keep=reduction.lines(r"(?m)^search[ \t].*$"),
)
"""The search list of a Linux Pod; read only if the cluster's domain is unknown otherwise."""


def suffixes_of(text: str, domain: str | None) -> tuple[str, ...]:
    """Return the suffixes, with a placeholder for the Pod's namespace, which differs in every run.

    ``ValueError`` if the key was not shown.
    """
    if not re.search(r"(?m)^HKEY_", text):
        raise ValueError("it does not show the key")
    for value in (LIST, DOMAIN):
        match = re.search(rf"(?m)^ {{4}}{value} {{4}}REG_[A-Z_]+(?: {{4}}(.*))?$", text)
        suffixes = [part for part in re.split(r"[,\s]+", (match[1] or "") if match else "") if part]
        if suffixes:
            return tuple(_spelled(suffix.rstrip(".").lower(), domain) for suffix in suffixes)
    return ()


def _spelled(suffix: str, domain: str | None) -> str:
    of_namespace = NAMESPACE_DOMAIN.format(namespace=_NAMESPACE, domain=re.escape(domain or ""))
    return NAMESPACE_DOMAIN if domain and re.fullmatch(of_namespace, suffix) else suffix


def domain_of(suffixes: Iterable[str]) -> str | None:
    """Return the cluster's domain from a search list (after namespace and ``svc``), if shown."""
    # samples: default.svc.cluster.local, svc.cluster.local (no namespace)
    matches = (re.fullmatch(_OF_NAMESPACE, suffix) for suffix in suffixes)
    return next((match["domain"] for match in matches if match), None)


def kind_of(suffixes: tuple[str, ...] | None, domain: str | None) -> SuffixList:
    """Return whether a suffix completes names of other namespaces."""
    if suffixes is None or domain is None:
        return SuffixList.UNKNOWN
    completing = {f"svc.{domain}", domain} & set(suffixes)
    if len(completing) == 2:
        return SuffixList.WHOLE
    return SuffixList.PART if completing else SuffixList.OWN
