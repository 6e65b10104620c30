"""Reading of DNS answers: the questions run and what an answer means for a resolver.

Pure: between ``exchange`` (which carries messages) and the resolver manners (which choose names).
"""

import dns.flags
import dns.message
import dns.name
import dns.rcode
import dns.rdatatype

from nettests.lab.dns.resolution import Failure, Resolved


def question(name: str, kind: str = "A") -> dns.message.Message:
    """Return a recursive query for the absolute ``name``."""
    return dns.message.make_query(dns.name.from_text(name), kind)


def addresses(answer: dns.message.Message, kind: str = "A") -> Resolved | None:
    """Return the addresses in ``answer``, following its CNAMEs; ``None`` when it holds none."""
    wanted = dns.rdatatype.from_text(kind)
    for rrset in answer.answer:
        if rrset.rdtype == wanted:
            return Resolved(
                canonical=rrset.name.to_text(omit_final_dot=True),
                addresses=tuple(record.address for record in rrset),
                ttl=rrset.ttl,
            )
    return None


def aliases(answer: dns.message.Message) -> list[tuple[str, str]]:
    """Return the CNAME records of ``answer`` as ``(name, target)``, absolute."""
    return [
        (rrset.name.to_text(omit_final_dot=True), record.target.to_text())
        for rrset in answer.answer
        if rrset.rdtype == dns.rdatatype.CNAME
        for record in rrset
    ]


def failure(answer: dns.message.Message) -> Failure:
    """Return what an answer without addresses means, by its response code."""
    code = answer.rcode()
    if code == dns.rcode.NXDOMAIN:
        return Failure.NO_SUCH_HOST
    return Failure.NO_DATA if code == dns.rcode.NOERROR else Failure.SERVER_FAILURE


def authoritative(answer: dns.message.Message) -> bool:
    """Tell whether the answer carries the AA flag."""
    return bool(answer.flags & dns.flags.AA)
