"""What secrets look like in a text: behind a name, in an address, in a header, or on their own. Pure.

Every pattern begins with something rare and never with an unbounded repetition, and each repetition ends: the work is
linear in the length of the text (``spans`` bounds it again). The groups ``s…`` of a pattern are hidden; a pattern
without such a group is hidden whole.
"""

import math
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from importlib.resources import files

from nettests.redaction.names import ADDRESS, KEYS, NAMES, VARIABLE, WORDS

LONGEST = 4096
"""Characters of a value that one match may take; what is longer is hidden to the end of its word."""
_DIGITS = r"(?:[_-]?\d{1,3})?"
_QUOTE = r"(?:\\{0,7}[\"']|\\{1,7}u0022|&quot;|&#34;)"
_SEPARATOR = rf"{_QUOTE}?[ \t]{{0,20}}(?::=|=>|[=:])"
_PROSE = r"(?!(?<=: )[A-Za-z][a-z]{1,30}[ \t][\w\"'])"
"""No secret of one word: ``fetch token: serviceaccounts "x" is forbidden``."""
_HARMLESS = r"(?!\[redacted\]|(?:true|false|null|none|nil|<nil>)(?![\w-]))"
_QUOTED = (
    rf'"(?P<s1>(?:[^"\\\r\n]|\\.|""){{1,{LONGEST}}})'
    rf"|'(?P<s2>(?:[^'\\\r\n]|\\.|''){{1,{LONGEST}}})"
    rf'|(?P<escape>\\{{1,7}})"(?P<s3>(?:(?!(?<!\\)(?P=escape)")[^\r\n]){{1,{LONGEST}}})'
    rf'|(?P<coded>\\{{1,7}}u0022|&quot;|&#34;)(?P<s4>(?:(?!(?P=coded))[^\r\n"]){{1,{LONGEST}}})'
    rf"|(?<==)\{{(?P<s5>[^}}\r\n]{{1,{LONGEST}}})\}}"
)
"""A value between quotes: its own kind of quote may stand in it escaped or doubled; in braces as ODBC has it."""
_KEY_NEXT = r"[\w. -]{1,40}[=:]"
_PLAIN = (
    r"[^\s\"',;&}\])\\]"
    r"|\\(?![\"'nrtu])"
    r"|[\"'](?=[^\s,;:}\])\"'\\])"
    rf"|;(?!{_KEY_NEXT})(?=[^\s;])"
    rf"|,(?!{_KEY_NEXT})(?=[^\s\"'{{\[])"
    r"|&(?![\w.-]{1,40}=)(?=\S)"
    r"|[)}\]](?=[\w!@#$%^*])"
)
"""A character of a value without quotes: a mark that ends most values is part of one where no other key follows."""
_SPACE = r"|[ \t]{1,3}(?!\s|[-/]{1,2}\w|[\w.-]{1,40}[\"']?[=:]|[|<>&#\"'{\[(]|\[redacted\])"
"""A space within a value: what follows it is no flag and no other key."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """One way for a secret to look; ``hints``, of which a text must hold one, spare it the pattern."""

    name: str
    pattern: re.Pattern[str]
    hints: tuple[str, ...]
    """In small letters; every shape has some."""
    confirmed: Callable[[str], bool] | None = None


def _shape(
    name: str,
    pattern: str,
    *hints: str,
    ignore_case: bool = False,
    confirmed: Callable[[str], bool] | None = None,
) -> Shape:
    flags = re.IGNORECASE if ignore_case else re.NOFLAG
    compiled = re.compile(pattern, flags)
    return Shape(name=name, pattern=compiled, hints=hints, confirmed=confirmed)


def _looks_random(word: str) -> bool:
    """Whether 40 characters are an AWS secret: of all kinds, no hash, and hardly one twice."""
    if len(word) != 40 or re.fullmatch(r"[0-9a-f]+|[0-9A-F]+|.*[=_.-].*", word):
        return False
    kinds = (r"[a-z]", r"[A-Z]", r"\d")
    if not all(re.search(kind, word) for kind in kinds):
        return False
    counts = Counter(word).values()
    entropy = -sum(count / len(word) * math.log2(count / len(word)) for count in counts)
    return entropy > 4.2


_WORD_HINTS = ("pass", "pw", "psk", "secret", "cred", "connection")
_KEY_HINTS = (
    *("token", "authorization", "cookie", "jwt", "key", "certificate", "_pat", "salt", "otp"),
)
_VARIABLE = rf"(?!(?:OLD)?PWD\b)(?=[\w.-]{{0,80}}(?:{VARIABLE}))[\w.-]{{1,160}}"
_ONE_WORD = rf"(?:{_QUOTED}|(?P<s9>(?:{_PLAIN}){{1,{LONGEST}}}))"
_BLANK = r"[ \t]{1,20}"

_PREFIXED = tuple(
    line.split(" ")
    for line in (files("nettests.redaction") / "token_prefixes.txt").read_text("utf-8").splitlines()
    if not line.startswith("#")
)
"""A token's own first letters, and the pattern of what follows them."""
SHAPES: tuple[Shape, ...] = (
    # samples: password: me & you = us, - DB_PASSWORD=correct horse
    _shape(
        "named words, a line",
        rf"(?m:^)[ \t]{{0,80}}(?:-[ \t]|export[ \t])?[\w.-]{{0,80}}?(?:{WORDS}){_DIGITS}[ \t]{{0,20}}[:=]"
        rf"[ \t]{{0,20}}{_HARMLESS}(?P<s9>(?![\s{{\[|>\"'=])(?:[^\r\n;]|;(?!{_KEY_NEXT})){{1,{LONGEST}}})",
        *_WORD_HINTS,
        ignore_case=True,
    ),
    # samples: the password=correct horse, Password='my;pass';Server=y, Password='my;pass';Server=y, {\"secret\": \"x\"}
    _shape(
        "named words",
        rf"(?:{WORDS}){_DIGITS}{_SEPARATOR}[ \t]{{0,20}}{_HARMLESS}"
        rf"(?:{_QUOTED}|(?P<s9>(?![{{\[|>])(?:{_PLAIN})(?:{_PLAIN}{_SPACE}){{0,{LONGEST}}}))",
        *_WORD_HINTS,
        ignore_case=True,
    ),
    # samples: "token": "abc", apiKey=x, client-key-data: aHVu
    _shape(
        "named keys",
        rf"(?:{KEYS}){_DIGITS}{_SEPARATOR}[ \t]{{0,20}}{_HARMLESS}{_PROSE}(?![{{\[|>]){_ONE_WORD}",
        *_KEY_HINTS,
        ignore_case=True,
    ),
    # sample: "password":⏎  "x"
    _shape(
        "named, on the next line",
        rf"(?:{NAMES})\"[ \t]{{0,20}}:\s{{1,80}}{_HARMLESS}(?:{_QUOTED})",
        *_WORD_HINTS,
        *_KEY_HINTS,
        ignore_case=True,
    ),
    # samples: - name: DB_PASSWORD⏎  value: x, {\"name\":\"API_TOKEN\",\"value\":\"x\"}
    _shape(
        "variable",
        rf"(?<![\w.-])(?:name|key){_SEPARATOR}[ \t]{{0,20}}{_QUOTE}?{_VARIABLE}{_QUOTE}?,?\s{{0,80}}{_QUOTE}?value{_SEPARATOR}"
        rf"[ \t]{{0,20}}{_HARMLESS}(?:{_QUOTED}|(?P<s9>[^\s\"'|>\\][^\r\n]{{0,{LONGEST}}}))",
        "value",
        ignore_case=True,
    ),
    # samples: - value: x⏎  name: DB_PASSWORD, {\"value\":\"x\",\"name\":\"API_TOKEN\"}
    _shape(
        "variable, its value first",
        rf"(?<![\w.-])value{_SEPARATOR}[ \t]{{0,20}}(?:{_QUOTED}|(?P<s9>[^\s\"'|>\\][^\r\n]{{0,{LONGEST}}}))"
        rf"{_QUOTE}?,?\s{{0,80}}{_QUOTE}?(?:name|key){_SEPARATOR}[ \t]{{0,20}}{_QUOTE}?{_VARIABLE}",
        "value",
        ignore_case=True,
    ),
    # samples: --token abc, -token abc, --db-password 'my pass', "--token", "abc"
    _shape(
        "flag",
        rf"-(?<![\w-]-)-?(?:[\w-]{{0,60}}[-_]|store|key)?(?:{NAMES})(?:{_BLANK}|{_QUOTE},\s{{0,80}}(?={_QUOTE}))(?!{_QUOTE}?-){_HARMLESS}{_ONE_WORD}",
        *_WORD_HINTS,
        *_KEY_HINTS,
        ignore_case=True,
    ),
    # samples: curl -u user:pw, curl -uuser:pw, --proxy-user "user:my pw"
    _shape(
        "login",
        rf"-(?<![\w-]-)(?:u|U|-user|-proxy-user)(?:\"?,?[ \t=]{{1,20}}|(?=[^\s-]))(?!{ADDRESS})"
        rf"(?:{_QUOTE}?(?<=\")(?P<s1>[^\"\r\n:]{{1,256}}:[^\"\r\n]{{1,{LONGEST}}})"
        rf"|'(?P<s2>[^'\r\n:]{{1,256}}:[^'\r\n]{{1,{LONGEST}}})"
        rf"|(?P<s9>[^\s:\"']{{1,256}}:[^\s\"']{{1,{LONGEST}}}))",
        "-u",
        "-user",
    ),
    # samples: {"auth": "dXNlcjpwdw=="}, auth: dXNlcjpwdw==
    _shape(
        "docker login",
        rf"(?<![A-Za-z0-9-])auth{_SEPARATOR}[ \t]{{0,20}}(?:{_QUOTED}|(?P<s9>(?=[a-z]{{0,60}}(?-i:[A-Z0-9+/]))[A-Za-z0-9+/]{{8,{LONGEST}}}={{0,2}}))",
        "auth",
        ignore_case=True,
    ),
    # samples: Authorization: Basic dXNlcjpwdw==, "Proxy-Authorization":["Bearer x"], Set-Cookie: sid=1
    _shape(
        "header",
        rf"(?<![\w-])(?:(?:proxy-)?(?<!require )authorization|(?:set-)?cookie|x-[a-z-]{{0,40}}(?:token|key)){_SEPARATOR}"
        rf"[ \t]{{0,20}}(?!\[redacted\]|[\s{{])(?P<s1>[^\r\n]{{1,{LONGEST}}})",
        "authorization",
        "cookie",
        "token",
        "key",
        ignore_case=True,
    ),
    # sample: Bearer abc.def-123
    _shape(
        "bearer",
        rf"\bbearer[ \t]{{1,20}}(?!token\b|realm=)(?P<s1>[A-Za-z0-9._~+/=-]{{6,{LONGEST}}})",
        "bearer",
        ignore_case=True,
    ),
    # samples: https://hunter2@proxy.test, //token@host
    _shape("user of an address", r"://(?P<s1>[^\s/@\"'<>:?#]{1,256})@", "@"),
    # samples: http://user:pa/ss@w@host:80/; not http://10.0.0.1:8080/a@b, docker://host:5000/a@sha256:…
    _shape(
        "password of an address",
        r"://(?![\w-]{1,63}(?:\.[\w-]{1,63}){1,20}:\d{1,5}[/?#]|localhost:\d{1,5}[/?#])"
        r"(?P<s1>[^\s/@\"'<>:?#\[]{0,256}:[^\s\"'<>]{1,256})@(?!sha\d{3}:)",
        "@",
    ),
    # samples: ?sv=1&sig=a%2Fb, &X-Amz-Signature=x, &X-Amz-Credential=x; ?code=x of Azure Functions, not ?code=404
    _shape(
        "signature",
        rf"[?&](?:(?:[\w-]{{0,20}}-)?(?:sig|signature|credential)=|code=(?=[^\s\"'&]{{20}}))(?P<s1>[^\s\"'&]{{1,{LONGEST}}})",
        *("sig=", "signature=", "credential=", "code="),
        ignore_case=True,
    ),
    # sample: eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJ4In0.c2ln
    _shape(
        "JSON Web Token",
        rf"(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{{5,{LONGEST}}}\.[A-Za-z0-9_-]{{5,{LONGEST}}}"
        rf"(?:\.[A-Za-z0-9_-]{{0,{LONGEST}}})?",
        "eyj",
    ),
    # sample: 07401b.f395accd246ae52d, a bootstrap token (kubeadm); not the name of an event
    _shape(
        "bootstrap token",
        r"\.(?<=[a-z0-9]{6}\.)(?<![\w.-][a-z0-9]{6}\.)(?P<s1>[a-z0-9]{16})(?![\w.-])",
        ".",
    ),
    # sample: wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY
    _shape(
        "AWS secret",
        rf"[A-Za-z0-9/+=_.-]{{40,{LONGEST}}}",  # a whole word: whether it has exactly 40 is checked later
        *"0123456789",
        confirmed=_looks_random,
    ),
    # sample: 110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsawQ
    _shape("Telegram token", r":(?<=\d{8}:)(?P<s1>[0-9A-Za-z_-]{35})(?![\w-])", ":"),
    # samples: ghp_…, hvs.…: what the scanner lacks, or knows in some of its forms
    *(
        _shape(f"{first}…", rf"(?<![A-Za-z0-9]){re.escape(first)}{rest}", first.lower())
        for first, rest in _PREFIXED
    ),
    # samples: <Password>x</Password>, <Password><Value>x, <property name="db.password">x</property>
    _shape(
        "element",
        rf"(?:<|&lt;)(?:[\w.-]{{0,60}}?:)?(?:[\w.-]{{0,60}}?(?:{NAMES})|[\w.-]{{1,60}}{_BLANK}name=\"[\w.-]{{0,80}}(?:{NAMES})\")"
        rf"(?:[ \t][^<>\r\n]{{0,200}})?(?:>|&gt;)(?:\s{{0,80}}<Value>)?\s{{0,80}}(?P<s1>[^\s<&][^<&]{{0,{LONGEST}}})(?:<|&lt;)/",
        "</",
        "&lt;/",
        ignore_case=True,
    ),
    # samples: sshpass -p x, docker login -u me -p x, mysql -uroot -px, redis-cli -a x
    _shape(
        "password of a tool",
        rf"\b(?:sshpass{_BLANK}-p|(?:docker|podman|nerdctl|az|oc)[ \t]login[^\r\n]{{0,200}}?[ \t]-p"
        rf"|mysql(?:dump|admin)?[ \t][^\r\n]{{0,200}}?-p(?=\S)|redis-cli[ \t][^\r\n]{{0,200}}?-a)[ \t]{{0,20}}{_ONE_WORD}",
        *("sshpass", "login", "mysql", "redis-cli"),
    ),
    # samples: net use Z: \\srv\x pw /user:me, /user:me pw
    _shape(
        "password of a share",
        rf"\bnet(?:\.exe)?[ \t]use[ \t][^\r\n]{{0,200}}?(?:\\\\\S{{1,200}}|/user:\S{{1,200}}){_BLANK}(?P<s1>[^\s/]\S{{0,255}})",
        "net use",
        "net.exe use",
        ignore_case=True,
    ),
    # samples: ConvertTo-SecureString -String 'x', setx API_TOKEN x
    _shape(
        "text of PowerShell",
        rf"(?:ConvertTo-SecureString(?:{_BLANK}-String)?|\bsetx{_BLANK}{_VARIABLE}){_BLANK}(?![-$]){_ONE_WORD}",
        *("securestring", "setx"),
        ignore_case=True,
    ),
    # samples: password "x"; : PSK "x", authenticator md5 "x" (BIRD, strongSwan)
    _shape(
        "quoted behind its name",
        rf"(?<![\w-])(?:password|psk|md5){_BLANK}\"(?P<s1>[^\"\r\n]{{1,{LONGEST}}})\"",
        *("password", "psk", "md5"),
        ignore_case=True,
    ),
    # samples: neighbor 10.0.0.1 password x, enable password 8 x, key-string x (FRR), auth_pass x (keepalived)
    _shape(
        "line of a router",
        r"(?m:^)[ \t]{0,40}(?:neighbor[ \t]\S{1,80}[ \t]password|(?:enable|isis|area|domain)[ \t-]password(?:[ \t](?:clear|md5))?"
        r"|ip(?:v6)?[ \t]\w{1,10}[ \t](?:message-digest-key[ \t]\d{1,3}[ \t]md5|authentication-key)|key-string"
        r"|snmp-server[ \t]community|auth_pass|stats[ \t]auth[ \t][^\s:]{1,80}:|credentials[ \t]\S{1,80}"
        r"|secret[ \t]\S{1,80}(?=[ \t]\S{8,200}(?m:$))|password(?=[ \t]{1,20}\S{1,200}(?m:$)))"
        r"(?:[ \t]\d(?=[ \t]))?[ \t]{0,20}(?P<s1>[^\s\"]\S{0,255})",
        *("password", "key", "community", "auth", "credentials", "secret"),
    ),
    # sample: aws_access_key AKIA… x (CoreDNS, plugin route53)
    _shape("AWS keys", rf"aws_access_key{_BLANK}(?P<s1>[^\r\n]{{1,255}})", "aws_access_key"),
    # samples: $6$salt$…, $2y$10$…, $argon2id$v=19$…, pbkdf2_sha256$…, {SSHA}…, …:31d6cfe0…:::
    _shape(
        "hash of a password",
        r"\$(?:[1567y]|2[abxy]|gy|apr1|argon2\w{1,2}|scrypt)\$[^\s:\"']{10,512}|pbkdf2_\w{1,20}\$[^\s:\"']{10,512}"
        r"|\{(?:S?SHA\d{0,3}|S?MD5|CRYPT)\}[^\s\"']{10,255}|(?<![0-9a-f])[0-9a-f]{32}:[0-9a-f]{32}(?=:::)",
        *("$", "sha", "md5}", "crypt}", ":::"),
    ),
    # samples: discord.com/api/webhooks/1/x, x.webhook.office.com/webhookb2/x
    _shape(
        "webhook",
        r"/(?:webhooks/\d{1,30}|webhookb2)/(?P<s1>[^\s\"'?]{8,512})",
        "webhook",
    ),
)
"""In no particular order: all look at the whole text."""
