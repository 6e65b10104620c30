"""Remove secrets from everything that is written: by field names, and by the shape of texts. Pure.

Used by session, diagnose and probes. ``redactor`` walks plain data, such as API objects; ``spans`` searches a text
window by window; ``names`` lists names of secrets, ``shapes`` and ``scanner`` their forms, and ``blocks`` those over
several lines; ``held`` registers those that this process holds itself. When in doubt a text is hidden: a diagnosis survives a hidden word, a leaked token is a leak.
"""

from nettests.redaction.redactor import Redactor, register, without_held
from nettests.redaction.spans import REDACTED

__all__ = ["REDACTED", "Redactor", "register", "without_held"]
