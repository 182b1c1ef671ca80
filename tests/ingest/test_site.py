"""A site is fetched over its links, as far as it allows, and only what changed is sent again."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from quoth.core.errors import DocumentError, InputError
from quoth.ingest.readers.links import page_links
from quoth.ingest.readers.page_links import PageLinks
from quoth.ingest.sources.http import Internet
from quoth.ingest.sources.mirror import FetchedItem, Mirror, locked
from quoth.ingest.sources.site import CrawlLimits, crawl
from tests.ingest.test_outbound import World, moved, open_world, page

START = "http://bees.example/guide/"


def linked(*links: str, text: str = "A hive has one queen.", head: str = "") -> bytes:
    anchors = "".join(f"<a href='{link}'>on</a> " for link in links)
    return page(f"<html><head>{head}</head><main><p>{text}</p>{anchors}</main>".encode())


MISSING = page(b"", status="404 Not Found")


async def read_links(path: Path, address: str) -> PageLinks:
    return page_links(path, address=address)


async def fetched(
    world: World, folder: Path, *, start: str = START, drop_gone: bool = False, **limits: Any
) -> list[FetchedItem]:
    with locked(folder) as mirror:
        steps = crawl(
            start,
            mirror=mirror,
            limits=CrawlLimits(**{"depth": 2, "pause_s": 0, **limits}),
            read_links=read_links,
            internet=Internet(world.resolve, world.connect),
            drop_gone=drop_gone,
        )
        return [item async for item in steps]


def paths(world: World) -> list[str]:
    asked = [head.split(" ")[1] for head in world.asked]
    world.asked.clear()
    return asked


def files(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*.html")}


def site(world: World) -> None:
    world.pages |= {
        "/robots.txt": page(b"User-agent: *\nDisallow: /private\n", kind="text/plain"),
        "/sitemap.xml": MISSING,
        "/guide/": linked("a", "/private/x", "http://other.example/", "#top", "pic.png", "gone"),
        "/guide/a": linked("/guide/", "b?page=2", "b?page=2#x"),
        "/guide/b?page=2": linked("c"),
        "/guide/c": linked(),
        "/guide/gone": MISSING,
    }


async def test_links_of_the_host_are_followed_as_far_as_the_depth_and_robots_go(
    tmp_path: Path,
) -> None:
    async with open_world() as world:
        site(world)
        items = await fetched(world, tmp_path)
        asked = paths(world)
    expected = ["/guide/", "/guide/a", "/guide/b?page=2"]
    assert [item.address.removeprefix("http://bees.example") for item in items] == expected
    assert asked == ["/robots.txt", "/guide/", "/sitemap.xml", "/guide/a", "/guide/gone",
                     "/guide/b?page=2"]  # fmt: skip
    assert all(item.path and item.path.is_file() for item in items)
    assert len(files(tmp_path)) == 3
    assert {"guide/index.html", "guide/a.html"} < files(tmp_path)


async def test_a_sitemap_counts_as_links_below_the_folder_of_the_start(tmp_path: Path) -> None:
    async with open_world() as world:
        site(world)
        addresses = (
            "<url><loc>http://bees.example/guide/c</loc></url>"
            "<url><loc><![CDATA[http://bees.example/shop]]></loc></url>"
        )
        world.pages["/map.xml"] = page(f"<urlset>{addresses}</urlset>".encode(), kind="text/xml")
        index = b"<sitemapindex><sitemap><loc>http://bees.example/map.xml</loc></sitemapindex>"
        world.pages["/all.xml"] = page(index, kind="application/xml")
        robots = b"Sitemap: http://bees.example/all.xml\nSitemap: http://10.0.0.1/all.xml"
        world.pages["/robots.txt"] = page(robots, kind="text/plain")
        await fetched(world, tmp_path, depth=1)
        assert "/guide/c" in (asked := paths(world))
        assert "/shop" not in asked
        assert world.hits == []


async def test_what_has_not_changed_is_not_sent_again(tmp_path: Path) -> None:
    async with open_world() as world:

        async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            known = 'If-None-Match: "v1"' in world.asked[-1]
            writer.write(
                page(b"", status="304 Not Modified")
                if known
                else page(b"<p>One.", more='ETag: "v1"\r\n')
            )
            await writer.drain()

        world.pages["/guide/"] = answer
        first = await fetched(world, tmp_path, depth=0)
        assert first[0].path is not None
        before = first[0].path.stat().st_mtime_ns
        again = await fetched(world, tmp_path, depth=0)
        assert again == first
        assert (len(world.asked), first[0].path.stat().st_mtime_ns) == (2, before)
        assert first[0].path.read_bytes() == b"<p>One."


async def test_a_sync_deletes_what_is_gone_and_a_failure_deletes_nothing(tmp_path: Path) -> None:
    async with open_world() as world:
        site(world)
        await fetched(world, tmp_path)
        world.pages["/guide/a"] = page(b"", status="500 Oh")
        items = await fetched(world, tmp_path, drop_gone=True)
        assert [item.problem.code for item in items if item.problem] == ["unreadable"]
        assert len(files(tmp_path)) == 3
        world.pages["/guide/a"] = MISSING
        await fetched(world, tmp_path)
        assert len(files(tmp_path)) == 3
        await fetched(world, tmp_path, drop_gone=True)
        assert files(tmp_path) == {"guide/index.html"}


async def test_the_number_of_pages_is_bounded_and_said(tmp_path: Path) -> None:
    async with open_world() as world:
        site(world)
        with locked(tmp_path) as mirror:
            lines: list[str] = []
            steps = crawl(
                START,
                mirror=mirror,
                limits=CrawlLimits(depth=2, max_pages=2, pause_s=0),
                read_links=read_links,
                internet=Internet(world.resolve, world.connect),
                warn=lines.append,
            )
            assert len([item async for item in steps]) == 2
        assert "Stopped at 2 pages" in lines[0]


async def test_a_page_that_asks_not_to_be_added_or_followed(tmp_path: Path) -> None:
    async with open_world() as world:
        site(world)
        none = "<meta name=Robots content='noindex, nofollow'>"
        world.pages["/guide/a"] = linked("b?page=2", head=none)
        await fetched(world, tmp_path)
    assert files(tmp_path) == {"guide/index.html"}


async def test_a_site_that_forbids_all_or_whose_rules_are_not_known(tmp_path: Path) -> None:
    async with open_world() as world:
        site(world)
        world.pages["/robots.txt"] = page(b"User-agent: *\nDisallow: /", kind="text/plain")
        with pytest.raises(InputError, match=r"robots\.txt"):
            await fetched(world, tmp_path)
        world.pages["/robots.txt"] = page(b"", status="503 Later")
        with pytest.raises(DocumentError, match="Nothing was fetched"):
            await fetched(world, tmp_path)
        assert files(tmp_path) == set()


async def test_a_host_that_has_moved_is_followed_with_its_own_rules(tmp_path: Path) -> None:
    async with open_world() as world:
        world.names["www.bees.example"] = world.names["bees.example"]
        site(world)
        world.pages["/start"] = moved("http://www.bees.example/guide/")
        items = await fetched(world, tmp_path, start="http://bees.example/start")
        assert len(items) == 3
        assert [head for head in world.asked if "robots.txt" in head][-1].count("www.") == 1


async def test_a_link_inside_is_not_followed(tmp_path: Path) -> None:
    async with open_world() as world:
        site(world)
        world.pages["/guide/"] = linked("http://127.0.0.1/", "a")
        world.pages["/guide/a"] = moved(f"http://127.0.0.1:{world.canary}/")
        assert len(await fetched(world, tmp_path)) == 1
        assert world.hits == []


def test_names_of_files_stay_in_the_folder_and_belong_to_one_address(tmp_path: Path) -> None:
    with locked(tmp_path) as mirror:
        addresses = [f"http://a.example/{path}" for path in (
            "../../etc/passwd", "%2e%2e/%2e%2e/x", ".hidden", "a/b.html", "a/b", "a/b/", "",
            "a?b=1", "é/" + "x" * 300, "//", "a%2fb",
        )]  # fmt: skip
        for address in addresses:
            path = mirror.write(address, b"x", suffix=".html", about={"url": address})
            assert path.resolve().is_relative_to(tmp_path.resolve())
            assert not path.name.startswith(".")
        names = {item.file for item in mirror.items.values()}
    assert len(names) == len(addresses)
    with locked(tmp_path) as mirror:
        assert (
            mirror.path("http://a.example/a/b")
            == tmp_path / "a" / mirror.items["http://a.example/a/b"].file.rpartition("/")[2]
        )


def test_a_damaged_state_is_as_good_as_none(tmp_path: Path) -> None:
    (tmp_path / ".fetched.json").write_text("{")
    with locked(tmp_path) as mirror:
        assert isinstance(mirror, Mirror)
        assert mirror.items == {}
