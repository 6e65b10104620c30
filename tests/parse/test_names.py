"""Resolvers: BIND's, Microsoft's and BusyBox's nslookup, and the Windows DNS client."""

import pytest

from nettests.model.words import Outcome
from nettests.parse import read_raw
from tests.parse.raws import raw

BIND = """Server:\t\t10.96.0.10
Address:\t10.96.0.10#53

Name:\tweb.demo.svc.cluster.local
Address: 10.96.247.61
"""
MICROSOFT = """Server:  kube-dns.kube-system.svc.cluster.local
Address:  10.96.0.10

Name:    servers.demo.svc.cluster.local
Addresses:  10.244.1.2
          10.244.2.5
"""
MICROSOFT_SLOW = "DNS request timed out.\n    timeout was 2 seconds.\n" + MICROSOFT
BUSYBOX = """Server:    10.96.0.10
Address 1: 10.96.0.10 kube-dns.kube-system.svc.cluster.local

Name:      web.demo
Address 1: 10.96.247.61 web.demo.svc.cluster.local
"""
JAPANESE = """サーバー:  kube-dns.kube-system.svc.cluster.local\r
アドレス:  10.96.0.10\r
\r
権限のない回答:\r
名前:    web.demo.svc.cluster.local\r
アドレス:  10.96.247.61\r
          fd00::61\r
\r
"""
RETRIED = f";; Connection to 10.96.0.10#53(10.96.0.10) for web.demo failed: timed out.\n{BIND}"
HEAD = "Server:\t\t10.96.0.10\nAddress:\t10.96.0.10#53\n\n"


@pytest.mark.parametrize("code", [0, 1, None])
@pytest.mark.parametrize(
    ("stdout", "stderr", "outcome", "addresses"),
    [
        (BIND, "", Outcome.RESOLVED, ("10.96.247.61",)),
        (MICROSOFT, "", Outcome.RESOLVED, ("10.244.1.2", "10.244.2.5")),
        (MICROSOFT_SLOW, "", Outcome.RESOLVED, ("10.244.1.2", "10.244.2.5")),
        (BUSYBOX, "", Outcome.RESOLVED, ("10.96.247.61",)),
        (HEAD + "** server can't find nosuch.demo: NXDOMAIN\n", "", Outcome.NXDOMAIN, ()),
        (HEAD + "** server can't find nosuch.demo: SERVFAIL\n", "", Outcome.SERVFAIL, ()),
        (HEAD + "*** Can't find nosuch.demo: No answer\n", "", Outcome.NXDOMAIN, ()),
        (";; connection timed out; no servers could be reached\n", "", Outcome.TIMED_OUT, ()),
        (";; communications error to 1.2.3.4#53: connection refused\n", "", Outcome.REFUSED, ()),
        (
            (
                ";; communications error to 1.2.3.4#53: permission denied\n"
                ";; no servers could be reached\n"
            ),
            "",
            Outcome.REFUSED,
            (),
        ),
        (
            ";; Connection to 10.96.0.10#53(10.96.0.10) for a.b failed: connection refused.\n",
            "",
            Outcome.REFUSED,
            (),
        ),
        (
            ";; Connection to 10.96.0.10#53(10.96.0.10) for a.b failed: host unreachable.\n",
            "",
            Outcome.UNREACHABLE,
            (),
        ),
        (
            ";; Connection to 10.96.0.10#53(10.96.0.10) for a.b failed: timed out.\n",
            "",
            Outcome.TIMED_OUT,
            (),
        ),
        (HEAD, "*** UnKnown can't find a.b: Non-existent domain\n", Outcome.NXDOMAIN, ()),
        (HEAD, "*** UnKnown can't find a.b: Server failed\n", Outcome.SERVFAIL, ()),
        ("DNS request timed out.\n", "*** Request to UnKnown timed-out\n", Outcome.TIMED_OUT, ()),
        (JAPANESE, "", Outcome.RESOLVED, ("10.96.247.61", "fd00::61")),
        (JAPANESE.partition("権限")[0], "", Outcome.PROBE_FAILED, ()),
        (
            HEAD,
            "*** UnKnown ne parvient pas à trouver a.b : Non-existent domain\n",
            Outcome.NXDOMAIN,
            (),
        ),
        (HEAD, "*** UnKnown 找不到 a.b: Server failed\n", Outcome.SERVFAIL, ()),
        (RETRIED, "", Outcome.RESOLVED, ("10.96.247.61",)),
        (HEAD, "", Outcome.PROBE_FAILED, ()),
        ("", "", Outcome.PROBE_FAILED, ()),
    ],
)
def test_nslookup(
    stdout: str, stderr: str, outcome: Outcome, addresses: tuple[str, ...], code: int | None
) -> None:
    """Its text decides, never its exit code; the server's own address is not the answer."""
    attempt = read_raw(raw("nslookup", stdout=stdout, stderr=stderr, exit_code=code))
    assert (attempt.outcome, attempt.addresses) == (outcome, addresses)


TABLE = """
Name                                           Type   TTL   Section    IPAddress
----                                           ----   ---   -------    ---------
web.demo.svc.cluster.local                     A      5     Answer     10.96.247.61
"""
FAILURE = """Resolve-DnsName : nosuch.demo : DNS name does not exist
    + CategoryInfo          : ResourceUnavailable: (nosuch.demo:String), Win32Exception
    + FullyQualifiedErrorId : {error},Microsoft.DnsClient.Commands.ResolveDnsName
"""


@pytest.mark.parametrize(
    ("stdout", "stderr", "outcome"),
    [
        (TABLE, "", Outcome.RESOLVED),
        ("", FAILURE.format(error="DNS_ERROR_RCODE_NAME_ERROR"), Outcome.NXDOMAIN),
        ("", FAILURE.format(error="DNS_ERROR_RCODE_SERVER_FAILURE"), Outcome.SERVFAIL),
        ("", FAILURE.format(error="ERROR_TIMEOUT"), Outcome.TIMED_OUT),
        ("", FAILURE.format(error="SOMETHING_NEW"), Outcome.PROBE_FAILED),
        ("cluster.local   SOA    5     Authority  ns.dns.cluster.local\n", "", Outcome.NXDOMAIN),
        (TABLE.replace("10.96.247.61", "10.96.2..."), "", Outcome.PROBE_FAILED),
        ("", "", Outcome.PROBE_FAILED),
    ],
)
def test_the_windows_dns_client(stdout: str, stderr: str, outcome: Outcome) -> None:
    """Failures are known by their error id, which no translation changes."""
    attempt = read_raw(raw("resolve_dnsname", stdout=stdout, stderr=stderr, exit_code=0))
    assert attempt.outcome is outcome
