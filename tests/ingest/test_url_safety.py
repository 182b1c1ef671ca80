"""What of the web may be visited: numbers of the public internet, plainly written."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quoth.core.errors import InputError
from quoth.ingest.sources.url_safety import display_url, is_public, target

CLOSED = """
    0.0.0.0 10.1.2.3 100.64.0.1 100.127.255.255 127.0.0.1 127.255.255.254 169.254.169.254
    172.16.0.1 172.31.255.255 192.0.0.8 192.0.2.1 192.88.99.1 192.168.1.1 198.18.0.1 198.51.100.7
    203.0.113.9 224.0.0.1 239.255.255.250 240.0.0.1 255.255.255.255
    :: ::1 ::127.0.0.1 ::ffff:127.0.0.1 ::ffff:10.0.0.1 ::ffff:169.254.169.254 64:ff9b::7f00:1
    64:ff9b::a9fe:a9fe 64:ff9b:1::7f00:1 64:ff9b:1::808:808 100::1 2001:0:7f00:1:: 2001::1
    2001:10::1 2001:db8::1 2002:7f00:1:: 2002:808:808:: 3fff::1 fc00::1 fd00:ec2::254 fe80::1
    fe80::1%eth0 fec0::1 ff02::1 5f00::1 2606:4700::1%1 localhost 127.1 0x7f000001 2130706433
""".split()
OPEN = """
    1.1.1.1 8.8.8.8 93.184.216.34 100.63.255.255 100.128.0.1 172.32.0.1 2606:4700::1111
    2a00:1450:4009::200e ::ffff:8.8.8.8 64:ff9b::808:808
""".split()


def test_only_numbers_of_the_internet_are_public() -> None:
    assert [number for number in (*CLOSED, *OPEN) if is_public(number)] == OPEN


@given(st.ip_addresses(v=4).map(int), st.sampled_from(["::ffff:0:0", "64:ff9b::"]))
def test_an_address_in_an_address_is_as_public_as_itself(inner: int, around: str) -> None:
    wrapped = IPv6Address(int(ip_address(around)) | inner)
    assert is_public(str(wrapped)) == is_public(str(IPv4Address(inner)))


@given(st.ip_addresses())
def test_nothing_is_public_that_python_calls_private(number: IPv4Address | IPv6Address) -> None:
    if is_public(str(number)) and number.version == 4:
        assert number.is_global
    assert not (is_public(str(number)) and (number.is_loopback or number.is_link_local))


@pytest.mark.parametrize(
    ("given_", "asked"),
    [
        ("http://example.org", "http://example.org/"),
        ("HTTPS://Example.ORG:443/a?b=c#d", "https://example.org/a?b=c"),
        ("http://example.org:443/", "http://example.org:443/"),
        ("https://bücher.example/straße?q=ä", "https://xn--bcher-kva.example/stra%C3%9Fe?q=%C3%A4"),
        ("http://example.org./", "http://example.org/"),
        ("http://[2606:4700::1111]/x", "http://[2606:4700::1111]/x"),
        ("  https://example.org/a%20b  ", "https://example.org/a%20b"),
    ],
)
def test_an_address_is_taken_apart_and_put_together(given_: str, asked: str) -> None:
    assert target(given_).address == asked


@given(st.text(max_size=60))
def test_any_text_is_an_address_or_refused(text: str) -> None:
    for each in (text, f"http://{text}", f"https://example.org/{text}"):
        try:
            found = target(each)
        except InputError:
            continue
        assert found.address.isascii()
        assert target(found.address) == found


def test_what_is_shown_of_an_address_holds_no_secret() -> None:
    assert (
        display_url("https://me:secret@example.org/a?key=secret#secret") == "https://example.org/a"
    )
