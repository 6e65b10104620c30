"""``sh -c``, ``kill``, ``tty`` and ``cat`` of standard input: small Linux programs without a network."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence

import pytest

from nettests.lab.interfaces import Process
from nettests.lab.programs.images import run
from nettests.lab.programs.linux import shell
from tests.lab.programs.test_images import LINUX
from tests.lab.programs.worlds import Finished

NO_FILE = "cat: /none: No such file or directory"
ENDS_SECONDS = 30.0


def finish(*argv: str, stdin: Sequence[bytes] = (), tty: bool = False) -> Finished:
    """Run a program to its end."""
    out, err, chunks = bytearray(), bytearray(), iter(stdin)

    def into(written: bytearray) -> Callable[[bytes], Awaitable[None]]:
        async def write(data: bytes) -> None:
            written.extend(data)

        return write

    async def read() -> bytes:
        return next(chunks, b"")

    process = Process(
        argv=argv,
        environment={"HOSTNAME": "p1"},
        machine=LINUX,
        stdout=into(out),
        stderr=into(err),
        stdin=read,
        tty=tty,
    )

    async def main() -> int:
        return await run(process)

    return Finished(asyncio.run(main()), out.decode(), err.decode())


@pytest.mark.parametrize(
    ("text", "code", "stdout", "stderr"),
    [
        ("echo out;echo err>&2;exit 7", 7, "out\n", "err\n"),
        ("kill -9 $$", 137, "", ""),
        ("kill -s TERM $$; echo never", 143, "", ""),
        ("exit 3; echo never", 3, "", ""),
        ("false", 1, "", ""),
        ("false && echo no || echo yes", 0, "yes\n", ""),
        ("true || echo no; false; echo $?", 0, "1\n", ""),
        (
            "echo 'a;  $HOSTNAME' \"b  $HOSTNAME ${HOSTNAME}\" \\;",
            0,
            "a;  $HOSTNAME b  p1 p1 ;\n",
            "",
        ),
        ("echo -n x; echo y", 0, "xy\n", ""),
        ('o=$(cat /none 2>&1); echo "<$o> $?"', 0, f"<{NO_FILE}> 1\n", ""),
        ('(o=$(echo a; echo b); echo "$o")&(exit 3)&wait', 0, "a\nb\n", ""),
        ("cat /none 2>&1", 1, "cat: /none: No such file or directory\n", ""),
        ("cat /none 2>/dev/null", 1, "", ""),
        ("echo a >/dev/null 2>&1\necho b;", 0, "b\n", ""),
        ("nosuch", 127, "", "sh: nosuch: not found\n"),
        ("", 0, "", ""),
    ],
)
def test_a_list_of_simple_commands_runs_as_in_a_shell(
    text: str, code: int, stdout: str, stderr: str
) -> None:
    """Joiners, quotes, parameters and redirections mean what they mean in BusyBox's ``sh``."""
    assert finish("sh", "-c", text) == Finished(code, stdout, stderr)


@pytest.mark.parametrize(
    "text",
    [
        "echo first; echo a | cat",
        "echo first; echo $(hostname)",
        'echo first; echo "$(hostname)"',
        "echo first; echo `hostname`",
        "echo first; o=$(echo a | cat)",
        "(echo first)& echo second",
        "echo first > /tmp/file",
        "echo first; cat < /etc/hosts",
        "echo first; echo *",
        "echo first & echo second",
        "echo first;; echo second",
        "echo first &&",
        "echo first; echo 'open",
    ],
)
def test_what_the_shell_does_not_know_is_refused_before_anything_runs(text: str) -> None:
    """Nothing is printed but the complaint, and the exit code is that of a syntax error."""
    ended = finish("sh", "-c", text)
    assert (ended.code, ended.stdout) == (2, "")
    assert ended.stderr.startswith("sh: syntax error: ")


def test_subshells_in_the_background_run_beside_each_other() -> None:
    """The first one ends although it waits for the second."""
    begun = asyncio.Event()

    async def program(process: Process) -> int:
        if process.argv == ["begin"]:
            begun.set()
        await begun.wait()
        return 0

    async def drop(data: bytes) -> None:
        assert not data

    process = Process(argv=(), environment={}, machine=LINUX, stdout=drop, stderr=drop)
    words = ["-c", "(await)&(begin)&wait"]
    shell_run = shell.run(process, words, program)
    assert asyncio.run(asyncio.wait_for(shell_run, ENDS_SECONDS)) == 0


@pytest.mark.parametrize("words", [(), ("script.sh",), ("-c",)])
def test_the_shell_reads_no_script_and_no_terminal(words: Sequence[str]) -> None:
    """Only ``-c TEXT`` is provided."""
    assert finish("sh", *words).code == 2


@pytest.mark.parametrize(
    ("words", "code", "stderr"),
    [
        (["-9", "1"], 0, ""),
        (["-KILL", "1"], 0, ""),
        (["-s", "sigkill", "1"], 0, ""),
        (["1"], 1, "kill: can't kill pid 1: The lab delivers no signals\n"),
        (["-9", "42"], 1, "kill: can't kill pid 42: No such process\n"),
        (["-nosuch", "1"], 1, "kill: you need to specify whom to kill, and a known signal\n"),
        ([], 1, "kill: you need to specify whom to kill, and a known signal\n"),
    ],
)
def test_the_first_process_withstands_sigkill(words: list[str], code: int, stderr: str) -> None:
    """From inside its namespace process 1 cannot be killed; nobody else is there."""
    assert finish("kill", *words) == Finished(code, "", stderr)


def test_cat_copies_standard_input() -> None:
    """Without names, and for ``-``, what comes in goes out until the end."""
    assert finish("cat", stdin=[b"a", b"b\n"]).stdout == "ab\n"
    assert finish("cat", "-", "/etc/hostname", stdin=[b"in\n"]).stdout == "in\npod\n"


def test_tty_tells_whether_there_is_a_terminal() -> None:
    """A program on a terminal is told its name."""
    assert finish("tty", tty=True) == Finished(0, "/dev/pts/0\n", "")
    assert finish("tty") == Finished(1, "not a tty\n", "")
