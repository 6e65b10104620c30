"""Transactions between two states of an nft table: only what differs, in an order that works."""

from hypothesis import given, settings
from hypothesis import strategies as st

from nettests.lab.network.tables import Chain, Lookup, Table, render, replacement, transactions

BASE = Chain(hook="type nat hook prerouting priority -100", rules=("jump a",))
OLD = Table(
    name="t", chains={"a": Chain(rules=("accept",)), "base": BASE}, sets={"s": "type ipv4_addr;"}
)


def test_equal_tables_need_no_transaction() -> None:
    """Nothing is sent when nothing differs."""
    assert transactions(OLD, OLD) == []


def test_only_the_changed_chain_is_sent() -> None:
    """A change of one chain flushes and fills that one."""
    new = Table(name="t", chains={**OLD.chains, "a": Chain(rules=("drop",))}, sets=OLD.sets)
    (text,) = transactions(OLD, new)
    assert text == "add table ip t\nflush chain ip t a\nadd rule ip t a drop\n"


def test_everything_is_announced_before_it_is_used_and_dropped_after() -> None:
    """Sets and chains come first, base chains after the others, removals last."""
    new = Table(
        name="t",
        chains={
            "base": Chain(hook=BASE.hook, rules=("jump b",)),
            "b": Chain(rules=("ip saddr @u drop",)),
        },
        sets={"u": "type ipv4_addr;"},
    )
    (text,) = transactions(OLD, new)
    lines = text.splitlines()
    order = [
        "add set ip t u { type ipv4_addr; }",
        "add chain ip t b",
        "add rule ip t b ip saddr @u drop",
        "add rule ip t base jump b",
        "flush chain ip t a",
        "delete chain ip t a",
        "delete set ip t s",
    ]
    assert [line for line in lines if line in order] == order


def test_a_large_change_is_split_between_chains() -> None:
    """No transaction grows beyond the limit, no chain is split, and the base chain comes last."""
    chains = {f"c{n}": Chain(rules=("accept",) * 100) for n in range(100)}
    new = Table(name="t", chains={"base": BASE, **chains})
    texts = transactions(Table(name="t"), new)
    assert len(texts) > 1
    assert max(map(len, texts)) <= 30_000
    assert texts[-1].endswith("add rule ip t base jump a\n")
    for name in chains:
        assert sum(f"add rule ip t {name} accept\n" in text for text in texts) == 1


def test_a_replacement_starts_from_nothing() -> None:
    """A replacement first removes whatever has the name."""
    first, *rest = replacement(OLD)
    assert first.startswith("add table ip t\ndelete table ip t\nadd table ip t\n")
    assert "add rule ip t base jump a" in first
    assert rest == []


def test_a_replacement_by_an_empty_table_empties_it() -> None:
    """Even with nothing to add the old table goes."""
    assert replacement(Table(name="t")) == ["add table ip t\ndelete table ip t\nadd table ip t\n"]


def test_rendering_shows_hooks_sets_and_rules() -> None:
    """The readable form is one nft table block."""
    assert render(OLD) == (
        "table ip t {\n"
        " set s { type ipv4_addr; }\n"
        " chain a {\n  accept\n }\n"
        " chain base {\n  type nat hook prerouting priority -100;\n  jump a\n }\n"
        "}\n"
    )


_CHAINS = st.dictionaries(
    st.sampled_from("abcdef"),
    st.lists(st.sampled_from(["accept", "drop", "return"]), max_size=3).map(
        lambda rules: Chain(rules=tuple(rules))
    ),
)


@settings(database=None)
@given(_CHAINS, _CHAINS)
def test_a_transaction_leads_from_the_old_table_to_the_new(
    old: dict[str, Chain], new: dict[str, Chain]
) -> None:
    """Played back command by command, any difference turns the old chains into the new ones."""
    state = {name: list(chain.rules) for name, chain in old.items()}
    for text in transactions(Table(name="t", chains=old), Table(name="t", chains=new)):
        for line in text.splitlines()[:]:
            match line.split():
                case ["add", "chain", _, _, name]:
                    state[name] = []
                case ["flush", "chain", _, _, name]:
                    state[name].clear()
                case ["add", "rule", _, _, name, rule]:
                    state[name].append(rule)
                case ["delete", "chain", _, _, name]:
                    assert state.pop(name) == []
    assert state == {name: list(chain.rules) for name, chain in new.items()}


KIND = "ipv4_addr : verdict"


def _mapped(chains: dict[str, Chain], **elements: str) -> Table:
    lookups = {
        "m": Lookup(type=KIND, elements=elements),
        "s": Lookup(type="ipv4_addr", elements={}),
    }
    return Table(name="t", chains=chains, lookups=lookups)


def test_elements_come_after_the_chains_they_lead_to_and_go_before_them() -> None:
    """What leads elsewhere is taken out and put in; what stays is not touched; the map itself is made once."""
    old = _mapped({"a": Chain(rules=("accept",))}, x="goto a", y="goto a", z="drop")
    new = _mapped({"b": Chain(rules=("accept",))}, x="goto b", z="drop")
    (text,) = transactions(old, new)
    assert text.splitlines() == [
        "add table ip t",
        "add chain ip t b",
        "add rule ip t b accept",
        "delete element ip t m { x, y }",
        "add element ip t m { x : goto b }",
        "flush chain ip t a",
        "delete chain ip t a",
    ]
    assert transactions(new, new) == []


def test_a_new_map_is_announced_and_a_map_that_goes_is_deleted() -> None:
    """Before the first chain that looks it up, and after the last one is flushed."""
    none = Table(name="t")
    made = _mapped({"a": Chain(rules=("ip daddr vmap @m",))}, x="drop")
    (text,) = transactions(none, made)
    assert text.splitlines()[1:3] == [
        "add map ip t m { type ipv4_addr : verdict; }",
        "add set ip t s { type ipv4_addr; }",
    ]
    (back,) = transactions(made, none)
    assert back.splitlines()[1:] == [
        "flush chain ip t a",
        "delete map ip t m",
        "delete set ip t s",
        "delete chain ip t a",
    ]


def test_many_elements_are_split() -> None:
    """No transaction grows beyond the limit by the elements of one map."""
    new = _mapped({}, **{f"10.0.{n}.1 . tcp . 80": "drop" for n in range(3000)})
    texts = transactions(Table(name="t"), new)
    assert len(texts) > 1
    assert max(map(len, texts)) <= 30_000
    assert sum(text.count(" : drop") for text in texts) == 3000


def test_rendering_shows_elements() -> None:
    """Maps and sets stand with what they hold."""
    text = render(_mapped({}, x="drop"))
    assert " map m { type ipv4_addr : verdict; elements = { x : drop }; }\n" in text
    assert " set s { type ipv4_addr; }\n" in text


_ELEMENTS = st.dictionaries(st.sampled_from("uvwxyz"), st.sampled_from(["drop", "accept"]))


@settings(database=None)
@given(_ELEMENTS, _ELEMENTS)
def test_a_transaction_leads_from_the_old_elements_to_the_new(
    old: dict[str, str], new: dict[str, str]
) -> None:
    """Played back, what is deleted was there, what is added was not, and the new elements are what is left."""
    state = dict(old)
    for text in transactions(_mapped({}, **old), _mapped({}, **new)):
        for line in text.splitlines()[1:]:
            command, _, rest = line.partition(" element ip t m ")
            for element in rest.strip("{ }").split(", "):
                key, _, to = element.partition(" : ")
                if command == "delete":
                    del state[key]
                else:
                    assert key not in state
                    state[key] = to
    assert state == new
