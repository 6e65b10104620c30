"""The DNS suffixes of a Windows Pod, as its registry holds them, and what they make whole."""

import pytest

from nettests.model.words import SuffixList
from nettests.rules import reduced
from nettests.rules.dns_suffixes import IN_POD, kind_of, suffixes_of

DOMAIN = "cluster.local"
KEY = r"HKEY_LOCAL_MACHINE\SYSTEM\CurrentControlSet\Services\Tcpip\Parameters"


def told(*values: str) -> str:
    """Return what reg.exe prints of a key with these values, reduced."""
    lines = ["", KEY, r"    DataBasePath    REG_EXPAND_SZ    %SystemRoot%\etc", *values, ""]
    lines += [rf"{KEY}\Adapters", rf"{KEY}\DNSRegisteredAdapters", ""]
    return reduced(IN_POD, "\r\n".join(lines))


@pytest.mark.parametrize(
    ("values", "suffixes", "kind"),
    [
        (
            ["    SearchList    REG_SZ    demo.svc.cluster.local,svc.cluster.local,cluster.local"],
            ("{namespace}.svc.{domain}", "svc.cluster.local", "cluster.local"),
            SuffixList.WHOLE,
        ),
        (
            ["    SearchList    REG_SZ    A-1.svc.cluster.local. Corp.Example"],
            ("{namespace}.svc.{domain}", "corp.example"),
            SuffixList.OWN,
        ),
        (
            ["    SearchList    REG_SZ    demo.svc.cluster.local,svc.cluster.local"],
            ("{namespace}.svc.{domain}", "svc.cluster.local"),
            SuffixList.PART,
        ),
        (
            ["    Domain    REG_SZ    demo.svc.cluster.local", "    SearchList    REG_SZ    "],
            ("{namespace}.svc.{domain}",),
            SuffixList.OWN,
        ),
        (
            ["    Domain    REG_SZ    corp.example", "    SearchList    REG_SZ    cluster.local"],
            ("cluster.local",),
            SuffixList.PART,
        ),
        (["    Hostname    REG_SZ    web"], (), SuffixList.OWN),
    ],
)
def test_the_list_comes_first_and_then_the_domain(
    values: list[str], suffixes: tuple[str, ...], kind: SuffixList
) -> None:
    """Whatever the namespace is called: another run has another one."""
    found = suffixes_of(told(*values), DOMAIN)
    assert (found, kind_of(found, DOMAIN)) == (suffixes, kind)


@pytest.mark.parametrize("text", ["", "FEHLER: Zugriff verweigert", f"{KEY}\\Adapters"])
def test_a_key_that_was_not_shown_holds_no_list(text: str) -> None:
    """Nothing is known then, and that there is none least of all."""
    with pytest.raises(ValueError, match="does not show the key"):
        suffixes_of(reduced(IN_POD, text), DOMAIN)
    assert kind_of(None, DOMAIN) is SuffixList.UNKNOWN


def test_nothing_else_of_the_key_is_kept() -> None:
    """Names of hosts and adapters are the cluster's own business."""
    kept = told("    Hostname    REG_SZ    hush", "    NV Domain    REG_SZ    hush")
    assert "hush" not in kept
    assert "Adapters" not in kept
