"""Remove secrets from everything that is written: by field names, and by the shape of texts. Pure.

Used by whatever prints or writes texts of a cluster. ``redactor`` walks plain data, such as API objects, and registers
the secrets that this process holds itself; ``spans`` searches a text window by window; ``names`` lists names of secrets,
``shapes`` their forms. When in doubt a text is hidden: a diagnosis survives a hidden word, a leaked token is a leak.
"""

from nettests.redaction.redactor import Redactor, register, without_held
from nettests.redaction.spans import REDACTED

__all__ = ["REDACTED", "Redactor", "register", "without_held"]
