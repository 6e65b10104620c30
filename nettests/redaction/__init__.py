"""Take secrets out of everything that is written: by the names of fields, and by the shape of texts. Pure.

Below session, diagnose and probes, which all use it. ``redactor`` walks plain data, such as API objects;
``spans`` looks for secrets in a text, window by window; ``names`` says what is called a secret, ``shapes`` and
``scanner`` what looks like one, and ``blocks`` finds those that take several lines.

Rather too much than too little: a diagnosis that hides a harmless word is still one, a leaked token is not.
"""

from nettests.redaction.redactor import Redactor
from nettests.redaction.spans import REDACTED

__all__ = ["REDACTED", "Redactor"]
