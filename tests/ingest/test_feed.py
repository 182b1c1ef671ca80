"""Entries of feeds become files with what the feed says of them; a recording is one, too."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from quoth.core.errors import DocumentError
from quoth.ingest.readers.feed import feed_entries
from quoth.ingest.readers.page_links import FeedEntry
from quoth.ingest.readers.registry import read
from quoth.ingest.sources import site as crawler
from quoth.ingest.sources.http import Internet
from quoth.ingest.sources.mirror import locked
from quoth.ingest.sources.site import CrawlLimits, crawl
from tests.ingest.test_outbound import PUBLIC, open_world, page
from tests.ingest.test_site import fetched, paths, read_links

FEED = "http://bees.example/feed.xml"
ATOM = b"""<?xml version="1.0"?><!-- by hand -->
<feed xmlns="http://www.w3.org/2005/Atom"><title>Bees</title>
<entry><title type="html">Swarms &amp;amp; &lt;b&gt;queens&lt;/b&gt;</title>
<link href="/swarms#top"/>
<link rel="edit" href="/edit/1"/><published>2024-05-01T10:00:00Z</published>
<author><name>Ada</name><email>ada@bees.example</email></author></entry>
<entry><title>No address</title></entry>
<entry><title>Elsewhere</title><link rel="alternate" href="http://wasps.example/paper"/></entry>
</feed>"""
RSS = b"""<rss version="2.0" xmlns:dc="http://purl.org/dc/elements/1.1/"><channel>
<item><title>Episode 1</title><link>http://bees.example/1</link><dc:creator>Eve</dc:creator>
<pubDate>Tue, 07 May 2024 08:00:00 +0200</pubDate>
<enclosure url="http://bees.example/1.mp3?from=feed" type="audio/mpeg" length="9"/></item>
<item><title>A note</title><guid>http://bees.example/note</guid></item>
<item><title>Twice</title><link>http://bees.example/note</link></item>
</channel></rss>"""


def test_atom_and_rss_say_address_title_author_and_date() -> None:
    assert feed_entries(ATOM, address=FEED) == (
        FeedEntry("http://bees.example/swarms", "Swarms &amp; queens", "Ada", "2024-05-01"),
        FeedEntry("http://wasps.example/paper", "Elsewhere"),
    )
    assert feed_entries(RSS, address=FEED) == (
        FeedEntry(
            "http://bees.example/1.mp3?from=feed", "Episode 1", "Eve", "2024-05-07", suffix=".mp3"
        ),
        FeedEntry("http://bees.example/note", "A note"),
    )
    bomb = b'<!DOCTYPE rss [<!ENTITY a "aaaa">]><rss><item><link>&a;</link></item></rss>'
    for data in (bomb, RSS[:300]):
        with pytest.raises(DocumentError):
            feed_entries(data, address=FEED)


def test_a_transcript_of_an_episode_is_taken_before_its_recording() -> None:
    feed = b"""<rss xmlns:podcast="https://podcastindex.org/namespace/1.0"><channel><item>
    <title>Episode 2</title><link>http://bees.example/2</link>
    <enclosure url="/2.M4A?x=1" type="audio/x-m4a" length="9"/>
    <podcast:transcript url="/2.txt" type="text/plain"/>
    <podcast:transcript url="/2.srt" type="application/x-subrip"/>
    <podcast:transcript url="/2.vtt" type="text/vtt; charset=utf-8"/>
    <podcast:transcript url="/2.es.vtt" type="text/vtt" language="es"/>
    </item></channel></rss>"""
    (entry,) = feed_entries(feed, address=FEED)
    assert (entry.address, entry.suffix) == ("http://bees.example/2.vtt", ".vtt")
    assert entry.recording == "http://bees.example/2.M4A?x=1"


async def test_an_episode_has_its_recording_where_its_transcript_is_not_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(crawler, "is_installed", lambda _module: True)
    feed = b"""<rss xmlns:podcast="https://podcastindex.org/namespace/1.0"><channel><item>
    <title>Episode 2</title><enclosure url="/2.mp3" type="audio/mpeg" length="9"/>
    <podcast:transcript url="/2.vtt" type="text/vtt"/></item></channel></rss>"""
    async with open_world() as world:
        world.pages |= {
            "/feed.xml": page(feed, kind="application/rss+xml"),
            "/2.vtt": page(b"", status="404 Not Found"),
            "/2.mp3": page(b"ID3sound", kind="audio/mpeg"),
        }
        (item,) = await fetched(world, tmp_path, start=FEED, depth=0)
        assert (item.address, item.problem) == ("http://bees.example/2.mp3", None)
        assert item.path is not None
        assert item.path.suffix == ".mp3"
        world.pages["/2.vtt"] = page(b"WEBVTT\n\n00:01.000 --> 00:02.000\nHello.", kind="text/vtt")
        assert await fetched(world, tmp_path, start=FEED, depth=0) == [item], "it is there once"


async def test_a_feed_is_followed_to_new_entries_and_keeps_old_ones(tmp_path: Path) -> None:
    async with open_world() as world:
        world.names["wasps.example"] = [[PUBLIC]]
        world.pages |= {
            "/feed.xml": page(ATOM, kind="application/atom+xml", more='ETag: "1"\r\n'),
            "/swarms": page(b"<title>Menu</title><main><p>A swarm leaves in May.</main>"),
            "/paper": page(b"<main><p>Wasps make paper.</main>"),
        }
        first = await fetched(world, tmp_path, start=FEED, depth=0)
        assert paths(world) == ["/feed.xml", "/swarms", "/paper"]
        document = read(first[0].path or Path())
        assert (document.title, document.speaker) == ("Swarms &amp; queens", "Ada")
        assert (document.date, document.url) == ("2024-05-01", "http://bees.example/swarms")
        assert document.text == "A swarm leaves in May."

        world.pages["/feed.xml"] = page(b"", status="304 Not Modified")
        assert await fetched(world, tmp_path, start=FEED, depth=0, drop_gone=True) == first
        assert 'If-None-Match: "1"' in world.asked[0]
        assert paths(world) == ["/feed.xml"]

        newer = (
            b"<rss><channel><item><title>Drones</title><link>/drones</link></item></channel></rss>"
        )
        world.pages |= {
            "/feed.xml": page(newer, kind="text/xml"),
            "/drones": page(b"<p>Drones fly at noon."),
        }
        (item,) = await fetched(world, tmp_path, start=FEED, depth=0, drop_gone=True)
        assert item.address == "http://bees.example/drones"
        assert all(each.path and each.path.is_file() for each in (item, *first))
        assert world.hits == []


async def test_a_recording_is_fetched_where_it_can_be_transcribed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_world() as world:
        world.pages |= {
            "/feed.xml": page(RSS, kind="application/rss+xml"),
            "/1.mp3?from=feed": page(b"ID3sound", kind="audio/mpeg"),
            "/note": page(b"<p>A note."),
        }
        warnings: list[str] = []
        for speech in (False, True):
            monkeypatch.setattr(crawler, "is_installed", lambda _module, there=speech: there)
            with locked(tmp_path) as mirror:
                steps = crawl(
                    FEED,
                    mirror=mirror,
                    limits=CrawlLimits(pause_s=0),
                    read_links=read_links,
                    internet=Internet(world.resolve, world.connect),
                    warn=warnings.append,
                )
                items = [item async for item in steps]
            assert len(items) == 1 + speech
        assert warnings == [
            "1 recordings of the feed were left out. "
            "To have them transcribed: pip install 'quoth[speech]'"
        ]
        sound = items[0].path
        assert sound is not None, items[0].problem
        assert (sound.suffix, sound.read_bytes()) == (".mp3", b"ID3sound")
        about = json.loads(sound.with_name(f"{sound.name}.meta.json").read_text())
        assert (about["title"], about["speaker"], about["date"]) == (
            "Episode 1",
            "Eve",
            "2024-05-07",
        )
