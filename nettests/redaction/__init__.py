"""Remove secrets from everything that is written: by field names, and by the form of texts. Pure.

Used wherever texts of a cluster are printed or written. ``redactor`` walks plain data, such as API
objects, and registers this process's secrets; ``spans`` searches texts window by window; ``names``
lists names of secrets, ``shapes`` their forms. When in doubt a text is hidden: a leaked token is
worse.
"""

from nettests.redaction.redactor import Redactor, register, without_held
from nettests.redaction.spans import REDACTED

__all__ = ["REDACTED", "Redactor", "register", "without_held"]
