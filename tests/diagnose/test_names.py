"""Names that a cluster chose, as names of files: inside the folder, each its own, none too long."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nettests.diagnose import Collector, Reader, Subject, Wanted, index
from nettests.diagnose.folder import LENGTH, safe_name, write_below
from nettests.model.cluster_profile import DiagnosticsLimits
from nettests.redaction import Redactor
from tests.diagnose.cluster import NAMESPACE, Cluster, Tools, pod
from tests.probes.made import FACTS

ATTACKS = [
    "../../../escaped",
    "/escaped",
    "a/../../../escaped",
    "nul\0name",
    "..",
    ".",
    "",
    "-rf",
    ".hidden",
    "x" * 5000,
    "\x1b]0;owned\x07",
    "\u202egnp.exe",
    "a\nb",
    "\ud800",
]


@given(st.text() | st.sampled_from(ATTACKS))
def test_any_name_is_one_harmless_segment(name: str) -> None:
    """Whatever a name holds, its file is in the folder, visible, and short enough for a file system."""
    safe = safe_name(name)
    assert safe not in {"", ".", ".."}
    assert not {"/", "\\", "\0", "\n"} & set(safe)
    assert safe.isascii()
    assert safe.isprintable()
    assert len(safe) <= LENGTH
    assert not safe.startswith((".", "-"))


@given(st.lists(st.text(max_size=8) | st.sampled_from(ATTACKS), unique=True, max_size=20))
def test_different_names_are_different_files(names: list[str]) -> None:
    """No two names meet in one file, a name that looks like an encoded one among them."""
    encoded = [safe_name(name) for name in names]
    every = {*names, *encoded}
    assert len({safe_name(name) for name in every}) == len(every)


@pytest.mark.parametrize("name", ["windows-1", "ip-10-0-0-1.ec2.internal", "node.yaml", "A_b"])
def test_usual_names_stay(name: str) -> None:
    """Names that Kubernetes gives are found under themselves."""
    assert safe_name(name) == name


@pytest.mark.parametrize("name", ATTACKS)
def test_diagnostics_stay_in_their_folder(name: str, tmp_path: Path) -> None:
    """A node, a Pod and a container of any name are written below the folder, and found in its page."""
    folder = tmp_path / "run" / "diagnostics"
    cluster = Cluster()
    cluster.objects = {
        f"/api/v1/nodes/{name}": {"kind": "Node", "metadata": {"name": name}},
        "/api/v1/events": {"items": []},
        "/api/v1/pods": {"items": []},
        f"/api/v1/namespaces/{NAMESPACE}/events": {"items": []},
        f"/api/v1/namespaces/{NAMESPACE}/pods/{name}": pod(name, name, restarts=1),
    }
    cluster.logs[f"/api/v1/namespaces/{NAMESPACE}/pods/{name}/log"] = "listening\n"
    reader = Reader(
        api=cluster,
        facts=FACTS,
        namespace=NAMESPACE,
        redactor=Redactor(()),
        open_exec=lambda _: Tools(),
        why_closed=lambda _: "closed",
        seconds=5,
        log_lines=10,
        log_bytes=1000,
    )
    wanted = [Wanted(subject=Subject("node", name)), Wanted(subject=Subject("pod", name))]
    limits = DiagnosticsLimits(seconds=30.0)
    found = Collector(reader=reader, directory=folder, limits=limits).run(wanted)
    written = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert all(path.is_relative_to(folder) for path in written)
    listed = {
        folder / one.subject.folder / item.file for one in found for item in one.items if item.file
    }
    assert listed == set(written)
    assert len(listed) >= 4
    page = index(found, [])
    assert all(f"](./{path.relative_to(folder)})" in page for path in listed)


@pytest.mark.parametrize("parts", [["..", "x"], ["/x"], ["a", ""], ["a\0b"], ["a/b"]])
def test_the_writer_takes_no_path(parts: list[str], tmp_path: Path) -> None:
    """Whatever was forgotten before: a part that is no name is refused."""
    with pytest.raises(OSError, match="is not a file name"):
        write_below(tmp_path / "top", parts, b"x")
    assert list(tmp_path.rglob("x")) == []


@pytest.mark.parametrize("link", ["nodes", "nodes/w1", "nodes/w1/node.yaml"])
def test_no_symbolic_link_leads_out(link: str, tmp_path: Path) -> None:
    """A link that somebody left in the folder is not followed, be it a folder's or the file's."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "file").write_text("untouched")
    top = tmp_path / "top"
    place = top / link
    place.parent.mkdir(parents=True)
    place.symlink_to(outside / "file" if link.endswith(".yaml") else outside)
    with pytest.raises(OSError, match=r"symbolic|directory"):
        write_below(top, ["nodes", "w1", "node.yaml"], b"forged")
    assert [path.name for path in outside.iterdir()] == ["file"]
    assert (outside / "file").read_text() == "untouched"
