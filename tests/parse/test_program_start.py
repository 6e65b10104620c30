"""Programs that did not run: the texts of runtimes and of cmd, translated ones too, and what is none of them."""

from dataclasses import replace

import pytest

from nettests.judge.distrust import lost_channel, missing_program
from nettests.model.observation import Raw
from nettests.model.windows_programs import AGNHOST, ROOT
from nettests.model.words import OS, Outcome
from nettests.parse import start
from nettests.parse.program_start import is_sentence, of_answer, of_error
from nettests.parse.read import not_read, read_raw
from tests.parse.raws import raw

MISSING = {
    "runc": 'failed to exec in container: failed to start exec "5": OCI runtime exec failed: exec failed: unable to start container process: exec: "ping": executable file not found in $PATH: unknown',
    "runc, a path": 'OCI runtime exec failed: exec failed: unable to start container process: exec: "/x": stat /x: no such file or directory: unknown',
    "hcs": 'failed to exec in container: failed to start exec "544494": hcs::System::CreateProcess 544494bda2d9: The system cannot find the file specified.: unknown',
    "hcs, with the line": "hcs::System::CreateProcess: nosuch.exe -x 544494bda2d9: The system cannot find the file specified.: unknown",
    "hcs, the folder": "failure in a Windows system call: The system cannot find the path specified.",
    "hcs, in German": "hcs::System::CreateProcess 54449: Das System kann die angegebene Datei nicht finden.: unknown",
    "hcs, in Chinese": "hcs::System::CreateProcess 54449: 系统找不到指定的文件。: unknown",
    "hcs, by number": "hcs::System::CreateProcess 54449: failed with 0x80070002: unknown",
    "Docker": "container 40c1d2 encountered an error during CreateProcess: failure in a Windows system call: The system cannot find the file specified.",
    "hcsshim 0.9": 'failed to start containerd task "a": failed to get application name from commandline "/x.exe": failed to find executable "\\\\x.exe": unknown',
    "hcsshim before": 'failed to start host process: exec: "C:\\\\C\\\\test\\\\agnhost": file does not exist',
}  # fmt: skip
NOT_STARTED = {
    "an account": 'failed to start containerd task "a": failed to create user process token: failed to logon user: The user name or password is incorrect.: unknown',
    "a right": "hcs::System::CreateProcess 54449: Access is denied.: unknown",
    "a file of another kind": "hcs::System::CreateProcess 54449: x.exe is not a valid Win32 application.: unknown",
}  # fmt: skip
NEITHER = (
    "container is not running",
    'unable to upgrade connection: container not found ("node")',
    "task 5a not found: not found",
)
CMD = {
    "English": "'nosuch.exe' is not recognized as an internal or external command,\r\noperable program or batch file.\r\n",
    "German": 'Der Befehl "nosuch.exe" ist entweder falsch geschrieben oder\r\nkonnte nicht gefunden werden.\r\n',
    "French": "'nosuch.exe' n'est pas reconnu en tant que commande interne\r\nou externe, un programme ex�cutable ou un fichier de commandes.\r\n",
    "French, typographic": "« nosuch.exe » n’est pas reconnu en tant que commande interne",
    "Russian": '"nosuch.exe" �� ���� ����७��� ��� ���譥�\r\n��������',
    "Chinese": "'nosuch.exe' 不是内部或外部命令，也不是可运行的程序\r\n或批处理文件。\r\n",
    "Japanese": "'nosuch.exe' は、内部コマンドまたは外部コマンド、\r\n操作可能なプログラムまたはバッチ ファイルとして認識されていません。\r\n",
    "Korean": "'nosuch.exe'은(는) 내부 또는 외부 명령, 실행할 수 있는 프로그램, 또는\r\n배치 파일이 아닙니다.\r\n",
}
"""What cmd says of a program that it does not find; its own words in each language do not matter, the quotes do."""
RAW = Raw(
    check="c",
    purpose="check",
    attempt=1,
    tool="curl",
    client_os=OS.WINDOWS,
    probe="node-windows-1-1",
    channel="exec",
    command=("curl.exe", "-sS", "http://10.0.0.1/"),
    started=0,
    elapsed=0,
    exit_code=1,
)


@pytest.mark.parametrize("message", MISSING.values(), ids=MISSING)
def test_a_missing_program_is_known_by_the_runtime_s_error(message: str) -> None:
    """Each runtime's text, in English or not, says that the program or its folder is missing."""
    not_run = of_error(message)
    assert not_run is not None
    assert not_run.missing


@pytest.mark.parametrize("message", NOT_STARTED.values(), ids=NOT_STARTED)
def test_a_program_that_could_not_be_started_need_not_be_missing(message: str) -> None:
    """Accounts, rights and formats are other reasons, and are told as such."""
    not_run = of_error(message)
    assert not_run is not None
    assert not not_run.missing
    assert not_run.of("x.exe", "p").startswith("x.exe could not be started in p: ")


@pytest.mark.parametrize("message", NEITHER)
def test_a_container_that_is_gone_is_another_matter(message: str) -> None:
    """Nothing is said of the program."""
    assert of_error(message) is None


