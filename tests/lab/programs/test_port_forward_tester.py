"""agnhost's port-forward-tester: whom it listens to, what it sends, and how it ends."""

from nettests.lab.node.serving import connect
from tests.lab.programs.worlds import World, finish, in_world

ENVIRONMENT = {"BIND_PORT": "8080", "CHUNKS": "3", "CHUNK_SIZE": "4", "CHUNK_INTERVAL": "1"}
ARGV = ["agnhost", "port-forward-tester"]


def reading(host: str) -> list[str]:
    """Return a command that reads what is sent there; HTTP/0.9 has no head."""
    return ["/agnhost", "connect", "--timeout=2s", f"{host}:8080"]


@in_world()
async def test_it_serves_one_connection_and_ends(world: World) -> None:
    """Three chunks go to the first client; then the server is gone with 0."""
    running = await world.serve(world.pod, ARGV, [8080], ENVIRONMENT)
    client = await connect(world.pod.namespace, "127.0.0.1", 8080)
    assert await client.reader.read() == b"x" * 12
    client.writer.close()
    assert await running.task == 0
    assert running.stdout.decode() == "Accepted client connection\nShutting down connection\n"
    assert (await finish(world.pod, reading("127.0.0.1"))).code == 1


@in_world()
async def test_it_listens_on_loopback_unless_told_otherwise(world: World) -> None:
    """From elsewhere it is refused by default, and reached with BIND_ADDRESS."""
    await world.serve(world.pod, ARGV, [8080], ENVIRONMENT)
    assert (await finish(world.peer, reading("10.244.1.2"))).stderr == "REFUSED\n"
    assert (await finish(world.pod, reading("127.0.0.1"))).code == 0
    everywhere = {**ENVIRONMENT, "BIND_ADDRESS": "0.0.0.0"}
    await world.serve(world.pod, ARGV, [8080], everywhere)
    assert (await finish(world.peer, reading("10.244.1.2"))).code == 0


@in_world()
async def test_a_missing_setting_ends_it(world: World) -> None:
    """Without CHUNKS there is nothing to send."""
    ended = await finish(world.pod, ARGV, {"BIND_PORT": "8080"})
    assert ended.code == 1
    assert "converting" in ended.stdout
