"""Reads whose words a question asks for: "according to X", "que dit X", "X's talk"."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence

from quoth.query.entity_index import HONORIFICS, Entity, EntityIndex
from quoth.query.entity_linking import Mention, of_kind, resolve_speaker
from quoth.query.filters.extracted import NOTHING, ExtractedFilters, restrict_to
from quoth.query.messages import listed, message
from quoth.query.source_terms import SAYS, SAYS_FR, SOURCE
from quoth.query.tokens import FUNCTION_WORDS, TokenizedQuery

_WORK = (
    rf"(?:{SOURCE}|views?|opinions?|thoughts?|takes?|stances?|perspectives?|recommendations?"
    r"|messages?|comments?|statements?|lessons?|warnings?|conclusions?|definitions?|arguments?"
    r"|advice|answers?|claims?|words|point|avis|propos"
    r"|demos?|demonstrations?|slides?|q ?a|q and a|questions?(?: reponses?)?|remarks?|examples?"
    r"|theory|approach|methods?"
    r"|rules?|tips?|conseils?|exemples?|diapositives?|diapos?|methode|approche|these|position"
    r"|explanation|explication)"
)
_DONE_FR = (
    r"dit|explique|parle|presente|montre|propose|pense|recommande|mentionne|evoque|conseille"
    r"|defini|decrit|raconte"
    r"|affirme|conclu|cite|compare|utilise|choisi|critique|repondu|annonce|precise|defendu"
    r"|suggere|enseigne|aborde"
)
_LIFE = frozenset(
    "work works live lives born come comes study studies studied attend graduate "
    "marry married divorce retire earn become became meet met leave left enter train "
    "graduated start begin spend travel play own wear spell pronounce go went get got sleep eat "
    "drive raise teach die marry grow move invent win won look "
    "weigh die died join found own write "
    "wrote know age travaille habite vit vient enseigne naquit mort etudie travaille invente gagne "
    "ecrit est sont etait etaient fut sera of de du d des a an the and or et ou by par with "
    "avec is was are".split()
)
"""What speakers do outside of their talks, and words that are no verbs."""
_WH_EN = re.compile(
    r"(?:^|.* )(?:what|why|how|when|where|(?:what|which)(?: \w+){1,3}|who|whom) "
    r"(?:else )?(?:does|did"
    r"|do|has|had|would|could|can) $"
)
_WH_FR = re.compile(
    r"(?:^|.* )(?:que|qu|quoi|comment|pourquoi|ou|quand|combien|quel|quelle|quels|quelles)\b"
)
_OF_LIFE = re.compile(r"(?:where|when) (?:did|has|had) $")
_MINDS = re.compile(
    r"(?:approach|prefer|like|dislike|distrust|trust|see|view|want|avoid|hope|fear|use|handle|solve"
    r"|measure|test|choose|plan|feel|find|start|begin|finish|treat|react|respond|expect|blame"
    r"|praise"
    r"|thank|draw|justify|motivate|introduce|count|mean|need|do|make|put|give|take|keep|try|add"
    r"|build|ask|wish|object|refer|address|reject|defend|dismiss|consider|regard|rate|judge|list"
    r"|name|oppose|support|favou?r|open|close|end|illustrate|summari[sz]e|offer|share|hold"
    r"|rely|worry|care|deal|come|go|get|write|run|work|cover|also|ever|not)(?:e?s|e?d|ing)?$"
)
"""What a speaker does in a talk; another word behind a last name makes it a term."""
_DETERMINERS = frozenset("la le les l un une du des de d au aux ce cet cette son sa par".split())
_BEFORE = re.compile(
    r"(?:\b(?:according to|as per|selon|d apres|in the words of|from the mouth of|listen to"
    r"|en croire|en croit|de l avis de|aux yeux de|in the (?:view|opinion|eyes|words) of"
    r"|(?:asks?|(?:asked|put|addressed) to|asked|questions? (?:to|for)|adressee?s? a|pos\w+ a"
    r"|demande\w* a|interroge\w*)"
    rf"|{_WORK} (?:by|from|with|of|de|du|d|par|avec)"
    rf"|(?:given|presented|written|delivered|held|recorded|hosted|told|said|explained|mentioned"
    r"|shown|raised|made|recommended|suggested|proposed) by"
    r"|(?:donnee?s?|presentee?s?|ecrite?s?|animee?s?|tenue?s?|faite?s?|dite?s?|expliquee?s?"
    r"|proposee?s?|mentionnee?s?|recommandee?s?) par"
    rf"|(?:que|qu|ce que|comment|pourquoi|dont|quoi|quand|ou|quels? \w+|quelles? \w+) (?:en )?"
    rf"{SAYS_FR}(?: t)?|(?:a|ont) (?:\w+ )?(?:{_DONE_FR}))) $"
)
"""What stands before a speaker whose words are asked for (words with a blank after each)."""
_AFTER = re.compile(
    rf"(?:s (?:\w+ ){{0,2}}?{_WORK}\b|(?:(?:has|had|have|also|actually|ever|never|once|really"
    r"|just|even|explicitly|specifically|a|ont|en|y|nous|ne|n|t|il|elle|jamais|aussi|deja) ){0,4}"
    rf"(?:{SAYS}|{SAYS_FR}|{_DONE_FR}|talk about|speak about)\b"
    r"|(?:was|were|is|got|gets|a ete|est) (?:then |also )?(?:asked|questioned|interroge)|(?:a"
    r"|ont) (?:t )?(?:il |elle )?(?:dit|explique|parle|presente|montre"
    r"|propose|pense|recommande|mentionne|evoque|conseille|defini|decrit|raconte|affirme|conclu))"
)
"""What stands behind one."""
_NAMED = re.compile(
    r"\b(?:according to|as per|selon|d'apres|(?:given|presented|written|recorded) by"
    rf"|{SOURCE} (?:by|par)|(?:que|qu'|ce que) (?:en )?(?:dit|pense|explique|raconte|recommande"
    r"|propose|affirme|conseille|disent)|en croire|en croit|in the (?:view|opinion|words) of"
    r"|(?P<asking>(?:what|which|how|why|when|where)(?: \w+){0,2}? (?:does|did|do|has|have|would|can"
    r"|could)|^(?:does|did|has)|quel(?:le)?s? \w+ (?:donne|formule|propose|avance|fait))) (?=\S)"
    r"|^\W*(?=\w)"
)
"""Where a name may follow that is spelled otherwise than the real one."""
_SUBJECTS = (("on",), ("about",), ("sur",))
_LINKS = frozenset("de d of by from par".split())
_JOINTS = frozenset("and et ou or vs versus".split())
_SAYS_WORD = re.compile(rf"(?:{SAYS}|{SAYS_FR}|s|(?:ever|never|gives?|offers?|shares?|makes?))")
_GIVES = re.compile(
    r"(?:gives?|offers?|shares?|makes?|raises?|draws?|approach|handle|prefer|recommend)\b"
)
LONGEST_PERSON = 4


def speakers_asked(
    asked: TokenizedQuery, found: Sequence[Mention], *, names: EntityIndex, language: str
) -> tuple[ExtractedFilters, tuple[Entity, ...]]:
    """Read the speakers whose words are asked for, and give the speakers that are named at all.

    A speaker who is only named is a guess that lifts what was said by them.
    """
    if not names.speakers.names:
        return NOTHING, ()
    spots = _spots(asked, found, names)
    meant: list[Entity] = []
    others: list[Entity] = []
    notes: tuple[str, ...] = ()
    for group in _groups(asked, spots):
        first, last = group[0][0], group[-1][1]
        people = [each for _, _, several in group for each in several]
        if _is_asked(asked, first, last):
            meant += people
            for _, _, several in group:
                if len(several) > 1:
                    there = listed([each.real for each in several], language)
                    notes += (message("several_speakers", language, {"there": there}),)
        else:
            others += people
    if not spots:
        sure, unsure = _misspelt(asked, names)
        meant, others = meant + sure, others + unsure
    spans = tuple((asked.starts[first], asked.ends[last - 1]) for first, last, _ in spots)
    boosts = restrict_to("speaker", [each.real for each in others if each not in meant])
    heard = ExtractedFilters(
        restrict_to("speaker", [each.real for each in meant]), boosts, notes, spans
    )
    return heard, tuple(dict.fromkeys(meant + others))


Spot = tuple[int, int, tuple[Entity, ...]]
"""First word, the word behind the last one, and who may be meant."""


def _spots(asked: TokenizedQuery, found: Sequence[Mention], names: EntityIndex) -> list[Spot]:
    """Find the speakers that a question names in full, or by one name with a capital."""
    whole = [(each.first, each.last, of_kind(each, "speaker")) for each in found]
    spots = [each for each in whole if each[2]]
    taken = {place for each in found if each.last - each.first > 1 or of_kind(each, "speaker")
             for place in range(each.first, each.last)}  # fmt: skip
    for place, word in enumerate(asked.words):
        if place in taken or word not in names.called or word in FUNCTION_WORDS:
            continue
        capital = asked.clean[asked.starts[place]].isupper()
        if _beside_a_name(asked, place) if capital else not _is_plainly_asked(asked, place):
            continue
        spots.append((place, place + 1, names.called[word]))
    return sorted(spots, key=lambda each: each[:2])


def _is_plainly_asked(asked: TokenizedQuery, place: int) -> bool:
    """Whether a name in small letters stands where only somebody's name can stand."""
    before = " ".join(asked.words[max(0, place - 8) : place]) + " "
    behind = asked.words[place + 1 : place + 6]
    if _AFTER.match(" ".join(behind)):
        return not place or asked.words[place - 1] in FUNCTION_WORDS
    gap = asked.folded[asked.ends[place] : asked.starts[place + 1]] if behind else "."
    return bool(_BEFORE.search(before)) and (gap != " " or behind[0] in FUNCTION_WORDS)