@pytest.mark.parametrize("text", CMD.values(), ids=CMD)
@pytest.mark.parametrize("words", [("nosuch.exe", "-x"), ("cmd.exe", "/c", "nosuch.exe", "2>&1")])
def test_cmd_names_the_program_that_it_does_not_find(text: str, words: tuple[str, ...]) -> None:
    """Exit code 1 and the program's name in quotes are cmd's, in any language and code page."""
    assert of_answer(words, 1, "", text) is not None
    assert of_answer(words, 1, text, "") is not None, "2>&1 sends it to the other stream"


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ((AGNHOST, "connect"), "'C:\\hpc\\agnhost.exe' is not recognized as an internal …"),
        ((f"{ROOT}/agnhost", "connect"), "'C:\\hpc' is not recognized as an internal or external …"),
        ((AGNHOST, "connect"), "The system cannot find the path specified.\r\n"),
    ],
)  # fmt: skip
def test_cmd_writes_the_image_s_root_where_it_was_replaced(
    words: tuple[str, ...], text: str
) -> None:
    """The name is recognised in the node's own spelling, cut at a slash, and by its folder."""
    assert of_answer(words, 1, "", text) is not None


@pytest.mark.parametrize(
    ("words", "code", "stdout", "stderr"),
    [
        (("nosuch.exe",), 0, "", CMD["English"]),
        (("nosuch.exe",), 2, "", CMD["English"]),
        (("nosuch.exe",), None, "", CMD["English"]),
        (("nosuch.exe",), 1, "something", CMD["English"]),
        (("nosuch.exe",), 1, "", ""),
        (("other.exe",), 1, "", CMD["English"]),
        (("cmd.exe", "/c", "type", r"C:\nosuch\x"), 1, "", "The system cannot find the path specified."),
        (("pktmon", "stop"), 1, "", "The system cannot find the path specified."),
        ((AGNHOST, "connect"), 1, "", "OTHER: dial tcp: the target machine actively refused it."),
    ],
)  # fmt: skip
def test_a_program_s_own_failure_is_none_of_cmd(
    words: tuple[str, ...], code: int | None, stdout: str, stderr: str
) -> None:
    """Another code, another name, or output beside the text: the program ran."""
    assert of_answer(words, code, stdout, stderr) is None


def test_a_missing_program_is_unknown_with_the_raw_text() -> None:
    """It is neither a broken channel nor an answer that no parser knows, and it names the program."""
    text = CMD["English"].replace("nosuch.exe", "curl.exe")
    attempt = read_raw(replace(RAW, stderr=text))
    assert attempt.outcome is Outcome.PROBE_FAILED
    assert attempt.detail.startswith("curl.exe is missing in node-windows-1-1: 'curl.exe' is not")
    assert not_read(replace(RAW, stderr=text)) is None
    assert missing_program(f"attempt 1: {attempt.detail}") == "curl.exe"
    assert not lost_channel(attempt.detail)


def test_a_start_error_is_read_as_the_same() -> None:
    """Where the runtime itself starts programs, the error of the exec names the program."""
    not_run = of_error(MISSING["hcs"])
    assert not_run is not None
    sentence = not_run.of("curl.exe", RAW.probe)
    assert is_sentence(sentence)
    attempt = read_raw(replace(RAW, exit_code=None, error=sentence))
    assert attempt.detail == sentence
    assert missing_program(f"attempt 1: {attempt.detail}") == "curl.exe"
    cut = read_raw(replace(RAW, exit_code=None, error="exec in node-windows-1-1 was cut"))
    assert lost_channel(cut.detail)


def test_the_image_s_program_is_named_without_its_folder() -> None:
    """What is missing is agnhost.exe, wherever the image's root is."""
    why = f"attempt 1: {AGNHOST} is missing in node-windows-1-1: 'C:\\hpc\\agnhost.exe' is not …"
    assert missing_program(why) == "agnhost.exe"


def test_a_pod_whose_own_program_cmd_does_not_find_is_no_deviation() -> None:
    """How a run starts agnhost is the run's matter: the check is unknown, with cmd's text."""
    text = "'C:\\hpc' is not recognized as an internal or external command"
    ended = {"terminated": {"exitCode": 1, "reason": "Error", "message": text}}
    status = {"phase": "Failed", "containerStatuses": [{"name": "first", "state": ended}]}
    reading = start.not_started(status, [], RAW)
    assert reading.outcome is Outcome.PROBE_FAILED
    assert text in reading.detail


def test_a_tool_that_the_system_ended_says_nothing_of_the_network() -> None:
    """A Windows process that cannot load a DLL: its code is named in words, whatever the tool's own codes mean."""
    crashed = raw("ping", client_os="windows", channel="exec", exit_code=-1073741515)
    found = read_raw(crashed)
    assert found.outcome is Outcome.PROBE_FAILED
    assert found.detail.startswith(
        "ping ended with exit code -1073741515 (0xc0000135 STATUS_DLL_NOT_FOUND"
    )
