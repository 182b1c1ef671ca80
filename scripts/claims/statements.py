"""True claims: questions with their answers as statements, and sentences in other words."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator

from claims.words import CAPITAL, LETTER, YEAR, Words, find_word, lower_first, put, read_words

_NOUN_START = rf"(?:the|a|an|his|her|its|their|some|one of|this|these|[{CAPITAL}])"
_WHEN = r"when|where|(?:in|on) (?:what|which) (?:year|date|city|country|month)"
_PARTICIPLE = re.compile(
    r"\b(?:[a-z]{3,}ed|born|built|held|made|found|written|known|given|taken|won|sold|set|led|driven|shown|begun|fought|located|located)\b"
)


def declare(question: str, answer: str, words: Words) -> str | None:
    """Return a question and its short answer as a statement; None where no pattern fits."""
    question = " ".join(question.replace("’", "'").split()).rstrip("? .")
    answer = " ".join(answer.split()).strip(" .,;")
    if not answer or len(answer.split()) > 14 or len(question.split()) > 30 or " or " in question:
        return None
    made = (_english if words.language == "en" else _french)(question, answer)
    if made is None or find_word(made, words.language) or len(made.split()) < 4:
        return None
    return made[:1].upper() + made[1:].rstrip() + "."


def _english(question: str, answer: str) -> str | None:
    aux = r"(is|was|are|were|has|had|can|could|will|would|must|should|may)"
    if m := re.fullmatch(rf"(?i:(?:who|what)) (is|was|are|were) ({_NOUN_START}.+)", question):
        return (
            None
            if re.search(r"\b(?:called|named|known as|in|of|by|to|for|from|with|do)$", m[2])
            else f"{m[2]} {m[1]} {answer}"
        )
    if m := re.fullmatch(
        rf"(?i:(?:who|what|(?:which|what) [a-z ]{{3,30}}?)) {aux} (?!{_NOUN_START}\b)(.+)", question
    ):
        return f"{answer} {m[1]} {m[2]}"
    if m := re.fullmatch(
        r"(?i:(?:who|what)) ([a-z]+ed|wrote|won|led|built|made|became|took|held|has|had|gave) (.+)",
        question,
    ):
        return f"{answer} {m[1]} {m[2]}"
    if m := re.fullmatch(
        rf"(?i:({_WHEN}|(?:what|which) year)) (was|were|is|are) ({_NOUN_START}.+)",
        question,
    ):
        return _passive(m, answer)
    if m := re.fullmatch(
        rf"(?i:({_WHEN}|who|what|(?:what|which) [a-z]+|how many [a-z]+)) (did) ({_NOUN_START}.+)",
        question,
    ):
        return _did(m, answer)
    if m := re.fullmatch(
        rf"(?i:how many) ([a-z ]{{3,25}}?) {aux} (?!{_NOUN_START}\b|there)(.+)", question
    ):
        noun = "" if m[1].split()[-1] in answer else f" {m[1]}"
        return f"{answer}{noun} {m[2]} {m[3]}"
    return None


def _place(asked: str, answer: str) -> str:
    if answer.split()[0].lower() in (
        "in",
        "on",
        "at",
        "after",
        "before",
        "by",
        "during",
        "since",
        "from",
        "between",
        "around",
        "near",
    ):
        return answer
    a_day = re.search(r"[a-z] [0-9]{1,2}|^[0-9]{1,2} ", answer) and "when" in asked.lower()
    return f"{'on' if a_day else 'in'} {answer}"


def _passive(m: re.Match[str], answer: str) -> str | None:
    found = _PARTICIPLE.search(m[3])
    if found is None or not m[3][: found.start()].strip():
        return None
    return f"{m[3][: found.start()].strip()} {m[2]} {m[3][found.start() :]} {_place(m[1], answer)}"


def _did(m: re.Match[str], answer: str) -> str | None:
    past = read_words("en").past
    parts = m[3].split()
    at = next((i for i, part in enumerate(parts) if i and part in past), None)
    if at is None or any(part in ("that", "who", "which") for part in parts[:at]):
        return None
    subject, verb, rest = " ".join(parts[:at]), past[parts[at]], " ".join(parts[at + 1 :])
    asked = m[1].lower()
    if (
        asked in ("who", "what")
        or asked.startswith("how many")
        or (asked.split()[0] in ("which", "what") and "year" not in asked)
    ):
        if re.search(r"\b(?:to|for|from|with|in|on|of|as|at|by|about|into)$", rest) or not rest:
            return f"{subject} {verb} {rest} {answer}"
        return f"{subject} {verb} {answer} {rest}" if len(rest.split()) < 8 else None
    return f"{subject} {verb} {rest} {_place(asked, answer)}"


def _french(question: str, answer: str) -> str | None:
    be = r"(est|était|sont|étaient|fut|furent)"
    question = re.sub(r"^(Qui|Quand|Où|Comment) est-ce (?:que|qui) ", r"\1 ", question)
    inverted = re.search(rf"([{LETTER}]+)-(?:t-)?(?:il|elle|ils|elles|on)\b", question)
    if m := re.fullmatch(rf"Quel(?:le)?s? {be} (?!-)(.+)", question):
        return None if m[2].startswith(("-", "ce ")) else f"{m[2]} {m[1]} {answer}"
    if m := re.fullmatch(
        r"Qui (?!est-ce|sont-ils)((?:se |s'|a |ont |est |était |fut |n')?[a-zà-ÿ]+ .+)", question
    ):
        return None if inverted else f"{answer} {m[1]}"
    if m := re.fullmatch(rf"Quel(?:le)?s? ([a-zà-ÿ' ]{{3,30}}?) {be} (?!il|elle)(.+)", question):
        return None if inverted else f"{answer} {m[2]} {m[3]}"
    if m := re.fullmatch(r"Combien (?:de |d')(.+)", question):
        if inverted:
            return None
        return (
            f"{answer} {m[1]}"
            if not find_word(answer, m[1].split()[0])
            else f"{answer} {' '.join(m[1].split()[1:])}"
        )
    if m := re.fullmatch(
        r"Où (se (?:trouve|trouvent|situe|situent)|est situé|est située) (.+)", question
    ):
        placed = re.match(r"(?i)(?:à|au|en|dans|sur|près) ", answer)
        return f"{m[2]} {m[1]} {'' if placed else 'à '}{answer}"
    if m := re.fullmatch(r"(Quand|En quelle année|À quelle date|A quelle date|Où) (.+)", question):
        if not inverted or inverted.start() <= 0:
            return None
        plain = m[2].replace(inverted.group(), inverted[1])
        lead = "en " if m[1] == "En quelle année" and YEAR.fullmatch(answer) else ""
        return f"{plain} {lead}{answer}"
    if m := re.fullmatch(r"De quand (date|datent) (.+)", question):
        return f"{m[2]} {m[1]} de {answer}"
    return None


def reword(sentence: str, words: Words, dice: random.Random) -> Iterator[tuple[str, str]]:
    """Yield kinds of rewording with the sentence in other words, all of them true."""
    plain = " ".join(sentence.split())
    if made := _shorter(plain, words):
        yield "clause left out", made
        if other := _synonyms(made, words, dice):
            yield "clause left out, synonyms", other
    if made := _second_fact(plain, words):
        yield "second fact alone", made
    if made := _less_exact(plain, words):
        yield "date without its day", made
    if made := _moved(plain, words):
        yield "clause moved", made
    if made := _synonyms(plain, words, dice):
        yield "synonyms", made
    if made := _active(plain, words):
        yield "active voice", made
    opening = dice.choice([each for each in words.openings if each])
    if dice.random() < 0.15:
        yield "opening", opening + lower_first(plain)


def _shorter(plain: str, words: Words) -> str | None:
    without = re.sub(r" ?\([^()]*\)", "", plain)
    cut = [found for link in words.links if (found := without.find(link, len(without) // 3)) > 0]
    if cut and len(without[: min(cut)].split()) >= 5:
        return without[: min(cut)].rstrip(" ,;") + "."
    return without if without != plain and len(without.split()) >= 5 else None


def _second_fact(plain: str, words: Words) -> str | None:
    """Return "X does B" of "X does A and does B"."""
    verb = rf"(?:{'|'.join(sorted(words.auxiliaries))}|[a-zà-ÿ]{{3,}}(?:ed|ait|aient))"
    link = "and" if words.language == "en" else "et"
    found = re.fullmatch(
        rf"((?:The |Le |La |L')?[{LETTER}' -]{{2,40}}?) {verb} [^,;:]{{5,90}} "
        rf"{link} ({verb} .{{8,}})",
        plain,
    )
    return None if found is None else f"{found[1]} {found[2]}"


def _less_exact(plain: str, words: Words) -> str | None:
    months = "|".join(words.months)
    before = re.search(rf"\b(?:on|le) \d{{1,2}} ((?:{months}) \d{{4}})", plain)
    after = re.search(rf"\bon ((?:{months})) \d{{1,2}}, (\d{{4}})", plain)
    lead = "in" if words.language == "en" else "en"
    if before:
        return f"{plain[: before.start()]}{lead} {before[1]}{plain[before.end() :]}"
    if after:
        return f"{plain[: after.start()]}{lead} {after[1]} {after[2]}{plain[after.end() :]}"
    return None


def _moved(plain: str, words: Words) -> str | None:
    lead = r"(?:In|On|During|After|Since|By|At|En|Pendant|Après|Depuis|Lors de|Dans|Avec)"
    found = re.fullmatch(rf"({lead} [^,]{{3,50}}), ([^,;:]{{20,160}})\.", plain)
    if found is None:
        return None
    main = found[2][:1].upper() + found[2][1:]
    return f"{main} {found[1][:1].lower()}{found[1][1:]}."


def _synonyms(plain: str, words: Words, dice: random.Random) -> str | None:
    made, pairs, done = plain, list(words.synonyms), 0
    dice.shuffle(pairs)
    for old, new in pairs:
        if (
            done < 2
            and (found := find_word(made, old))
            and not re.match(r"[-.,]\d", made[found.end() :])
        ):
            made, done = put(made, found, new), done + 1
    return made if made != plain else None


def _active(plain: str, words: Words) -> str | None:
    if words.language != "en":
        return None
    found = re.fullmatch(
        rf"((?:The|[{CAPITAL}])[^,;:]{{3,60}}?) (?:was|were) ([a-z]{{3,}}ed) by ([^,;:]{{3,60}})\.",
        plain,
    )
    if found is None or re.search(
        r"\b(?:that|which|who|and|is|was|are|were|in|on|at)\b", found[1] + found[3]
    ):
        return None
    return f"{found[3][:1].upper()}{found[3][1:]} {found[2]} {lower_first(found[1])}."
