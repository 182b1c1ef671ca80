"""The library page: documents are found, corrected and listed; an index is rebuilt."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
from playwright.sync_api import Dialog, Route, expect

from tests.support.web_app import NEEDS_CHROMIUM, WebApp

pytestmark = NEEDS_CHROMIUM

MANY = 5_000


def test_a_document_is_corrected_in_a_dialog(web: WebApp, tmp_path: Path) -> None:
    file = tmp_path / "hornets.md"
    file.write_text("# Hornets\n\nHornets hunt bees.\n", encoding="utf-8")
    sidecar = tmp_path / "hornets.meta.json"
    sidecar.write_text('{"title": "On hornets", "author": "B. Person"}', encoding="utf-8")
    with web.opened("/library") as visit:
        page = visit.page
        page.locator("input[type=file]").first.set_input_files([file, sidecar])
        expect(page.locator("upload-area [role=status]")).to_contain_text("1 of 1", timeout=30_000)
        page.locator("input[type=search]").fill("PERSON hornets")
        expect(page.locator("tbody td a").first).to_have_text("On hornets")
        page.locator("tbody button", has_text="Edit").click()
        page.locator("dialog input[name=title]").fill("All about hornets")
        page.locator("dialog input[name=speaker]").fill("A. Person")
        page.locator("dialog input[name=date]").fill("2024-03")
        own = page.locator("dialog textarea[name=metadata]")
        own.fill("team=legal\nno pair")
        page.locator("dialog button.primary").click()
        expect(page.locator("dialog [role=alert]")).to_contain_text("“no pair” is no metadata")
        own.fill("team=legal\nyear = 2024\nteam=sales")
        page.locator("dialog button.primary").click()
        expect(page.locator("tbody td a").first).to_have_text("All about hornets", timeout=30_000)
        page.locator("tbody button", has_text="Edit").click()
        expect(own).to_have_value("team=legal\nteam=sales\nyear=2024")
        page.keyboard.press("Escape")
        page.locator("tbody a").click()
        expect(page.locator("h1")).to_have_text("All about hornets")
        expect(page.locator("document-about")).to_contain_text("March 2024")
        expect(page.locator("document-about")).to_contain_text("team: legal, sales · year: 2024")


def test_the_form_of_a_document_has_nothing_that_was_typed_for_another(
    web: WebApp, tmp_path: Path
) -> None:
    files = [tmp_path / "newts.md", tmp_path / "toads.md"]
    for file in files:
        file.write_text(f"# On {file.stem}\n\nAmphibians sleep in winter.\n", encoding="utf-8")
    with web.opened("/library") as visit:
        page = visit.page
        page.locator("input[type=file]").first.set_input_files(files)
        expect(page.locator("upload-area [role=status]")).to_contain_text("2 of 2", timeout=30_000)
        speaker = page.locator("dialog input[name=speaker]")
        own = page.locator("dialog textarea[name=metadata]")
        page.locator("tr", has_text="On newts").locator("button", has_text="Edit").click()
        speaker.fill("A. Person")
        own.fill("pond=north")
        page.locator("dialog button", has_text="Cancel").click()
        for title in ("On newts", "On toads"):
            page.locator("tr", has_text=title).locator("button", has_text="Edit").click()
            expect(page.locator("dialog input[name=title]")).to_have_value(title)
            expect(speaker).to_have_value("")
            expect(own).to_have_value("")
            page.keyboard.press("Escape")


def test_uploads_are_followed_after_another_page_stopped_and_known_again(
    web: WebApp, tmp_path: Path
) -> None:
    file, long = tmp_path / "moths.md", tmp_path / "long.md"
    file.write_text("# On moths\n\nMoths eat wool.\n", encoding="utf-8")
    lines = (f"Line {at} of a long story about moths and wool." for at in range(60_000))
    long.write_text("\n\n".join(lines), encoding="utf-8")
    with web.opened("/library") as visit:
        page = visit.page
        choose = page.locator("input[type=file]").first
        choose.set_input_files(long)
        row = page.locator(".uploads li", has_text="long.md")
        expect(row).to_contain_text(" passages", timeout=60_000)
        choose.set_input_files(file)
        page.locator("nav a", has_text="History").click()
        page.locator("nav a", has_text="Library").click()
        row.locator("button", has_text="Stop").click()
        expect(row).to_contain_text("stopped")
        expect(page.locator("tbody", has_text="On moths")).to_be_visible(timeout=60_000)
        page.locator("input[type=file]").first.set_input_files(file)
        again = page.locator(".uploads li", has_text="moths.md").nth(1)
        expect(again).to_contain_text("already there", timeout=30_000)


def test_an_upload_is_followed_again_after_a_lost_connection(web: WebApp, tmp_path: Path) -> None:
    file = tmp_path / "wasps.md"
    file.write_text("# On wasps\n\nWasps eat flies.\n", encoding="utf-8")
    asked = 0

    def break_twice(route: Route) -> None:
        nonlocal asked
        asked += 1
        if asked > 2:
            route.continue_()
        else:
            route.abort()

    with web.opened("/library") as visit:
        page = visit.page
        page.route("**/v1/uploads/*/events", break_twice)
        page.locator("input[type=file]").first.set_input_files(file)
        row = page.locator(".uploads li", has_text="wasps.md")
        expect(row).to_contain_text("Trying again", timeout=30_000)
        expect(row).to_contain_text("ready", timeout=30_000)
        expect(row).not_to_contain_text("Trying again")
        expect(page.locator("upload-area [role=status]")).to_contain_text("0 failed")


def test_sending_that_broke_goes_on_where_it_stopped_and_can_be_stopped(
    web: WebApp, tmp_path: Path
) -> None:
    file = tmp_path / "gnats.md"
    text = "# On gnats\n\nGnats bite at dusk.\n"
    file.write_text(text.ljust(2**20, "\n"), encoding="utf-8")
    sent: list[int] = []

    def break_once(route: Route) -> None:
        if route.request.method != "PATCH":
            route.continue_()
            return
        sent.append(int(route.request.headers["upload-offset"]))
        if len(sent) == 1:
            # What arrived before the connection broke.
            httpx.patch(route.request.url, content=text, headers={"upload-offset": "0"})
            route.abort()
        elif len(sent) == 2:
            route.continue_()

    with web.opened("/library") as visit:
        page = visit.page
        page.route("**/v1/uploads*/**", break_once)
        choose = page.locator("input[type=file]").first
        choose.set_input_files(file)
        row = page.locator(".uploads li", has_text="gnats.md")
        expect(row).to_contain_text("failed")
        expect(row).to_contain_text("The connection broke")
        row.locator("button", has_text="Send again").click()
        expect(row).to_contain_text("ready", timeout=30_000)
        expect(row.locator("button")).to_have_count(0)
        # The third is not answered: it is stopped and deleted.
        file.write_text("Other words.".ljust(2**20, "\n"), encoding="utf-8")
        with page.expect_request(lambda each: each.method == "PATCH"):
            choose.set_input_files(file)
        again = row.nth(1)
        with page.expect_request(lambda each: each.method == "DELETE") as deleted:
            again.locator("button", has_text="Stop").click()
        response = deleted.value.response()
        assert response is not None
        assert response.status == 204
        expect(again).to_contain_text("stopped")
    assert sent == [0, len(text), 0]


def test_an_index_is_rebuilt_and_a_collection_made(web: WebApp) -> None:
    with web.opened("/library") as visit:
        page = visit.page
        page.locator("button", has_text="Rebuild the index").click()
        said = page.locator("collection-bar [role=status]")
        expect(said).to_contain_text("The index is new", timeout=30_000)
        page.locator("summary", has_text="New collection").click()
        page.locator("input[name=name]").fill("a/b")
        page.keyboard.press("Enter")
        expect(page.locator(".panel [role=alert]")).to_contain_text("a part of its address")
        page.locator("input[name=name]").fill("insects")
        page.keyboard.press("Enter")
        expect(page.locator("collection-bar select")).to_have_value("insects")
        expect(page.locator("document-list")).to_contain_text("no documents in this collection")
        page.reload()
        expect(page.locator("collection-bar select")).to_have_value("insects")
        asked: list[str] = []

        def agree(dialog: Dialog) -> None:
            asked.append(dialog.message)
            dialog.accept()

        page.on("dialog", agree)
        page.locator("button", has_text="Delete the collection").click()
        expect(page.locator("collection-bar select")).to_have_value("")
        expect(page.locator("collection-bar option", has_text="insects")).to_have_count(0)
        assert asked[0].startswith("Delete “insects” with its 0 documents")
        page.goto(f"{web.url}/library?collection=insects")
        page.wait_for_url(f"{web.url}/library")
        expect(page.locator("document-list a", has_text="Inside the hive")).to_be_visible()


def test_a_watched_folder_and_the_tenants_are_shown_to_the_operator(web: WebApp) -> None:
    with web.opened("/library") as visit:
        page = visit.page
        watched = page.locator("watched-folders li")
        expect(watched).to_contain_text("1 failed", timeout=30_000)
        expect(watched.locator(".problem")).to_contain_text("broken.pdf")
        page.locator("nav a", has_text="Settings").click()
        expect(page.locator("tenants-panel tbody tr").first).to_contain_text("local")


def many_documents(route: Route) -> None:
    """Answer as a library of many documents, the last of which failed."""
    asked = {
        name: values[0] for name, values in parse_qs(urlsplit(route.request.url).query).items()
    }
    skip, limit = int(asked.get("skip", 0)), int(asked["limit"])
    failed = {"code": "encrypted", "message": "It has a password."}

    def document(at: int) -> dict[str, Any]:
        last = at == MANY - 1
        return {
            "document_id": f"d{at}",
            "title": f"Document {at}",
            "kind": "pdf",
            "language": "en",
            "pages": 3,
            "status": "failed" if last else "ready",
            "error": failed if last else None,
            "warnings": [],
        }

    if "state" in asked:
        route.fulfill(json={"documents": [document(MANY - 1)], "total": 1})
        return
    rows = [document(at) for at in range(skip, min(MANY, skip + limit))]
    route.fulfill(json={"documents": rows, "total": MANY})


def test_a_list_of_many_documents_holds_few_rows(web: WebApp) -> None:
    with web.opened("/settings", locale="fr-FR") as visit:
        page = visit.page
        page.route("**/v1/documents?*", many_documents)
        page.locator("nav a", has_text="Bibliothèque").click()
        rows = page.locator("tbody tr:not([aria-hidden])")
        expect(rows.first).to_contain_text("Document 0")
        last = page.locator("tr", has_text=f"Document {MANY - 1}")
        page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
        page.locator("tbody").last.locator("a").first.wait_for()
        page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
        expect(last).to_contain_text("It has a password.")
        assert rows.count() <= 400
        said = page.locator("document-list [role=status]")
        expect(said).to_have_text(re.compile(r"4\s999 documents"))
        page.locator("label.check input").check()
        expect(rows).to_have_count(1)
        expect(said).to_have_text("1 document")
        expect(rows.locator("small.narrow")).to_be_hidden()
        page.set_viewport_size({"width": 390, "height": 800})
        expect(rows.locator("small.narrow")).to_be_visible()
        expect(rows.locator("small.narrow")).to_have_text("PDF · échec")


def test_the_sample_is_one_click_away(web: WebApp) -> None:
    waiting = [3, 1, 0]
    with web.opened("/settings") as visit:
        page = visit.page
        documents = 0

        def collections(route: Route) -> None:
            route.fulfill(json={"collections": [{"name": "default", "documents": documents}]})

        def uploads(route: Route) -> None:
            queued = "queued" in route.request.url
            route.fulfill(json={"total": waiting[0] if queued else 0})
            if not queued and len(waiting) > 1:
                waiting.pop(0)

        page.route("**/v1/collections", collections)
        page.route("**/v1/sample", lambda route: route.fulfill(status=202, json={"files": 3}))
        page.route("**/v1/uploads?*", uploads)
        page.locator("nav a", has_text="Ask").click()
        page.locator("button", has_text="Try the sample").click()
        expect(page.locator(".first-run progress")).to_be_visible()
        documents = 3
        expect(page.locator(".first-run")).to_have_count(0)
