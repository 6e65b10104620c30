"""agnhost's command line: sub-commands with their flags, help texts and usage errors."""

from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Any

from nettests.lab.data_files import read_yaml
from nettests.lab.interfaces import Process
from nettests.lab.programs.agnhost import netexec, small_commands
from nettests.lab.programs.golang.values import Flags, Parsed, UsageError, parse, quote
from nettests.lab.programs.terminal import until_terminated

Run = Callable[[Process, Parsed], Coroutine[Any, Any, int]]


@dataclass(frozen=True, slots=True)
class Command:
    """One sub-command; with ``handles_terminate`` it handles SIGTERM itself."""

    run: Run
    arguments: int = 0
    handles_terminate: bool = False


COMMANDS: Mapping[str, Command] = {
    "connect": Command(small_commands.connect, arguments=1),
    "dns-server-list": Command(small_commands.print_servers),
    "dns-suffix": Command(small_commands.print_suffixes),
    "etc-hosts": Command(small_commands.print_hosts),
    "mounttest": Command(small_commands.mounttest),
    "netexec": Command(netexec.netexec, handles_terminate=True),
    "no-snat-test": Command(netexec.no_snat_test),
    "pause": Command(small_commands.pause, handles_terminate=True),
    "port-forward-tester": Command(small_commands.port_forward_tester),
    "tcp-reset": Command(small_commands.tcp_reset),
}
_FLAGS: Mapping[str, Flags] = read_yaml(__package__, "flags.yaml")

_VERSION = "app version development\n"


async def run(process: Process, words: Sequence[str]) -> int:
    """Run ``agnhost`` with these arguments; return the exit code."""
    try:
        return await _run(process, list(words))
    except UsageError as error:
        await process.stderr(f"Error: {error}\n".encode())
        return 1


async def _run(process: Process, words: list[str]) -> int:
    if not words or words[0] in ("-h", "--help", "help"):
        topic = words[1] if words[:1] == ["help"] and len(words) > 1 else "app"
        await process.stdout(help_text(topic).encode())
        return 0
    if words[0] == "--version":
        await process.stdout(_VERSION.encode())
        return 0
    name = words[0]
    command = COMMANDS.get(name)
    if command is None:
        return await _not_provided(process, name, words[1:])
    options = parse(_FLAGS.get(name, {}), words[1:])
    if options.help:
        await process.stdout(help_text(name).encode())
        return 0
    count = len(options.arguments)
    if count != command.arguments:
        wanted = f"{command.arguments}" if command.arguments else "at most 0"
        raise UsageError(f"accepts {wanted} arg(s), received {count}")
    if command.handles_terminate:
        return await command.run(process, options)
    return await until_terminated(process, command.run(process, options))


async def _not_provided(process: Process, name: str, words: list[str]) -> int:
    """Print the help of a sub-command that the lab does not provide, or refuse to run it."""
    if name.startswith("-"):
        parse({}, [name, *words])
    listed = f"\n  {name} " in help_text("app")
    if not listed:
        raise UsageError(f'unknown command {quote(name)} for "app"')
    if "--help" in words or "-h" in words:
        await process.stdout(help_text(name).encode())
        return 0
    raise UsageError(
        f"the lab's agnhost does not provide {quote(name)}; "
        f"it provides {', '.join(sorted(COMMANDS))}"
    )


def help_text(topic: str) -> str:
    """Return a recorded help text, or a sentence that there is none."""
    text = resources.files(__package__).joinpath("help", f"{topic}.txt")
    if not text.is_file():
        return f"The help of {quote(topic)} is not recorded.\n"
    return text.read_text(encoding="utf-8")
