"""Flags of components, as logs and arguments show them."""

import pytest

from nettests.model.flags import flags_in_arguments, flags_in_log

LOG = (
    'I1121 01:22:03.787132       1 flags.go:64] FLAG: --enable-dsr="false"\n'
    'I1121 01:22:03.787140       1 flags.go:64] FLAG: --source-vip="10.244.2.2"\n'
    'I1121 01:22:03.787150       1 flags.go:64] FLAG: --proxy-mode="kernelspace"\n'
    "I1121 01:22:03.999999       1 server.go:400] Using Kernelspace Proxier\n"
)


def test_flags_are_read_from_the_log() -> None:
    """Lines ``FLAG: --name="value"`` give the flags that are in effect."""
    assert flags_in_log(LOG) == {
        "enable-dsr": "false",
        "source-vip": "10.244.2.2",
        "proxy-mode": "kernelspace",
    }


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("--enable-dsr=true", "--proxy-mode=kernelspace"), {"enable-dsr": "true", "proxy-mode": "kernelspace"}),
        (("--enable-dsr", "--v=4"), {"enable-dsr": "true", "v": "4"}),
        (("--source-vip", "10.244.2.2"), {"source-vip": "10.244.2.2"}),
        (("powershell", "kube-proxy.exe --enable-dsr=true --source-vip $vip"), {"enable-dsr": "true"}),
    ],
)  # fmt: skip
def test_flags_are_read_from_arguments(
    arguments: tuple[str, ...], expected: dict[str, str]
) -> None:
    """Both spellings of a flag and those inside a script are read; a script's variables are not."""
    assert flags_in_arguments(arguments) == expected
