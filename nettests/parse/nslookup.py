"""Read the output of ``nslookup``: BIND's (in agnhost's images), Microsoft's and BusyBox's.

The exit code is ignored: Microsoft's is always 0. nslookup has a suffix list of its own, so its
answer is not that of the system's resolver. Microsoft's labels are translated, but the reasons
after the last colon are not (posted outputs); addresses are recognised by their place: after the
server's, behind a blank line.
"""

import ipaddress
import re
from collections.abc import Iterator

from nettests.model.observation import Raw
from nettests.model.words import Outcome
from nettests.parse.reading import Reading, not_understood, one_line
from nettests.resources import lines_of

_FAILURES = tuple(
    (re.compile(pattern), Outcome(outcome))
    for line in lines_of("nettests.parse", "nslookup.txt")
    for outcome, _, pattern in [line.partition(" ")]
)


def read(raw: Raw) -> Reading:
    """Read the result of a lookup: addresses, or why there are none."""
    addresses = _addresses(raw.stdout)
    if addresses:
        shown = ", ".join(addresses)
        return Reading(outcome=Outcome.RESOLVED, detail=f"resolved to {shown}", addresses=addresses)
    text = f"{raw.stdout}\n{raw.stderr}"
    for pattern, outcome in _FAILURES:
        match = pattern.search(text)
        if match is not None:
            begin = text.rfind("\n", 0, match.start()) + 1
            return Reading(outcome=outcome, detail=one_line(text[begin:].partition("\n")[0]))
    return not_understood(f"nslookup's output is not understood: {text}")


def _addresses(text: str) -> tuple[str, ...]:
    """Return the addresses after the first ``Name:``; without it, those after the server's part.

    sample: ``Name:\\tweb.demo.svc.cluster.local\\nAddress: 10.96.247.61`` (BIND)
    sample: ``Name:    web.demo…\\nAddresses:  10.0.0.1\\n          10.0.0.2`` (Microsoft)
    """
    _, name, answer = text.partition("Name:")
    if name:  # the usual label, in most languages
        return tuple(dict.fromkeys(_values(answer.partition("\n")[2])))
    parts = [list(_values(part)) for part in re.split(r"\n[ \t\r]*\n", text)]
    return tuple(
        dict.fromkeys(address for part in list(filter(None, parts))[1:] for address in part)
    )


def _values(part: str) -> Iterator[str]:
    """Yield the addresses of lines that are an address, with or without a label."""
    for line in part.splitlines():
        # samples: "Address: 10.96.247.61", "Address 1: 10.96.0.1 kubernetes…", "          10.0.0.2"
        #          "Address:\t10.96.0.10#53", "アドレス:  10.96.0.10"
        for words in (line, re.sub(r"^\S[^:：]*[:：]", "", line)):
            word = re.split(r"[\s#]", words.strip(), maxsplit=1)[0]
            if is_address(word):
                yield word
                break


def is_address(word: str) -> bool:
    """Whether a word is an IP address."""
    try:
        ipaddress.ip_address(word)
    except ValueError:
        return False
    return True