def _beside_a_name(asked: TokenizedQuery, place: int) -> bool:
    """Whether the word is part of a longer name that no speaker has, as in "Ada Byron"."""
    for other in (place - 1, place + 1):
        if 0 <= other < len(asked.words):
            low, high = min(place, other), max(place, other)
            between = asked.clean[asked.ends[low] : asked.starts[high]]
            word = asked.words[other]
            capital = asked.clean[asked.starts[other]].isupper() and word not in FUNCTION_WORDS
            if between == " " and capital and word not in HONORIFICS and other > 0:
                return True
    return False


def _groups(asked: TokenizedQuery, spots: Sequence[Spot]) -> list[list[Spot]]:
    """Put speakers together that are named in one breath: "Ada Lovelace and Grace Hopper"."""
    groups: list[list[Spot]] = []
    for spot in spots:
        if groups:
            end = groups[-1][-1][1]
            if spot[0] < end:
                continue
            between = [word for word in asked.words[end : spot[0]] if word != "s"]
            joined = between[:1] and between[0] in _JOINTS and len(between) < 3
            if not between or (joined and (len(between) == 1 or between[1] in _LINKS)):
                groups[-1].append(spot)
                continue
        groups.append([spot])
    return groups


def _is_asked(asked: TokenizedQuery, first: int, last: int) -> bool:
    while first and asked.words[first - 1] in HONORIFICS:
        first -= 1
    before = " ".join(asked.words[max(0, first - 8) : first]) + " "
    after = asked.words[last : last + 5]
    following = asked.folded[asked.ends[last - 1] :]
    if following.startswith("' "):
        after = ("s", *after)  # "Tom Hughes' talk"
    if not first and (following.lstrip().startswith(":") or after[:1] in _SUBJECTS):
        return True
    if before == "pour " and following.lstrip().startswith(","):
        return True
    if _BEFORE.search(before) or _AFTER.match(" ".join(after)):
        return True
    if after and _WH_EN.match(before):
        if _OF_LIFE.search(before) or (last - first == 1 and not _MINDS.match(after[0])):
            return False  # "Where did Ada Lovelace go to school?", "Raman spectroscopy"
        return after[0] not in _LIFE  # "Why does Ada Lovelace distrust …?"
    if first and _WH_FR.match(before):
        verb = asked.words[first - 1]
        inverted = (
            verb not in FUNCTION_WORDS
            and asked.words[first - 2] not in _DETERMINERS
            and verb not in _LIFE
            and not asked.clean[asked.starts[first - 1]].isupper()
        )
        clitic = any(word in ("il", "elle") for word in after[:4]) and after[0] not in _LIFE
        return clitic or (inverted and first > 1 and verb.endswith(("e", "t", "d", "c", "ent")))
    return bool(after[1:]) and after[1:2] == ("t",) and after[0] not in _LIFE


def _misspelt(asked: TokenizedQuery, names: EntityIndex) -> tuple[list[Entity], list[Entity]]:
    """Find a speaker by a name that is not quite theirs, where a name is expected."""
    for cue in _NAMED.finditer(asked.folded):
        first = bisect_left(asked.starts, cue.end())
        if first == len(asked.starts):
            return [], []
        words: list[str] = []
        for place in range(first, min(first + LONGEST_PERSON, len(asked.words))):
            word = asked.words[place]
            gap = asked.folded[asked.ends[place - 1] : asked.starts[place]] if words else " "
            if gap.strip(" .-") or word in FUNCTION_WORDS or _SAYS_WORD.fullmatch(word):
                break
            if word not in HONORIFICS:
                words.append(word)
        heads = not cue.group().strip()
        asks = not heads and (cue["asking"] or "quel").startswith("quel")
        behind = " ".join(asked.words[first + len(words) : first + len(words) + 5])
        follows = _AFTER.match(behind) or _GIVES.match(behind)
        resolved = resolve_speaker(words, names) if words and (asks or follows) else None
        if resolved:
            people = list(resolved.names)
            return (people, []) if resolved.unambiguous else ([], people)
    return [], []
