"""Bodies of requests: unknown fields, wrong types, broken JSON, YAML."""

from typing import Any

import pytest

from nettests.lab.client import ApiError, Client
from tests.lab.apiserver.conftest import Running
from tests.lab.apiserver.objects import CONFIG_MAPS, PODS, config_map
from tests.lab.apiserver.objects import pod as made_pod


async def _refused(answer: Any) -> ApiError:
    with pytest.raises(ApiError) as error:
        await answer
    return error.value


async def test_unknown_fields_are_dropped_and_warned_of(client: Client) -> None:
    """By default a warning header tells; ``Ignore`` is silent; ``Strict`` refuses."""
    session = client._require()
    for index, (mode, warned) in enumerate((("Warn", True), ("Ignore", False))):
        item = {**made_pod(f"p{index}"), "zzz": 1}
        path = f"{PODS}?fieldValidation={mode}"
        async with session.post(path, json=item) as response:
            assert ("Warning" in response.headers) is warned
            assert "zzz" not in await response.json(content_type=None)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"data": 5}, "json: cannot unmarshal number into Go struct field ConfigMap.data"),
        ({"data": {"a": 1}}, "json: cannot unmarshal number into Go struct field ConfigMap.data.a"),
        ({"immutable": "yes"}, "json: cannot unmarshal string into Go struct field"),
        ({"metadata": []}, "json: cannot unmarshal array into Go struct field"),
        ({"kind": "Secret"}, 'Secret in version "v1" cannot be handled as a ConfigMap'),
        ({"apiVersion": "v2"}, "does not match the expected API version (v1)"),
    ],
)
async def test_bodies_of_the_wrong_type_are_refused(
    client: Client, fields: dict[str, Any], message: str
) -> None:
    """A 400 says which field had which type."""
    error = await _refused(client.create(CONFIG_MAPS, {**config_map("a"), **fields}))
    assert error.status == 400
    assert message in error.message


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "unexpected end of JSON input"),
        ('{"a":', "unexpected end of JSON input"),
        ("[1 2]", "invalid character '2' after"),
        ('{"a" 1}', "invalid character '1' after object key"),
        ("{} x", "invalid character 'x' after top-level value"),
    ],
)
async def test_broken_json_is_explained_in_go_words(
    client: Client, text: str, complaint: str
) -> None:
    """What Go's decoder says of the same text."""
    headers = {"Content-Type": "application/json"}
    async with client._require().post(CONFIG_MAPS, data=text, headers=headers) as response:
        assert response.status == 400
        assert complaint in (await response.json(content_type=None))["message"]


async def test_yaml_bodies_are_taken(running: Running) -> None:
    """``application/yaml`` is one of the accepted media types."""
    text = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: y}\ndata: {k: v}\n"
    async with running.client() as client:
        headers = {"Content-Type": "application/yaml"}
        async with client._require().post(CONFIG_MAPS, data=text, headers=headers) as response:
            assert response.status == 201
        assert (await client.get(f"{CONFIG_MAPS}/y"))["data"] == {"k": "v"}
