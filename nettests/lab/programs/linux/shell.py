"""``sh -c TEXT`` for one-liners of exec and probes: lists of simple commands.

Commands are the image's programs, run one after the other in this process; nothing of the host is started
or read. A text may also be subshells in the background and a final ``wait``. Pipes, files, globs, loops and
interactive use are not supported, and variables only for what a command prints: any other text is refused
before any of it runs. Messages are BusyBox's.
"""

import asyncio
import re
import signal
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from nettests.lab.interfaces import Process, ProgramNotFoundError
from nettests.lab.programs.linux import basics
from nettests.lab.programs.terminal import ExitError, drop, keeping

Run = Callable[[Process], Awaitable[int]]

_PID = "7"
_SYNTAX_ERROR = 2
_NOT_FOUND = 127
_SIGNALLED = 128

# Samples: echo out;echo err>&2;exit 7     kill -9 $$     true && echo "a  b" 'c;d' 2>/dev/null
_TOKEN = re.compile(
    r"""[ \t]*(?:
        (?P<redirect>[12]?>(?:&[12]|[ ]*/dev/null))
      | (?P<assigned>\w+=\$\([^()]*\))
      | (?P<joiner>&&|\|\||;|\n)
      | (?P<word>(?:\$\?|'[^']*'|"(?:[^"\\`$]|\$(?!\())*"|\\.|[^\s;&|<>()'"\\`*?\[])+)
    )[ \t]*""",
    re.VERBOSE | re.DOTALL,
)
# Sample: out=$(ping -c 3 10.0.0.1 2>&1)
_ASSIGNED = re.compile(r"(\w+)=\$\(([^()]*)\)")
# Sample: (out=$(ping -c 3 10.0.0.1); echo "$out")&(echo second)&wait
_SUBSHELL = re.compile(r"\(((?:\$\([^()]*\)|[^()])*)\)&")
_IN_BACKGROUND = re.compile(rf"(?:{_SUBSHELL.pattern})+wait")
# Samples: 'c;d'   "a  $?"   \;   plain
_PART = re.compile(r"""'([^']*)'|"([^"]*)"|\\(.)|([^'"\\]+)""", re.DOTALL)
# Samples: $$   $?   $HOSTNAME   ${HOSTNAME}
_PARAMETER = re.compile(r"\$(?:([$?])|\{?(\w+)\}?)")


class _ShellSyntaxError(Exception):
    """The text is not a list of simple commands."""


@dataclass(slots=True)
class _Command:
    """One simple command: its operator, its words as written, and its redirections."""

    joiner: str
    words: list[str] = field(default_factory=list)
    redirects: list[str] = field(default_factory=list)


async def run(process: Process, words: Sequence[str], program: Run) -> int:
    """Run ``sh -c TEXT``; ``program`` runs programs of the image."""
    if words[:1] != ["-c"] or len(words) < 2:
        await process.stderr(b"sh: the lab's shell knows -c TEXT only\n")
        return _SYNTAX_ERROR
    in_background = _IN_BACKGROUND.fullmatch(words[1]) is not None
    texts = [match[1] for match in _SUBSHELL.finditer(words[1])] if in_background else words[1:2]
    try:
        lists = [list(_commands(text)) for text in texts]
    except _ShellSyntaxError as error:
        await process.stderr(f"sh: syntax error: {error}\n".encode())
        return _SYNTAX_ERROR
    status, *_ = await asyncio.gather(*(_run_list(process, each, program) for each in lists))
    return 0 if in_background else status


async def _run_list(process: Process, commands: Sequence[_Command], program: Run) -> int:
    """Run commands in a shell of their own; return the last one's exit code."""
    status = 0
    try:
        for command in commands:
            if (command.joiner == "&&" and status) or (command.joiner == "||" and not status):
                continue
            if assigned := _ASSIGNED.fullmatch(command.words[0]):
                inner = replace(process, stdout=keeping(output := bytearray()))
                status = await _run_list(inner, list(_commands(assigned[2])), program)
                value = output.decode(errors="replace").rstrip("\n")
                environment = {**process.environment, assigned[1]: value}
                process = replace(process, environment=environment)
            else:
                status = await _run(process, command, status, program)
    except ExitError as exit_:
        return exit_.code
    return status


def _commands(text: str) -> Iterator[_Command]:
    """Split the text into commands; only after a final ``;`` may one be empty."""
    command, position = _Command(";"), 0
    while position < len(text):
        token = _TOKEN.match(text, position)
        if token is None:
            rest = text[position:].split()
            if rest:
                raise _ShellSyntaxError(f"the lab's shell cannot read {rest[0]!r}")
            break
        position = token.end()
        if token["assigned"] is not None:
            list(_commands(_ASSIGNED.sub(r"\2", token["assigned"])))
            command.words.append(token["assigned"])
        elif token["word"] is not None:
            command.words.append(token["word"])
        elif token["redirect"] is not None:
            command.redirects.append(token["redirect"])
        else:
            if not command.words:
                raise _ShellSyntaxError(f"unexpected {token['joiner']!r}")
            yield command
            command = _Command(token["joiner"])
    if command.words:
        yield command
    elif command.joiner in {"&&", "||"}:
        raise _ShellSyntaxError("unexpected end of file")


async def _run(process: Process, command: _Command, status: int, program: Run) -> int:
    parameters = {**process.environment, "$": _PID, "?": str(status)}
    argv = [_expanded(word, parameters) for word in command.words]
    streams = {"1": process.stdout, "2": process.stderr}
    for redirect in command.redirects:  # in order
        source, _, target = redirect.partition(">")
        streams[source or "1"] = streams[target[1]] if target[0] == "&" else drop
    if argv[0] == "exit":
        raise ExitError(int(argv[1]) % 256 if argv[1:] and argv[1].isdigit() else status)
    if argv[0] == "kill":  # kill -9 $$ ends the shell itself
        number, targets = basics.kill_arguments(argv[1:])
        if number and number != signal.SIGSTOP and _PID in targets:
            raise ExitError(_SIGNALLED + number)
    try:
        return await program(replace(process, argv=argv, stdout=streams["1"], stderr=streams["2"]))
    except ProgramNotFoundError:
        await streams["2"](f"sh: {argv[0]}: not found\n".encode())
        return _NOT_FOUND


def _expanded(word: str, parameters: Mapping[str, str]) -> str:
    """Remove quotes and expand parameters, without word splitting."""

    def value(match: re.Match[str]) -> str:
        return parameters.get(match[1] or match[2], "")

    def part(match: re.Match[str]) -> str:
        single, double, escaped, plain = match.groups()
        if single is not None or escaped is not None:
            return str(single if escaped is None else escaped)
        return _PARAMETER.sub(value, plain if double is None else double)

    return _PART.sub(part, word)
