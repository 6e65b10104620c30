"""Names of fields, variables and flags with secrets. Pure."""

import re
from functools import lru_cache

WORDS = (
    r"(?<!com)(?<!by)pass(?:word|wd|phrase|code)?|pwd|(?<![a-zA-Z])pw(?![a-zA-Z])|psk(?![a-zA-Z])|secret|credentials?|creds?(?![a-zA-Z])"
    r"|connection[_-]?string"
)
"""Names of secrets that people choose: the secrets may contain spaces."""
KEYS = (
    r"token|(?<!require )authorization|cookie|jwt|(?<=[a-zA-Z0-9]_)pat(?![a-zA-Z])|key[_-]?material|[_-]salt|otp[_-]?seed"
    r"|(?:api|app|access|auth|account|certificate|client|encryption|license|master|private|secret|service|shared"
    r"|signing|ssh|subscription)[_-]?key(?:[_-]?(?:id|data|base))?"
    r"|client[_-]?certificate[_-]?data"
)
"""Names of generated secrets: one word. A registry's "may require authorization: …" is prose."""
NAMES = rf"(?:{WORDS}|{KEYS})(?:[_-]?\d{{1,3}})?"

# samples: password, client-key-data, secretAccessKey, identitytoken, vault.test/token
_FIELD = re.compile(rf"(?:{NAMES})$", re.IGNORECASE)
_WHOLE_FIELDS = frozenset(
    {"auth", "_auth", ".dockerconfigjson", ".dockercfg", "tls.key", "ssh-privatekey", "kubeconfig"}
)
_ANNOTATIONS = frozenset({"kubectl.kubernetes.io/last-applied-configuration"})
"""Annotations that contain the whole object, secrets included."""
# samples: DB_PASSWORD, AWS_SECRET_ACCESS_KEY, GITHUB_TOKEN_RO, BASIC_AUTH, SSH_KEY
VARIABLE = rf"{NAMES}|(?<![A-Za-z0-9])(?:auth|key|sas|dsn)(?![A-Za-z0-9])|kubeconfig"
_VARIABLE = re.compile(VARIABLE, re.IGNORECASE)
_HARMLESS_VARIABLES = frozenset({"PWD", "OLDPWD"})
_CONSTANT = re.compile(r"[A-Z][A-Z0-9_]*")
# samples: --token, -password, --client-key-data
_FLAG = re.compile(rf"--?(?:[\w-]{{0,60}}-|store|key)?(?:{NAMES})", re.IGNORECASE)
_LOGINS = frozenset({"-u", "-U", "--user", "--proxy-user"})
"""Flags of curl and similar tools for a name and a password."""
ADDRESS = r"[\w-]{1,63}(?:\.[\w-]{1,63}){1,20}:\d{1,5}(?![^\s\"'/])"
"""Values of the same flags in other programs: ``iperf -u 10.0.0.1:5201``."""
LONGEST = 200
"""Longer words are no names."""


@lru_cache(maxsize=8192)
def is_secret_field(name: str) -> bool:
    """Whether a field of an object holds a secret, if it holds a text."""
    if len(name) > LONGEST:
        return False
    constant = _CONSTANT.fullmatch(name) is not None and is_secret_variable(name)
    return (
        name in _ANNOTATIONS
        or name.lower() in _WHOLE_FIELDS
        or constant
        or (_FIELD.search(name) is not None and name not in _HARMLESS_VARIABLES)
    )


@lru_cache(maxsize=8192)
def is_secret_variable(name: str) -> bool:
    """Whether an environment variable holds a secret."""
    return (
        len(name) <= LONGEST
        and name not in _HARMLESS_VARIABLES
        and _VARIABLE.search(name) is not None
    )


def takes_secret(flag: str, following: str) -> bool:
    """Whether the word after a flag is a secret."""
    if flag in _LOGINS:
        return ":" in following and not re.match(ADDRESS, following)
    named = len(flag) <= LONGEST and _FLAG.fullmatch(flag) is not None
    return named and not following.startswith("-")
