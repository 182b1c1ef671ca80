"""The pure modules of the app, called in a browser: events, the reducer, texts, addresses."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from quoth.interfaces.web.routes import load_site
from tests.support.web_app import NEEDS_CHROMIUM, Visit, WebApp

pytestmark = NEEDS_CHROMIUM

LONG_SENTENCE = "sentence about bees, hives, wax and honey, and about winter. "
ANSWER = {"query_id": "q_1", "text": "Bees dance. [1]", "citations": [{"number": 1}]}
EVENTS: list[dict[str, Any]] = [
    {"event": "asked", "question": "Why?"},
    {"event": "status", "stage": "retrieve", "query_id": "q_1"},
    {"event": "hits", "hits": [{"rank": 1}]},
    {"event": "token", "text": "Bees "},
    {"event": "token", "text": "dance. [1]"},
    {"event": "citation", "citation": {"number": 1, "id": "a"}},
    {"event": "done", "answer": ANSWER},
]


@pytest.fixture(scope="module")
def visit(web: WebApp) -> Iterator[Visit]:
    with web.opened() as visit:
        yield visit


def call(visit: Visit, module: str, code: str, given: Any = None) -> Any:
    """Evaluate an expression over a module ``m`` and a value ``given``."""
    address = f"/static/{load_site().version}/{module}"
    return visit.page.evaluate(
        f"async (given) => {{ const m = await import('{address}'); return {code}; }}", given
    )


def reduced(visit: Visit, events: list[dict[str, Any]]) -> Any:
    return call(visit, "reduce.js", "given.reduce(m.reduce, m.IDLE)", events)


def test_the_state_follows_the_events(visit: Visit) -> None:
    phases = [reduced(visit, EVENTS[:n])["phase"] for n in range(len(EVENTS) + 1)]
    assert phases == ["idle", *["searching"] * 3, *["writing"] * 3, "done"]
    done = reduced(visit, EVENTS)
    assert (done["queryId"], done["text"], done["answer"]) == ("q_1", ANSWER["text"], ANSWER)
    assert reduced(visit, EVENTS[:5])["text"] == "Bees dance. [1]"


def test_what_comes_after_the_end_changes_nothing(visit: Visit) -> None:
    stopped = [*EVENTS[:4], {"event": "stopped"}]
    assert reduced(visit, [*stopped, *EVENTS[4:]]) == reduced(visit, stopped)
    unknown = [*EVENTS[:4], {"event": "a later kind"}]
    assert reduced(visit, unknown) == reduced(visit, EVENTS[:4])


def test_a_broken_stream_keeps_the_id_and_is_restored(visit: Visit) -> None:
    broken = reduced(visit, [*EVENTS[:4], {"event": "broken"}])
    assert (broken["phase"], broken["queryId"]) == ("broken", "q_1")
    again = [*EVENTS[:4], {"event": "broken"}, {"event": "restored", "answer": ANSWER}]
    restored = reduced(visit, again)
    assert restored["phase"] == "done"
    assert restored["restored"]


def test_events_are_the_same_wherever_the_stream_is_cut(visit: Visit) -> None:
    stream = "".join(
        f"event: {each['event']}\ndata: {json.dumps(each, ensure_ascii=False)}\n\n: ping\n\n"
        for each in [*EVENTS, {"event": "token", "text": "é 𝄞 \n\n data: event: x"}]
    )
    code = """await (async () => {
      const bytes = new TextEncoder().encode(given);
      const read = async (parts) => {
        const start = (to) => { parts.forEach((each) => to.enqueue(each)); to.close(); };
        const body = new ReadableStream({ start });
        const found = [];
        for await (const event of m.readEvents(new Response(body))) found.push(event);
        return JSON.stringify(found);
      };
      const whole = await read([bytes]);
      const wrong = [];
      for (let at = 0; at <= bytes.length; at++) {
        if (await read([bytes.slice(0, at), bytes.slice(at)]) !== whole) wrong.push(at);
      }
      return [JSON.parse(whole).length, wrong];
    })()"""
    assert call(visit, "sse.js", code, stream) == [len(EVENTS) + 1, []]


def test_offsets_count_code_points(visit: Visit) -> None:
    assert call(visit, "text.js", "m.around(given, [2, 4])", "𝄞𝄞abc") == ["𝄞𝄞", "ab", "c"]
    answer = {
        "text": "𝄞 one. [1]\n\nTwo. [2][1] And three.",
        "sentences": [
            {"start": 0, "end": 6, "citations": [1], "support": "supported"},
            {"start": 12, "end": 16, "citations": [2, 1], "support": "partly"},
        ],
    }
    found = call(visit, "text.js", "m.paragraphs(given)", answer)
    assert [[each["text"] for each in part] for part in found] == [
        ["𝄞 one."],
        ["Two.", "And three."],
    ]


def test_the_beginning_of_a_long_answer_is_whole_words_with_their_citations(visit: Visit) -> None:
    text = f"𝄞 {'one ' * 60}end. [1] {'two ' * 60}end. [2] Three. [3]"
    second, third = text.index("two"), text.index("Three")
    spans = ((0, second - 5), (second, third - 5), (third, third + 6))
    sentences = [
        {"start": start, "end": end, "citations": [number], "support": "supported"}
        for number, (start, end) in enumerate(spans, start=1)
    ]
    code = "((found) => [found.cut, m.paragraphs(found.answer)[0]])(m.beginningOf(given))"
    cut, pieces = call(visit, "text.js", code, {"text": text, "sentences": sentences})
    assert cut
    assert [each["citations"] for each in pieces] == [[1], [2]]
    assert pieces[0]["text"] == text[: second - 5]
    assert re.fullmatch(r"(two )+…", pieces[1]["text"])
    short = {"text": text[:350], "sentences": []}
    assert call(visit, "text.js", "m.beginningOf(given).cut", short) is False
    lines = {"text": "- one\n" * 60, "sentences": []}
    found = call(visit, "text.js", "m.beginningOf(given).answer.text", lines)
    assert found == "- one\n" * 5 + "- …"


def test_every_sentence_of_a_quotation_has_its_mark(visit: Visit) -> None:
    text = "Steps:\nBees dance.\nThey do so in the dark. [1]\nMore:\n\nIn rows. [2]"
    spans = ((7, 18, 1), (19, 42, 1), (54, 62, 2))
    sentences = [
        {"start": start, "end": end, "citations": [number], "support": "supported"}
        for start, end, number in spans
    ]
    answer = {"text": text, "sentences": sentences, "citations": [{"number": 1}, {"number": 2}]}
    found = call(visit, "text.js", "m.paragraphs(given)", answer)
    assert [[(each["text"], each["mark"], each["line"]) for each in part] for part in found] == [
        [
            ("Steps:", "", False),
            ("Bees dance.", "s1", True),
            ("They do so in the dark.", "s2", True),
            ("More:", "", True),
        ],
        [("In rows.", "s3", False)],
    ]
    asking = {"answer": answer, "citations": answer["citations"], "evidence": [], "hits": []}
    assert call(visit, "text.js", "m.openedAt(given, 's2')", asking) == 0
    assert call(visit, "text.js", "m.openedAt(given, 's3')", asking) == 1
    assert call(visit, "text.js", "m.openedAt(given, 's4')", asking) == -1
    assert call(visit, "text.js", "m.wordsAt(given, 's2')", asking) == "They do so in the dark."


@pytest.mark.parametrize(
    ("words", "span"),
    [
        ("… dance in (the) dark …", [6, 26]),
        ("dance a", None),
        ("", None),
        ("𝄞 sing", [28, 34]),
    ],
)
def test_words_are_found_whatever_their_white_space(
    visit: Visit, words: str, span: list[int] | None
) -> None:
    text = "Bees\n dance\tin  (the) dark. 𝄞\nsing."
    assert call(visit, "text.js", "m.spanOf(given[0], given[1])", [words, text]) == span


@pytest.mark.parametrize(
    ("link", "safe"),
    [
        ("https://a.test/x", True),
        ("/v1/documents/d/original", True),
        ("javascript:alert(1)", False),
        (" javascript:alert(1)", False),
        ("data:text/html,x", False),
        ("//evil.test", False),
        ("/\\evil.test", False),
        (None, False),
    ],
)
def test_only_web_addresses_and_our_own_are_links(visit: Visit, link: str, safe: bool) -> None:
    assert call(visit, "text.js", "m.isSafeLink(given)", link) is safe


def test_the_time_left_of_an_upload_follows_from_its_passages(visit: Visit) -> None:
    code = """(() => {
      const left = m.minutesLeft();
      return given.map(([chunks, now]) => left({ chunks, of_chunks: 1000 }, now) ?? null);
    })()"""
    steps = [[0, 0], [100, 5_000], [100, 6_000], [200, 65_000], [990, 539_000]]
    assert call(visit, "uploads.js", code, steps) == [None, None, None, 8, 1]


@pytest.mark.parametrize(
    ("address", "local"),
    [
        ("http://127.0.0.1:8000/#share=x", True),
        ("http://localhost/", True),
        ("http://[::1]:80/", True),
        ("https://quoth.example.org/", False),
        ("http://192.168.1.5:8000/", False),
    ],
)
def test_an_address_of_this_machine_is_known(visit: Visit, address: str, local: bool) -> None:
    assert call(visit, "shares.js", "m.isOfThisMachine(given)", address) is local


def test_metadata_are_read_as_they_are_written(visit: Visit) -> None:
    code = "[m.metadataLines(given), m.readMetadata(m.metadataLines(given), given)]"
    metadata = {"team": ["legal", "sales"], "year": 2024, "final": True, "note": "a=b"}
    lines = "team=legal\nteam=sales\nyear=2024\nfinal=true\nnote=a=b"
    assert call(visit, "text.js", code, metadata) == [lines, metadata]
    assert call(visit, "text.js", "m.readMetadata(given)", "year=2024\n\n") == {"year": "2024"}


def test_addresses_name_what_is_shown(visit: Visit) -> None:
    def route(path: str) -> Any:
        return call(visit, "router.js", "m.routeOf(given)", f"http://x.test{path}")

    assert route("/")["page"] == "ask"
    assert (route("/q/q_1#s3")["id"], route("/q/q_1#s3")["mark"]) == ("q_1", "s3")
    assert route("/q/q_1/explain")["page"] == "explain"
    document = route("/d/d1?start=5&end=9")
    assert (document["page"], document["start"], document["end"]) == ("d", 5, 9)
    assert route("/d/d1?start=x")["end"] is None


def test_who_visits_is_no_guest_where_the_service_does_not_say_so(visit: Visit) -> None:
    visit.page.route("**/v1/session", lambda route: route.abort())
    answers = """[await m.isGuest(), (m.beginSharedVisit(), await m.isGuest()),
      sessionStorage.clear()].slice(0, 2)"""
    assert call(visit, "shares.js", answers) == [False, True]
    visit.page.unroute_all()


def test_the_oldest_answers_of_a_full_tab_make_room_for_the_newest(visit: Visit) -> None:
    code = """await (async () => {
      for (const id of ["q_9", "q_1", "q_5", "q_3"]) {
        m.keepAnswer(id, { question: id, answer: "x".repeat(2_000_000) });
        await new Promise((done) => setTimeout(done, 5));
      }
      const found = ["q_9", "q_1", "q_5", "q_3"].map((id) => m.keptAnswer(id)?.question);
      m.keepAnswer("q_0", { question: "q_0", answer: "x".repeat(20_000_000) });
      m.forgetAnswers();
      return [...found, sessionStorage.length];
    })()"""
    assert call(visit, "conversation.js", code) == [None, None, "q_5", "q_3", 0]


def test_a_stored_question_keeps_its_choices(visit: Visit) -> None:
    options = {
        "collections": ["latex"],
        "profile": "book",
        "llm": "none",
        "mode": "keyword",
        "max_ms": 15_000,
        "max_usd": None,
    }
    sent = "m.asFields(m.choicesOf(given, 'default'))"
    panel = "components/choices-panel.js"
    assert call(visit, panel, sent, options) == {
        "collection": "latex",
        "profile": "book",
        "llm": "none",
        "mode": "keyword",
        "max_ms": 15_000,
    }
    plain = {name: None for name in options} | {"collections": ["default"]}
    assert call(visit, panel, sent, plain) == {}
    named = {**plain, "llm": "openai:small", "max_usd": 0.05}
    assert call(visit, panel, sent, named) == {"llm": "openai:small", "max_usd": 0.05}


@pytest.mark.parametrize(
    ("before", "kept"),
    [
        ("Bees dance. ", "Bees dance. "),
        (f"A long {LONG_SENTENCE}", LONG_SENTENCE),
        ("a\nb\n\nc\nd", "c\nd"),
        ("蜂" * 70, "蜂" * 62),
        ("😀" * 70, "😀" * 62),
    ],
)
def test_what_is_before_a_mark_leaves_room_for_it(visit: Visit, before: str, kept: str) -> None:
    out = call(visit, "text.js", "m.leftOut(given, 62, 2)", before)
    assert before[out:] == kept


@pytest.mark.parametrize(
    ("name", "fits"), [("bees", True), ("a/b", False), ("a\\b", False), ("..", False)]
)
def test_a_collection_has_no_slash_in_its_name(visit: Visit, name: str, fits: bool) -> None:
    assert call(visit, "text.js", "m.isCollectionName(given)", name) is fits


CARD = {"id": "a", "transcript_id": "s2", "document_name": "Bees", "snippet": "Wax is sweated."}
LIVE: list[dict[str, Any]] = [
    {"event": "segment", "segment": {"segment_id": "s2", "start": 5, "end": 9, "text": "wax."}},
    {"event": "segment", "segment": {"segment_id": "s1", "start": 0, "end": 5, "text": "Of"}},
    {"event": "citations", "window_index": 0, "citations": [CARD], "early": True},
    {"event": "window", "window_index": 0, "start": 0, "end": 9, "transcript_id": "s2"},
    {"event": "slow", "window_index": 0, "waited_s": 2},
    {"event": "citations", "window_index": 0, "citations": [CARD], "early": False},
    {"event": "stale", "window_index": 0, "citation_ids": ["a"]},
    {"event": "end", "windows": 1},
]


def test_the_live_view_follows_the_events(visit: Visit) -> None:
    code = "given.map((_, at) => given.slice(0, at + 1).reduce(m.reduceLive, m.EMPTY))"
    states = call(visit, "live.js", code, LIVE)
    assert [part["segment_id"] for part in states[1]["segments"]] == ["s1", "s2"]
    assert [len(state["windows"]) for state in states] == [0, 0, 1, 1, 1, 1, 1, 1]
    assert [state["slow"] for state in states] == [*[False] * 4, True, *[False] * 3]
    assert states[-1]["lecture"]["state"] == "ended"
    assert states[-1]["windows"]["0"]["citations"][0]["stale"]
    code = """[[...m.citationsBySegment(given).keys()],
      ["WAX bees", "mites"].map((words) => m.groups(given, words).length)]"""
    assert call(visit, "live.js", code, states[-1]) == [["s2"], [1, 0]]


def test_a_view_that_hears_no_events_sees_what_is_stored(visit: Visit) -> None:
    segment = {"segment_id": "s1", "start": 0, "end": 5, "text": "Of wax."}
    snapshot = {"session": {"state": "open"}, "segments": [segment], "windows": []}
    spoken = [{"event": "segment", "segment": segment}]
    code = "m.isBehind(given[0].reduce(m.reduceLive, m.EMPTY), given[1])"
    assert call(visit, "live.js", code, [[], snapshot]) is True
    assert call(visit, "live.js", code, [spoken, snapshot]) is False
    ended = {**snapshot, "session": {"state": "ended"}}
    assert call(visit, "live.js", code, [spoken, ended]) is True


def test_captions_are_read_in_both_formats(visit: Visit) -> None:
    vtt = "WEBVTT\n\nNOTE x\n\n1\n01:02.500 --> 01:04.000 align:start\n<v Ada>A &lt; <b>b</b>\nc\n"
    srt = (
        "\ufeff0\r\n00:00:01,000 --> 00:00:02,000\r\n\r\n1\r\n01:00:00,000 --> 01:00:01,5\r\nHi\r\n"
    )
    assert call(visit, "live.js", "m.cuesOf(given)", vtt) == [
        {"segment_id": "c62500-0", "start": 62.5, "end": 64, "text": "A < b c", "speaker": "Ada"}
    ]
    found = call(visit, "live.js", "m.cuesOf(given)", srt)
    assert [(cue["start"], cue["end"], cue["text"]) for cue in found] == [(3600, 3601.5, "Hi")]
    assert call(visit, "live.js", "m.cuesOf(given)", "no captions") == []
