"""Protobuf bodies, as Kubernetes' typed Go clients send them."""

import pytest

from nettests.lab.apiserver import body
from nettests.lab.apiserver.status import ApiError
from nettests.lab.client import Client
from tests.lab.apiserver.objects import CONFIG_MAPS


def _field(number: int, value: bytes | int) -> bytes:
    if isinstance(value, int):
        return bytes([number << 3]) + _varint(value)
    return bytes([number << 3 | 2]) + _varint(len(value)) + value


def _varint(value: int) -> bytes:
    encoded = b""
    while value > 0x7F:
        encoded += bytes([value & 0x7F | 0x80])
        value >>= 7
    return encoded + bytes([value])


def _body(kind: str, raw: bytes, api_version: str = "v1") -> bytes:
    meta = _field(1, api_version.encode()) + _field(2, kind.encode())
    return body.MAGIC + _field(1, meta) + _field(2, raw) + _field(3, b"") + _field(4, b"")


def _named(name: bytes) -> bytes:
    empty = b"".join(_field(number, b"") for number in (2, 3, 4, 5, 6, 8))
    return _field(1, _field(1, name) + empty + _field(7, 0))


def _entry(number: int, key: bytes, value: bytes) -> bytes:
    return _field(number, _field(1, key) + _field(2, value))


def test_an_object_is_decoded_without_its_zero_values() -> None:
    """What Go writes for unset fields is not there afterwards."""
    raw = _named(b"a") + _entry(2, b"k", b"v") + _entry(2, b"l", b"w")
    assert body.decode_protobuf(_body("ConfigMap", raw)) == {
        "kind": "ConfigMap",
        "apiVersion": "v1",
        "metadata": {"name": "a"},
        "data": {"k": "v", "l": "w"},
    }


def test_bytes_become_base64() -> None:
    """A Secret's data is bytes in protobuf and base64 in JSON."""
    decoded = body.decode_protobuf(_body("Secret", _named(b"s") + _entry(2, b"a", b"b")))
    assert decoded["data"] == {"a": "Yg=="}


def test_quantities_are_read_as_their_texts() -> None:
    """What a ResourceQuota limits is a map of messages."""
    hard = _entry(1, b"pods", _field(1, b"2")) + _entry(1, b"requests.cpu", _field(1, b"500m"))
    decoded = body.decode_protobuf(_body("ResourceQuota", _named(b"q") + _field(2, hard)))
    assert decoded["spec"] == {"hard": {"pods": "2", "requests.cpu": "500m"}}


def test_the_core_group_is_an_empty_name_that_counts() -> None:
    """``apiGroups: [""]`` keeps its element."""
    rule = _field(1, b"get") + _field(2, b"") + _field(3, b"pods")
    decoded = body.decode_protobuf(_body("Role", _named(b"r") + _field(2, rule)))
    assert decoded["rules"] == [{"verbs": ["get"], "apiGroups": [""], "resources": ["pods"]}]


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        (_field(1, 0) + _field(2, 8080) + _field(3, b""), 8080),
        (_field(1, 1) + _field(3, b"web"), "web"),
    ],
)
def test_a_target_port_is_a_number_or_a_name(target: bytes, expected: int | str) -> None:
    """``IntOrString``."""
    port = _field(2, b"TCP") + _field(3, 300) + _field(4, target)
    decoded = body.decode_protobuf(_body("Service", _named(b"s") + _field(2, _field(1, port))))
    assert decoded["spec"]["ports"] == [{"protocol": "TCP", "port": 300, "targetPort": expected}]


@pytest.mark.parametrize(
    ("data", "complaint"),
    [
        (_body("PriorityClass", _named(b"q")), "PriorityClass is not among the kinds"),
        (b"\x0a\x00", "it lacks the prefix"),
        (_body("ConfigMap", _named(b"a"))[:-6], "cut off or damaged"),
        (body.MAGIC + b"\x0b", "cut off or damaged"),
    ],
)
def test_what_cannot_be_decoded_says_what_to_do(data: bytes, complaint: str) -> None:
    """A 415 that names JSON and YAML."""
    with pytest.raises(ApiError) as error:
        body.decode_protobuf(data)
    assert error.value.code == 415
    assert complaint in error.value.message
    assert "kubectl apply" in error.value.message


async def test_a_protobuf_body_creates_an_object(client: Client) -> None:
    """Over HTTP, with its content type."""
    headers = {"Content-Type": body.MEDIA_TYPE}
    data = _body("ConfigMap", _named(b"a") + _entry(2, b"k", b"v"))
    async with client._require().post(CONFIG_MAPS, data=data, headers=headers) as response:
        assert response.status == 201
    assert (await client.get(f"{CONFIG_MAPS}/a"))["data"] == {"k": "v"}
