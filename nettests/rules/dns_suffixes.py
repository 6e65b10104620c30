r"""The DNS suffixes that nslookup walks in a Windows Pod, as the registry of the Pod holds them.

No rule is declared here: it is a fact, by which ``probes.host_facts`` completes what discovery knows. The probe image has
BIND's nslookup, which reads ``SearchList`` below ``Tcpip\Parameters`` and, where there is none, takes the computer's
primary domain (ISC BIND ``lib/irs/win32/resconf.c``). Windows does not translate names of values.
"""

import re

from nettests.model.dns_names import NAMESPACE_DOMAIN
from nettests.model.windows_programs import node_argv
from nettests.model.words import SuffixList
from nettests.rules import kept
from nettests.rules.readings import ToolOutput

KEY = r"HKLM\SYSTEM\CurrentControlSet\Services\Tcpip\Parameters"
LIST, DOMAIN = "SearchList", "Domain"
IN_POD = ToolOutput(
    name="pod-dns-suffixes",
    words=node_argv("reg.exe", "query", KEY),
    # the key itself shows that it was read, with or without such values
    # samples: HKEY_LOCAL_MACHINE\SYSTEM\CurrentControlSet\Services\Tcpip\Parameters
    #              SearchList    REG_SZ    demo.svc.cluster.local,svc.cluster.local
    keep=kept.lines(
        rf"(?m)^HKEY_\S+Tcpip\\Parameters[ \t]*$|^ {{4}}(?:{LIST}|{DOMAIN}) {{4}}REG_.*$"
    ),
)


def suffixes_of(text: str, domain: str) -> tuple[str, ...]:
    """Return the suffixes, with a placeholder for the Pod's namespace; ``ValueError`` if the key was not shown."""
    if not re.search(r"(?m)^HKEY_", text):
        raise ValueError("it does not show the key")
    for value in (LIST, DOMAIN):
        match = re.search(rf"(?m)^ {{4}}{value} {{4}}REG_[A-Z_]+(?: {{4}}(.*))?$", text)
        suffixes = [part for part in re.split(r"[,\s]+", (match[1] or "") if match else "") if part]
        if suffixes:
            return tuple(_spelled(suffix.rstrip(".").lower(), domain) for suffix in suffixes)
    return ()


def _spelled(suffix: str, domain: str) -> str:
    """Return a suffix with a placeholder for the namespace, which differs in every run."""
    namespace_domain = NAMESPACE_DOMAIN.format(namespace=r"[a-z0-9-]+", domain=re.escape(domain))
    return NAMESPACE_DOMAIN if re.fullmatch(namespace_domain, suffix) else suffix


def kind_of(suffixes: tuple[str, ...] | None, domain: str) -> SuffixList:
    """Return whether one of the suffixes completes names of other namespaces."""
    if suffixes is None:
        return SuffixList.UNKNOWN
    completing = {f"svc.{domain}", domain} & set(suffixes)
    if len(completing) == 2:
        return SuffixList.WHOLE
    return SuffixList.PART if completing else SuffixList.OWN
