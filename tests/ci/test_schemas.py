"""Each file of ``ci/`` is what its CI system accepts, by that system's own schema where it publishes one."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from kubernetes.client.models import V1PodSpec

from tests.ci.ci_files import AZURE, FILES, GITHUB, GITLAB, PROW, ROOT, read, text_of

SCHEMAS = {
    GITHUB: ["vendor.github-workflows"],
    GITLAB: ["vendor.gitlab-ci", "--data-transform=gitlab-ci", "--regex-variant=nonunicode"],
    AZURE: [
        *("vendor.azure-pipelines", "--data-transform=azure-pipelines"),
        "--regex-variant=nonunicode",
    ],
}
"""The schemas that check-jsonschema brings, and how it reads such a file."""
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
FORMS = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("[!c]*.yml"))
MISTAKES = {
    GITHUB: ("runs-on:", "run-on:"),
    GITLAB: ("when: always", "when: sometimes"),
    AZURE: ("dependsOn:", "needs:"),
}
PERIODIC = {"name", "cron", "max_concurrency", "decorate", "decoration_config", "extra_refs"}
"""What of Prow's Periodic the file uses, beside ``spec``: there is no published schema of job configurations."""


def validated(path: Path, schema: list[str]) -> subprocess.CompletedProcess[str]:
    """Validate a file; nothing is fetched, the schemas are in the package."""
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", *schema, str(path)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


@pytest.mark.parametrize("file", SCHEMAS)
def test_the_schema_of_its_system_accepts_it(file: str) -> None:
    """GitHub's, GitLab's and Azure's schemas find nothing."""
    done = validated(ROOT / file, SCHEMAS[file])
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_github_accepts_the_projects_own_workflows(path: Path) -> None:
    """GitHub's schema finds nothing in the workflows of this repository."""
    done = validated(path, SCHEMAS[GITHUB])
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("path", FORMS, ids=lambda path: path.name)
def test_issue_forms_have_what_github_demands(path: Path) -> None:
    """A form has a name, a description and a body whose inputs have unique ids and labels."""
    form = yaml.safe_load(path.read_text("utf-8"))
    inputs = [part for part in form["body"] if part["type"] != "markdown"]
    assert form["name"]
    assert form["description"]
    assert inputs
    assert len({part["id"] for part in inputs}) == len(inputs)
    assert all(part["attributes"]["label"] for part in inputs)


@pytest.mark.parametrize("file", SCHEMAS)
def test_a_mistake_is_found(file: str, tmp_path: Path) -> None:
    """A key or a value that the system does not know is refused by its schema."""
    right, wrong = MISTAKES[file]
    assert right in text_of(file)
    other = tmp_path / Path(file).name
    other.write_text(text_of(file).replace(right, wrong), "utf-8")
    done = validated(other, SCHEMAS[file])
    assert done.returncode == 1, done.stdout + done.stderr


def unknown_fields(value: Any, kind: str, place: str) -> list[str]:
    """Fields of a Pod's spec that Kubernetes does not have, by the client's own models."""
    # samples: "V1PodSpec", "List[V1Container]", "Dict[str, str]", "object"
    inner = kind.removeprefix("List[").removesuffix("]")
    if not inner.startswith("V1"):
        return []
    if kind.startswith("List["):
        found = [unknown_fields(one, inner, f"{place}[{i}]") for i, one in enumerate(value)]
        return [one for several in found for one in several]
    model = getattr(sys.modules["kubernetes.client.models"], inner)
    names = {json: python for python, json in model.attribute_map.items()}
    wrong = [f"{place}.{key}" for key in value if key not in names]
    for key in value.keys() & names.keys():
        wrong += unknown_fields(value[key], model.openapi_types[names[key]], f"{place}.{key}")
    return wrong


def mistakes_of(periodic: dict[str, Any]) -> list[str]:
    """What Prow would refuse: required and exclusive fields of a periodic, and its Pod's spec."""
    found = [f"unknown field {key}" for key in periodic.keys() - PERIODIC - {"spec"}]
    found += [f"no {key}" for key in ("name", "cron", "spec") if not periodic.get(key)]
    found += [f"no {key}" for one in periodic["extra_refs"] for key in {"org", "repo"} - one.keys()]
    if len(periodic.get("cron", "* * * * *").split()) != 5:
        found.append(f"cron {periodic['cron']}")
    spec = periodic["spec"]
    found += unknown_fields(spec, V1PodSpec.__name__, "spec")
    mounts = {one["name"] for container in spec["containers"] for one in container["volumeMounts"]}
    found += [f"no volume {name}" for name in mounts - {one["name"] for one in spec["volumes"]}]
    # Decoration wraps what the container runs, which an image's entry point does not tell.
    found += ["no command" for container in spec["containers"] if not container.get("command")]
    return found


def test_prow_accepts_its_periodic() -> None:
    """Name, one schedule, repository, and a Pod's spec whose fields Kubernetes has."""
    (periodic,) = read(PROW)["periodics"]
    assert mistakes_of(periodic) == []


@pytest.mark.parametrize(
    ("right", "wrong", "found"),
    [
        ("    cron:", "    chron:", "no cron"),
        ('"17 2 * * *"', '"17 2 * *"', "cron 17 2 * *"),
        ("readOnly:", "readonly:", "spec.containers[0].volumeMounts[0].readonly"),
        ("secretName:", "secret_name:", "spec.volumes[0].secret.secret_name"),
        ("- name: history\n          pers", "- name: past\n          pers", "no volume history"),
        ("org: example", "owner: example", "no org"),
    ],
)
def test_a_mistake_in_prow_s_is_found(right: str, wrong: str, found: str) -> None:
    """The check of Prow's file can fail."""
    text = text_of(PROW).replace(right, wrong)
    assert text != text_of(PROW)
    (periodic,) = yaml.safe_load(text)["periodics"]
    assert found in mistakes_of(periodic)


@pytest.mark.parametrize("file", FILES)
def test_the_version_is_this_one(file: str) -> None:
    """What is installed is pinned, to the version of this tree."""
    project = (ROOT / "pyproject.toml").read_text("utf-8")
    (version,) = [line for line in project.splitlines() if line.startswith("version = ")]
    assert 'pip install "${NETTESTS_FROM}"' in text_of(file)
    number = version.removeprefix("version = ").strip('"')
    assert f'"nettests=={number}"' in text_of(file)
