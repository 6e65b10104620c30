"""What gives texts other names in tests: a small vocabulary, or that of the package."""

from functools import cache

from nettests.export.names import Names, Vocabulary
from nettests.export.pseudonyms import AddressMap, Pseudonyms
from nettests.export.texts import Texts
from nettests.session.exporting import vocabulary

KEY = b"k" * 32


@cache
def shipped() -> Vocabulary:
    """Return the words of the package, read once."""
    return vocabulary()


def texts(words: str | None = None, *, own: tuple[str, ...] = (), domain: str = "") -> Texts:
    """Return texts with these words alone as vocabulary, or with the package's."""
    known = shipped() if words is None else Vocabulary.of([words])
    pseudonyms = Pseudonyms(KEY, AddressMap(KEY), taken=known.names)
    return Texts(Names(known, pseudonyms, own=set(own), domains={domain} - {""}), pseudonyms)
