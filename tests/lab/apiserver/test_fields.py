"""The table of the API's fields against the official client's models, and what relies on it."""

from typing import Any

import pytest
from kubernetes.client import models

from nettests.lab.apiserver import body, resources, schema
from nettests.lab.apiserver.patch import MERGE_KEYS

_MODELS = {
    "Pod": "V1Pod",
    "PodSpec": "V1PodSpec",
    "PodStatus": "V1PodStatus",
    "Container": "V1Container",
    "ServiceSpec": "V1ServiceSpec",
    "NodeStatus": "V1NodeStatus",
    "EndpointSlice": "V1EndpointSlice",
    "ObjectMeta": "V1ObjectMeta",
    "LeaseSpec": "V1LeaseSpec",
}


@pytest.mark.parametrize(("name", "model"), _MODELS.items())
def test_fields_are_those_of_the_published_api(name: str, model: str) -> None:
    """No field of the official client's model is unknown here."""
    known: Any = getattr(models, model)
    assert set(known.attribute_map.values()) <= set(schema.types()[name])


def test_every_served_kind_has_its_fields() -> None:
    """Decoding never meets a kind that the table lacks."""
    for resource in resources.RESOURCES:
        fields = schema.types()[schema.type_name(resource.kind, resource.group)]
        assert "metadata" in fields


def test_every_named_type_is_there() -> None:
    """A field's type is a plain one or one of the table."""
    plain = {"string", "integer", "number", "boolean", "time", "any"}
    for fields in schema.types().values():
        for declared in fields.values():
            assert declared.replace("[]", "").replace("{}", "") in plain | set(schema.types())


def test_merge_keys_and_field_numbers_name_real_fields() -> None:
    """The tables of strategic merge and protobuf agree with the table of fields."""
    for owner, field in (place.split(".") for place in MERGE_KEYS):
        assert field in schema.types()[owner]
    for name, fields in body._NUMBERS.items():
        assert {field for field in fields.split() if field != "-"} <= set(schema.types()[name])
