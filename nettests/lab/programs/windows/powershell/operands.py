"""Parse characters, operands and expressions of a script, and the arguments of commands; ``grammar`` parses statements."""

import re
from collections.abc import Callable

from nettests.lab.programs.windows.powershell import syntax as s

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
    """A script is invalid or not supported by the lab: the token, and its position."""

    def __init__(self, token: str, place: int) -> None:
        super().__init__(token)
        self.token, self.place = token, place


class Scanner:
    """A script with the current position."""

    def __init__(self, text: str) -> None:
        self.text, self.at = text, 0

    @property
    def char(self) -> str:
        """The next character, empty at the end."""
        return self.text[self.at : self.at + 1]

    def skip(self, what: re.Pattern[str] = BLANKS) -> None:
        """Skip blanks."""
        self.match(what)

    def peek(self, *texts: str) -> bool:
        """Whether one of the texts is next."""
        return self.text.startswith(texts, self.at)

    def take(self, text: str) -> bool:
        """Consume a text if it is next; return whether it was."""
        taken = self.peek(text)
        self.at += len(text) if taken else 0
        return taken

    def want(self, text: str) -> None:
        """Consume a text, which must be next, perhaps after line breaks."""
        self.skip(LINES)
        if not self.take(text):
            raise self.unexpected()

    def match(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """Consume and return the match of a pattern, if any."""
        match = pattern.match(self.text, self.at)
        self.at = match.end() if match else self.at
        return match

    def keyword(self, word: str) -> bool:
        """Consume a keyword, in any case, if it is next."""
        match = WORD.match(self.text, self.at)
        taken = match is not None and match[0].lower() == word
        self.at += len(word) if taken else 0
        return taken

    def character(self) -> str:
        """Read one character of a string, or an escape sequence."""
        escaped = self.take("`")
        self.at += 1
        character = self.text[self.at - 1 : self.at]
        return _ESCAPES.get(character, character) if escaped else character

    def unexpected(self) -> ScriptError:
        """Return the error about the next token."""
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


_NAME = re.compile(r"[A-Za-z_]\w*")
# sample: 'it''s'
_VERBATIM = re.compile(r"'((?:[^']|'')*)'")
_COMPARISONS = (
    "-eq -ne -gt -ge -lt -le -like -notlike -match -notmatch -contains -notcontains -in -notin -replace "
    "-ceq -cne -clike -cmatch -creplace -ieq -ine -imatch -ireplace"
)
_LEVELS = tuple(frozenset(words.split()) for words in ("-and -or", _COMPARISONS, "+ -", "* / %"))
_SYMBOLS = ("+", "-", "*", "/", "%")
_NOT_BINARY = ("++", "--", "+=", "-=", "*=", "/=", "%=")
_NOT = "-not"
_GROUPS = ("(", "$(", "@(")
_OPERANDS = ("$", "'", '"', "{", "@{", *_GROUPS)


class Operands(Scanner):
    """Parses expressions."""

    statements: Callable[[str], s.Nodes]
    """Reads statements up to a closing character."""
    statement: Callable[[], s.Node]
    parameters: Callable[[], s.Parameters]
    """Reads parameters in parentheses."""

    # arguments of commands

    def argument(self) -> s.Node:
        """Read one argument of a command, or several with commas between them."""
        return self._separated(self._one_argument)

    def _one_argument(self) -> s.Node:
        start = self.at
        if self.peek(*_OPERANDS) or TYPE.match(self.text, self.at):
            operand = self.postfix()
            if isinstance(operand, s.Variable | s.Member) and self.char not in DELIMITERS:
                self.at = start  # $root\file is one word
                return self.bareword()
            return operand
        number = NUMBER.match(self.text, self.at)
        if number and self.text[number.end() : number.end() + 1] in DELIMITERS:
            self.at = number.end()
            return s.Constant(number_of(number), number[0])
        return self.bareword()

    def bareword(self) -> s.Node:
        """Read a string without quotes."""
        start = self.at
        word = self._expanded(
            lambda: not self.char or self.char in DELIMITERS or self.char in "({<"
        )
        if self.at == start:
            raise self.unexpected()
        return word if isinstance(word, s.Expandable) else s.Constant(word.value, word.value)

    def _expanded(self, ended: Callable[[], bool], *, quoted: bool = False) -> s.Node:
        """Read a string in which variables and ``$( )`` are expanded; a word may contain quotes."""
        parts, text = list[s.Node](), ""
        while not ended():
            if not quoted and self.char in {"'", '"'}:
                parts += [s.Constant(text, ""), self.quoted()]
                text = ""
            elif self.peek("$(") or VARIABLE.match(self.text, self.at):
                parts += [s.Constant(text, ""), self.primary()]
                text = ""
            else:
                text += self.character()
        return s.Expandable((*parts, s.Constant(text, ""))) if parts else s.Constant(text, "")

    # expressions

    def expression(self, level: int = 0, *, commas: bool = True) -> s.Node:
        """Read an expression; those of a method's arguments end at commas."""
        if level == len(_LEVELS):
            return self._separated(self._unary) if commas else self._unary()
        left = self.expression(level + 1, commas=commas)
        while True:
            before = self.at
            self.skip()
            operator = self._operator()
            if operator not in _LEVELS[level]:
                self.at = before
                return left
            self.skip(LINES)
            left = s.Binary(operator, left, self.expression(level + 1, commas=commas))

    def _operator(self) -> str:
        if word := self.match(OPERATOR):
            return word[0].lower()
        if self.peek(*_NOT_BINARY):
            return ""
        return next((symbol for symbol in _SYMBOLS if self.take(symbol)), "")

    def _separated(self, read: Callable[[], s.Node]) -> s.Node:
        items = [read()]
        while True:
            before = self.at
            self.skip()
            if not self.take(","):
                self.at = before
                return items[0] if len(items) == 1 else s.Items(tuple(items))
            self.skip(LINES)
            items.append(read())

    def _unary(self) -> s.Node:
        self.skip()
        word = OPERATOR.match(self.text, self.at)
        operator = word[0].lower() if word and word[0].lower() == _NOT else ""
        operator = operator or next(
            (each for each in ("!", ",", "++", "--", "+", "-") if self.peek(each)), ""
        )
        if operator:
            self.at += len(operator)
            self.skip(LINES)
            return s.Unary(operator, self._unary())
        type_name = TYPE.match(self.text, self.at)
        if type_name and not self.text.startswith("::", type_name.end()):
            before, self.at = self.at, type_name.end()
            self.skip()
            if self.char and self.char not in ";)|}\n,-=.":
                return s.Cast(type_name[1], self._unary())
            self.at = before
        operand = self.postfix()
        after = next((each for each in ("++", "--") if self.take(each)), "")
        return s.Unary(f"post{after}", operand) if after else operand

    def postfix(self) -> s.Node:
        """Read an operand with its members, calls and indexes."""
        operand = self.primary()
        while True:
            if self.peek("::") or (self.char == "." and not self.peek("..")):
                static = self.take("::") or not self.take(".")
                word = self.match(_NAME)
                name = s.Constant(word[0], "") if word else self.primary()
                arguments = self._arguments() if self.peek("(") else None
                operand = s.Member(operand, name, static, arguments)
            elif self.take("["):
                self.skip(LINES)
                operand = s.Index(operand, self.expression())
                self.want("]")
            else:
                return operand

    def _arguments(self) -> s.Nodes:
        self.want("(")
        arguments: list[s.Node] = []
        while True:
            self.skip(LINES)
            if self.take(")"):
                return tuple(arguments)
            arguments.append(self.expression(commas=False))
            self.skip(LINES)
            self.take(",")

    def primary(self) -> s.Node:
        """Read one operand."""
        if self.peek("'", '"'):
            return self.quoted()
        if self.peek(*_GROUPS):
            kind = "" if self.char == "(" else self.char
            self.at += len(kind) + 1
            body = self.statements(")")
            self.want(")")
            return s.Group(kind, body)
        if self.take("@{"):
            return self._hash()
        if self.peek("{"):
            return self.script_block()
        if variable := self.match(VARIABLE):
            return s.Variable(name_of(variable))
        if type_name := self.match(TYPE):
            return s.TypeName(type_name[1])
        if number := self.match(NUMBER):
            return s.Constant(number_of(number), number[0])
        raise self.unexpected()

    def script_block(self, parameters: s.Parameters = ()) -> s.Block:
        """Read a block as a value, or a function's body."""
        self.want("{")
        self.skip(ENDS)
        if self.keyword("param"):
            parameters = self.parameters()
        body = self.statements("}")
        self.want("}")
        return s.Block(body, parameters)

    def _hash(self) -> s.Node:
        entries: list[tuple[s.Node, s.Node]] = []
        while True:
            self.skip(ENDS)
            if self.take("}"):
                return s.Hash(tuple(entries))
            word = self.match(WORD)
            key = s.Constant(word[0], "") if word else self.primary()
            self.want("=")
            self.skip(LINES)
            entries.append((key, self.statement()))

    def quoted(self) -> s.Node:
        """Read a string in quotes."""
        if verbatim := self.match(_VERBATIM):
            return s.Constant(verbatim[1].replace("''", "'"), "")
        if not self.take('"'):
            raise self.unexpected()
        return self._expanded(self._closed, quoted=True)

    def _closed(self) -> bool:
        """Whether a string in double quotes ends here; two quotes stand for one."""
        if not self.char:
            raise ScriptError('"', self.at)
        if self.peek('""'):
            self.text = f"{self.text[: self.at]}`{self.text[self.at + 1 :]}"
        return self.take('"')
