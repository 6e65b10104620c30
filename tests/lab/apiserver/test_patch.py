"""The patch types."""

from typing import Any

from nettests.lab.apiserver import patch, resources

POD = {
    "metadata": {"name": "p", "labels": {"a": "1", "b": "2"}, "finalizers": ["x"]},
    "spec": {
        "containers": [
            {"name": "c", "image": "one", "args": ["a", "b"], "env": [{"name": "E", "value": "1"}]},
            {"name": "d", "image": "two"},
        ],
        "tolerations": [{"key": "k"}],
        "nodeSelector": {"os": "linux"},
    },
}


def _merge(document: dict[str, Any]) -> dict[str, Any]:
    return patch.merge(POD, document, "Pod")


def test_a_merge_patch_replaces_lists_and_removes_with_null() -> None:
    """RFC 7386: objects merge, lists are replaced, ``null`` removes."""
    document = {"metadata": {"labels": {"a": None, "c": "3"}}, "spec": {"containers": []}}
    patched = patch.apply_patch(resources.PODS, POD, document, patch.MERGE_PATCH)
    assert patched["metadata"]["labels"] == {"b": "2", "c": "3"}
    assert patched["spec"]["containers"] == []
    assert POD["metadata"] == {"name": "p", "labels": {"a": "1", "b": "2"}, "finalizers": ["x"]}


def test_a_strategic_patch_merges_containers_by_name() -> None:
    """The named container changes, the others stay, a new name is appended."""
    document = {
        "spec": {"containers": [{"name": "c", "image": "new"}, {"name": "e", "image": "x"}]}
    }
    containers = _merge(document)["spec"]["containers"]
    assert [each["name"] for each in containers] == ["c", "d", "e"]
    assert containers[0] == {**POD["spec"]["containers"][0], "image": "new"}  # type: ignore[index]


def test_a_strategic_patch_merges_lists_within_lists() -> None:
    """``env`` of a container merges by name; ``args`` is replaced."""
    change = {"name": "c", "env": [{"name": "F", "value": "2"}], "args": ["z"]}
    container = _merge({"spec": {"containers": [change]}})["spec"]["containers"][0]
    assert [each["name"] for each in container["env"]] == ["E", "F"]
    assert container["args"] == ["z"]


def test_a_strategic_patch_deletes_by_directive() -> None:
    """``$patch: delete`` removes the element of that merge key."""
    document = {"spec": {"containers": [{"name": "c", "$patch": "delete"}]}}
    assert [c["name"] for c in _merge(document)["spec"]["containers"]] == ["d"]


def test_a_strategic_patch_replaces_by_directive() -> None:
    """``$patch: replace`` in a list or an object drops what was there."""
    listed = {"spec": {"containers": [{"$patch": "replace"}, {"name": "z"}]}}
    assert _merge(listed)["spec"]["containers"] == [{"name": "z"}]
    mapped = {"spec": {"nodeSelector": {"$patch": "replace", "x": "y"}}}
    assert _merge(mapped)["spec"]["nodeSelector"] == {"x": "y"}


def test_a_strategic_patch_replaces_lists_without_a_merge_key() -> None:
    """Tolerations are atomic."""
    assert _merge({"spec": {"tolerations": [{"key": "n"}]}})["spec"]["tolerations"] == [
        {"key": "n"}
    ]


def test_a_strategic_patch_orders_as_told() -> None:
    """``$setElementOrder`` decides the order of a merged list."""
    order = [{"name": "d"}, {"name": "c"}]
    patched = _merge({"spec": {"$setElementOrder/containers": order}})
    assert [each["name"] for each in patched["spec"]["containers"]] == ["d", "c"]


def test_a_strategic_patch_adds_to_and_deletes_from_primitive_lists() -> None:
    """Finalizers are added to; ``$deleteFromPrimitiveList`` takes one out."""
    added = _merge({"metadata": {"finalizers": ["y"]}})
    assert added["metadata"]["finalizers"] == ["x", "y"]
    removed = _merge({"metadata": {"$deleteFromPrimitiveList/finalizers": ["x"]}})
    assert removed["metadata"]["finalizers"] == []


def test_a_strategic_patch_keeps_only_retained_keys() -> None:
    """``$retainKeys`` drops the other keys of an object."""
    document = {"spec": {"$retainKeys": ["containers"]}}
    assert set(_merge(document)["spec"]) == {"containers"}


def test_a_strategic_patch_leaves_the_original_alone() -> None:
    """What is stored is never changed in place."""
    _merge({"spec": {"containers": [{"name": "c", "image": "new"}]}})
    assert POD["spec"]["containers"][0]["image"] == "one"  # type: ignore[index]


def test_a_copy_shares_nothing_that_can_change() -> None:
    """Whoever changes it leaves the stored object as it is."""
    original: dict[str, Any] = {"spec": {"ports": [{"port": 80}]}}
    copy = patch.copied(original)
    assert copy == original
    copy["spec"]["ports"][0]["port"] = 81
    copy["spec"]["ports"].append({})
    assert original == {"spec": {"ports": [{"port": 80}]}}
