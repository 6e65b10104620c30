"""Exit codes of Windows, in words."""

import pytest

from nettests.model.windows_programs import exit_code_in_words


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (0, "0"),
        (137, "137"),
        (-1073741819, "-1073741819 (0xc0000005 STATUS_ACCESS_VIOLATION: it accessed memory that is not its own)"),
        (3221225477, "3221225477 (0xc0000005 STATUS_ACCESS_VIOLATION: it accessed memory that is not its own)"),
        (-1073700000, "-1073700000 (0xc000a360)"),
        (1073807364, "1073807364 (0x40010004 DBG_TERMINATE_PROCESS: ended by the system, as when its node is shut down)"),
    ],
)  # fmt: skip
def test_a_status_is_read_in_both_spellings(code: int, words: str) -> None:
    """Signed as the API has it or not; what is no status stays a number."""
    assert exit_code_in_words(code) == words


def test_minus_one_is_a_status_of_nothing() -> None:
    """It is shown in hexadecimal, without a name."""
    assert exit_code_in_words(-1) == "-1 (0xffffffff)"
