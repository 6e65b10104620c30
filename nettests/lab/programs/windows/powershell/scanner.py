"""Characters of a script: what is blank, what is a word, a number, a variable or an operator."""

import re

BLANKS = re.compile(r"(?:[ \t\r]|`\r?\n|<#.*?#>|#[^\n]*)*", re.DOTALL)
LINES = re.compile(r"(?:[ \t\r\n]|`\r?\n|<#.*?#>|#[^\n]*)*", re.DOTALL)
ENDS = re.compile(r"(?:[ \t\r\n;]|`\r?\n|<#.*?#>|#[^\n]*)*", re.DOTALL)
# samples: $x  $env:PATH  $script:x  ${a b}  $_  $?
VARIABLE = re.compile(r"\$(?:(\w+:\w+|\w+|[?^$])|\{([^}]+)\})")
# samples: 7  0x1F  1.5  64KB
NUMBER = re.compile(
    r"(0x[0-9a-f]+|\d+\.\d+(?:e[+-]?\d+)?|\d+)([kmgt]b)?(?=\.\.|[^\w.]|$)", re.IGNORECASE
)
WORD = re.compile(r"[A-Za-z_][\w-]*")
# samples: [string]  [Net.IPAddress]  [byte[]]
TYPE = re.compile(r"\[([A-Za-z_][\w.]*(?:\[\])?)\]")
# samples: -Name  -w
PARAMETER = re.compile(r"-[A-Za-z_?][\w-]*")
# sample: -eq
OPERATOR = re.compile(r"-[A-Za-z]+\b")
DELIMITERS = " \t\r\n;|,)}>"
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t", "0": "\0", "a": "\a", "b": "\b", "f": "\f", "v": "\v"}
_UNITS = {"": 1, "kb": 1 << 10, "mb": 1 << 20, "gb": 1 << 30, "tb": 1 << 40}


class ScriptError(Exception):
    """A script is none of PowerShell's, as far as the lab knows them: the token, and where it is."""

    def __init__(self, token: str, place: int) -> None:
        super().__init__(token)
        self.token, self.place = token, place


class Scanner:
    """A place in a script."""

    def __init__(self, text: str) -> None:
        self.text, self.at = text, 0

    @property
    def char(self) -> str:
        """The next character, empty at the end."""
        return self.text[self.at : self.at + 1]

    def skip(self, what: re.Pattern[str] = BLANKS) -> None:
        """Pass blanks."""
        match = what.match(self.text, self.at)
        self.at = match.end() if match else self.at

    def peek(self, *texts: str) -> bool:
        """Whether one of the texts comes next."""
        return self.text.startswith(texts, self.at)

    def take(self, text: str) -> bool:
        """Pass a text, if it comes next."""
        taken = self.peek(text)
        self.at += len(text) if taken else 0
        return taken

    def want(self, text: str) -> None:
        """Pass a text, which has to come next, on another line maybe."""
        self.skip(LINES)
        if not self.take(text):
            raise self.unexpected()

    def match(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """Pass what a pattern matches."""
        match = pattern.match(self.text, self.at)
        self.at = match.end() if match else self.at
        return match

    def keyword(self, word: str) -> bool:
        """Pass a word of the language, in any case."""
        match = WORD.match(self.text, self.at)
        taken = match is not None and match[0].lower() == word
        self.at += len(word) if taken else 0
        return taken

    def character(self) -> str:
        """Read one character of a text, or an escape sequence."""
        escaped = self.take("`")
        self.at += 1
        character = self.text[self.at - 1 : self.at]
        return _ESCAPES.get(character, character) if escaped else character

    def unexpected(self) -> ScriptError:
        """Return the error of what comes next."""
        token = re.compile(r"\S+").match(self.text, self.at)
        return ScriptError(token[0] if token else "", self.at)


def name_of(variable: re.Match[str]) -> str:
    """Return a variable's name, in lower case."""
    return str(variable[1] or variable[2]).lower()


def number_of(match: re.Match[str]) -> int | float:
    """Return a number that ``NUMBER`` matched."""
    written = match[1].lower()
    if written.startswith("0x"):
        return int(written, 16)
    value = float(written) if "." in written else int(written)
    return value * _UNITS[(match[2] or "").lower()]
