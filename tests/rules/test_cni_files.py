"""Which of a node's CNI files counts, and what a file may hold that a JSON reader refuses."""

import json

import pytest

from nettests.rules import UnreadableError, reduced
from nettests.rules.cni_files import CNI, FOLDERS, configurations
from nettests.rules.evidence import Evidence
from nettests.rules.kubelet import CONTAINERD
from tests.rules.made import printed

KUBEADM, AZURE = r"C:\etc\cni\net.d", r"C:\k\azurecni\netconf"


def conf(name: str) -> str:
    """Return a configuration by its network's name."""
    return json.dumps({"cniVersion": "0.3.0", "name": name, "type": "win-bridge"})


def names(text: str, containerd: str = "") -> list[str]:
    """Return the networks of the configurations that count."""
    texts = {
        reading.name: reduced(reading, printed(reading.words, printed_text))
        for reading, printed_text in ((CNI, text), (CONTAINERD, containerd))
    }
    return [str(one["name"]) for one in configurations(Evidence(texts=texts))]


def listed(*files: tuple[str, str]) -> str:
    """Return files as the script prints them."""
    return "\r\n".join(f"# {path}\r\n{text}" for path, text in files)


TWO = listed(
    (rf"{KUBEADM}\20-b.conflist", conf("second")),
    (rf"{KUBEADM}\10-a.json", conf("first")),
    (rf"{AZURE}\10-azure.conflist", conf("azure")),
)


@pytest.mark.parametrize(
    ("containerd", "network"),
    [
        ("", ["first", "azure"]),
        (r'conf_dir = "C:\\k\\azurecni\\netconf"', ["azure"]),
        ("  conf_dir = 'c:/etc/cni/net.d'", ["first"]),
        ('sandbox_image = "pause:3.9"', ["first", "azure"]),
    ],
)
def test_the_first_file_of_the_runtimes_folder_counts(containerd: str, network: list[str]) -> None:
    """By its name, whatever its ending; of each folder where containerd's own configuration names none."""
    assert names(TWO, containerd) == network


def test_a_folder_that_is_not_read_is_named() -> None:
    """What containerd takes is then not known, and files of other folders are nobody's."""
    with pytest.raises(UnreadableError, match=r"from d:\\cni: none was read there"):
        names(TWO, r"conf_dir = 'D:\cni'")


@pytest.mark.parametrize("mark", ["\ufeff", "\u00ef\u00bb\u00bf", "\u2229\u2557\u2510"])
def test_the_mark_of_an_encoding_is_no_part_of_a_file(mark: str) -> None:
    """PowerShell's own editors write it, and code pages show it as letters."""
    assert names(f"{mark}{conf('a')}") == ["a"]
    assert names(listed((rf"{KUBEADM}\a.conf", f"{mark}{conf('a')}"))) == ["a"]


@pytest.mark.parametrize(
    "text",
    [
        f"{conf('a')} // kept by ops",
        f"/* kept\nby ops */ {conf('a')}",
        f"# kept by ops\n{conf('a')}\n",
        '{"name": "a", // of ops\n "type": "http://x/y#z"}',
    ],
)
def test_comments_are_no_part_of_a_file(text: str) -> None:
    """Those in quotes are text."""
    assert names(text) == ["a"]


@pytest.mark.parametrize("text", ["{", f"{conf('a')} and more", "[[]"])
def test_what_is_no_json_is_not_read(text: str) -> None:
    """Only the file that counts has to be readable; it is named."""
    with pytest.raises(UnreadableError, match=r"10-a\.conf is not JSON"):
        names(listed((rf"{KUBEADM}\10-a.conf", text)))
    assert names(listed((rf"{KUBEADM}\10-a.conf", conf("a")), (rf"{KUBEADM}\20-b.conf", text))) == [
        "a"
    ]


def test_files_without_names_all_count() -> None:
    """Older journals have them one after the other."""
    assert names(conf("a") + "\r\n" + conf("b")) == ["a", "b"]


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_folder_is_looked_into(folder: str) -> None:
    """In the script's own words."""
    assert f"'{folder}'" in CNI.words[-1]
