"""Names and origins: whatever is sent, only our own pass."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.datastructures import Headers

from quoth.core.settings import Settings
from quoth.interfaces.http.middleware.trusted_host import (
    LOOPBACK,
    CrossOriginRequest,
    MisdirectedRequest,
    check_host,
    check_origin,
    host_names,
    is_loopback,
)

LATIN = st.text(st.characters(max_codepoint=255), max_size=40)
PIECES = st.lists(
    st.sampled_from(
        [*"/:@[]#?%.\\ \t", "localhost", "127.0.0.1", "::1", "evil.test", "http:", "8765", "\xa0"]
    ),
    max_size=8,
).map("".join)
PORTS = [*("", ":8765", ".:8765", "."), *(f":{'0' * zeros}80" for zeros in range(3))]
OWN = {f"{name}{port}" for name in ("localhost", "127.0.0.1", "[::1]") for port in PORTS}


def of(**values: str) -> Headers:
    return Headers(raw=[(name.encode(), value.encode("latin-1")) for name, value in values.items()])


@given(LATIN | PIECES)
def test_only_our_own_names_pass(host: str) -> None:
    try:
        check_host(of(host=host), names=LOOPBACK)
    except MisdirectedRequest:
        return
    name = host.lower().rpartition(":")[0] if host[-1:].isdigit() and ":" in host else host.lower()
    bare = (host if host in ("127.0.0.1", "[::1]") else name).strip("[]").rstrip(".:")
    assert bare in LOOPBACK, host


def test_the_usual_ways_of_writing_them_pass() -> None:
    for host in sorted(OWN):
        check_host(of(host=host), names=LOOPBACK)


@given(LATIN | PIECES | PIECES.map(lambda text: f"http://{text}"))
def test_only_our_own_page_changes_anything(origin: str) -> None:
    try:
        check_origin(of(host="localhost:8765", origin=origin), method="POST")
    except CrossOriginRequest:
        return
    after = origin.partition("://")[2]
    assert "localhost:" in after.lower(), origin
    assert "8765" in after, origin
    assert "evil" not in after.partition("/")[0].partition("?")[0].partition("#")[0].split("@")[-1]


def test_two_hosts_or_two_origins_are_foreign_unless_both_are_ours() -> None:
    twice = Headers(raw=[(b"host", b"localhost"), (b"host", b"localhost")])
    with pytest.raises(MisdirectedRequest):
        check_host(twice, names=LOOPBACK)
    origins = [(b"origin", b"http://localhost"), (b"origin", b"http://evil.test")]
    with pytest.raises(CrossOriginRequest):
        check_origin(Headers(raw=[(b"host", b"localhost"), *origins]), method="POST")


def test_behind_a_proxy_with_tls_the_usual_ports_are_the_same() -> None:
    check_origin(of(host="quoth.example", origin="https://quoth.example"), method="POST")
    check_origin(of(host="quoth.example:443", origin="https://quoth.example"), method="POST")
    with pytest.raises(CrossOriginRequest):
        check_origin(of(host="quoth.example", origin="https://quoth.example:444"), method="POST")


@pytest.mark.parametrize(
    ("bound", "more", "also"),
    [
        ("127.0.0.1", "", set()),
        ("0.0.0.0", "", set()),
        ("::", "", set()),
        ("192.0.2.1", "", {"192.0.2.1"}),
        ("127.0.0.1", "Q.test, q2.test:80,,[2001:db8::1]", {"q.test", "q2.test", "2001:db8::1"}),
    ],
)
def test_the_names_of_a_service(bound: str, more: str, also: set[str]) -> None:
    assert host_names(bound, settings=Settings(hosts=more)) == LOOPBACK | also


@pytest.mark.parametrize(
    ("host", "near"),
    [
        ("127.0.0.1", True),
        ("127.8.9.1", True),
        ("::1", True),
        ("[::1]", True),
        ("localhost", True),
        ("LOCALHOST.", True),
        ("127.0.0.1.evil.test", False),
        ("127.evil", False),
        ("0.0.0.0", False),
        ("::", False),
        ("", False),
        ("::ffff:127.0.0.1", False),
        ("192.0.2.1", False),
    ],
)
def test_what_is_this_machine(host: str, near: bool) -> None:
    assert is_loopback(host) is near
