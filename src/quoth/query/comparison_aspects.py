"""Reads what a comparison compares: "the difference between A and B", "A vs B"."""

from __future__ import annotations

import re
from collections.abc import Sequence

from quoth.query.entity_index import ARTICLES
from quoth.query.intent_comparison_rules import BETTER
from quoth.query.tokens import WORD, TokenizedQuery, normalize_query

MOST_ASPECTS = 3
"""More are named in a note and not searched for one by one."""
LONGEST_ASPECT = 60

_TAIL = re.compile(
    r",? (?:in|dans|from|selon|according to) (?:the |le |la |l')?\ufffc.*"
    r"|,? \b(?:in terms of|with (?:regard|respect) to|when it comes to|according to|as described"
    r"|in (?:the|this|that|chapter|section|his|her|my|your|their)|on page|on pages|from the"
    r"|for (?:a|an|the|my|our"
    r"|small|large|long|short)|(?:is|are|was|were|do|does|did|which|what|who|how|why|when"
    r"|should|if|because|regarding"
    r"|concerning|as|that|so|in detail|say|says|said|think|thinks|please|explained"
    r"|mentioned|using|based on"
    r"|discussed)\b(?! (?:to|a)$)"
    r"|en termes d|selon|d'apres|dans (?:le|la|l'|les|ce|cette)|du point de vue|quant (?:a|au)"
    r"|pour (?:le|la|les|l'|un|une)"
    r"|a la page|au chapitre|concernant|lorsqu|(?:quand|dit|disent|pensent|ont dit|lequel"
    r"|laquelle|qui|que|est|sont)\b|qu'|sur (?:le|la|les) (?:plan|question|sujet))"
)
_LEAD = re.compile(
    r"^(?:(?:the|a|an|both|either|using|between|of|to|from|with|and|or|le|la|les|un|une|des|du"
    r"|de|au|aux|entre|et|ou"
    r"|avec|celle|celui|ceux|ce|que|talks?|books?|exposes?|livres?|presentations?|sections?|what"
    r"|is|are"
    r"|which|better|about|how|when|why|explain|use|choose|should|i|we|quel|quelle"
    r"|est|sont|utiliser|choisir|faut-il|difference|comparison|comparaison|so|please|me)\b ?"
    r"|l'|d'|qu')+"
)
_CUT = re.compile(r"[?!;:]|(?<!\bvs)\.(?= |$)|[()]")
_AND = (
    r"(?:\s*,\s*(?:and |et |or |ou |with |to )?|\s+(?:and|et|or|ou|vs\.?|versus)\s+|\s*/\s*"
    r"|\s*&\s*)"
)
# Where a joint is tried at every blank, the first of a run is enough: not behind three of them.
_VERSUS = r"(?<!\s{3})\s+(?:vs\.?|versus|face (?:a|au|aux))\s+"
_BLANKS = r"\s+(?!\s{3})"
_RATHER = (
    r"(?<!\s)\s+(?:vs\.?|versus|rather than|instead of|as opposed to|(?:as )?compared (?:with|to)"
    r"|(?:face|par rapport|comparee?s?) (?:a|au|aux)|plutot que?)(?:\s+|(?<=qu)')"
)
_SIDES = re.compile(_RATHER)
_WITH = r"\s+(?:with|against|avec|contre)\s+"
_TO = r"\s+(?:to|a|au|aux)\s+"
_JOINTS_EN = (_AND, _WITH, r"\s+(?:than|over)\s+", r"\s+from\s+", r"\s+to\s+")
_OF = (r"\s+(?:du |des |de la |de l'|d'(?=une? ))", r"\s+(?:de |d')")
_JOINTS_FR = (_AND, _WITH, r"\s+(?:sur|que)\s+", r"\s+(?:a|au|aux)\s+", *_OF)
_JOINTS_ELSE = (r"(?:\s*,\s*|\s+(?:und|oder|y|e|o|ou|en|of)\s+)", r"\s+(?:mit|con|com|met)\s+")
_SCOPE = re.compile(
    r"(?<!\s)\s+(?:in|on|for|at|during|under|dans|en|chez|sur|pour|pendant|within|among|inside)\b"
    r".*$"
)
"""Where things are compared; a part of one of them only if the others have such a part as well."""
_BETTER = (
    rf"(?:{BETTER}|more \w+|less \w+|mieux|meilleure?s?|pires?|(?:plus|moins|aussi|autant"
    rf"|davantage)"
    r" (?:d(?:e |'))?\w+|preferables?|superieure?s?|inferieure?s?)"
)
_MOSTLY = re.compile(
    r"\W*(?:(?:the )?most|mainly|exactly|really|at all|exactement|surtout|vraiment|au juste)?\W*"
)
"""What may stand behind a comparison without being compared."""
_NOUN = (
    r"(?:differences?|distinctions?|similarit(?:y|ies)|similitudes?|ressemblances?|contraste?s?"
    r"|parallel(?:e?s)?|(?:dis)?agreements?|desaccords?|divergences?|points? communs?|points? "
    r"(?:forts?|faibles?)(?: et (?:les |des |leurs )?(?:points? faibles|faiblesses|limites))?"
    r"|choice|choosing|choix|trade-?offs?|relationship|gap"
    r"|opposition|compar(?:isons?|aisons?)|pros and cons|strengths and weaknesses|advantages and "
    r"(?:disadvantages|drawbacks)|avantages et (?:les )?inconvenients|forces et (?:les )?"
    r"faiblesses)"
)
_VERB = (
    r"(?:compar(?:e|es|er|ez|ons|ing)(?: and contrast)?|contrast|juxtapose[rz]?|oppose[rz]?"
    r"|confronte[rz]?|departage[rz]?|(?:weigh|pit|set|put|measure)(?: up)?(?=.* against )"
    r"|me(?:t|ts|tt\w+) (?:\w+ )?en (?:parallele|regard|balance|opposition))"
)
_APART = r"(?:distingu|differenci|oppos|separ|rapproch)(?:e|es|er|ez|ent)"
_DIFFER = (
    r"(?:compares?|differs?|relates?|different|unlike|stacks? up|measures? up|holds? up|fares?)\b"
    r"(?: (?:to|with|from|against))?"
)
_SAME = (
    r"(?:the same|identical|equivalent|alike|similar|interchangeable|equal|identiques?"
    r"|pareil(?:le)?s?|equivalente?s?|semblables?|similaires?|la meme chose)"
)
_DIFFERE = (
    r"(?: (?:se |s')?(?:differe(?:nt)?(?:-t)?(?:-(?:ils?|elles?))?|compare(?:nt)?(?:-t-(?:il|elle)"
    r"s?|-(?:il|elle)s)?|(?:distingue|oppose)(?:nt)?(?:-t-(?:il|elle)s?|-(?:il|elle)s)?|est-(?:il"
    r"|elle) "
    r"differente?|sont-(?:ils|elles) differente?s?)\b(?: (?:de|du|des|d'|avec|a|au))?)"
)
_LISTS = tuple(
    map(
        re.compile,
        (
            rf"\b{_NOUN} (?:of |de la |de l'|de |des |du |d')(?P<sides>[^,:;?]+?{_RATHER}.+)",
            rf"^(?P<sides>[^,:;?]+?{_RATHER}[^,:;?]+)[:,;?]\s*(?:why|pourquoi|when|quand|which|que"
            rf"|quel)",
            r"^qui (?:de |d')(?P<list>[^,]+? ou .+)",
            rf"(?:^|[,:;?] ?)(?P<sides>[^,:;?]+?{_VERSUS}.+)",
            r"\b(?:put|set|place|lay|show|look at|compare"
            rf"|see){_BLANKS}(?P<list>.+?)(?P<joint> side by side)"
            r"(?P<rest>)",
            r"\b(?:mets|mettez|mettre|mettons|place[rz]?|pose[rz]?)\s+cote a cote\s+(?P<list>.+)",
            r"\b(?:mets|mettez|mettre|mettons|place[rz]?"
            rf"|pose[rz]?){_BLANKS}(?P<list>.+?)(?P<joint> cote a "
            r"cote)(?P<rest>)",
            r"\b(?:where|what|how|why|when|do|does|did|have) (?:(?:do|does|did"
            r"|would) )?(?P<list>.+?)"
            r"(?P<joint> (?:(?:strongly|really|also) )?(?:dis)?agrees? with )(?P<rest>.+)",
            r"\b(?:where|what|how|why|when|do|does|did|have) (?:(?:do|does|did"
            r"|would) )?(?P<list>(?>[^,]+?"
            r" and )[^,]+?)(?P<joint> (?:(?:strongly|really|also) )?(?:(?:dis)?agree|diverge|clash"
            r"|see eye to eye|contradict each other))(?P<rest>)",
            r"(?:^|\b(?:sur (?:quoi|quels? \w+)|en quoi|ou|est-ce que|pourquoi"
            r"|quand) )(?P<list>(?>[^,]+?"
            r" et )[^,]+?)(?P<joint>(?: (?:ne )?(?:sont|sont-ils|sont-elles))?(?: \w+)? (?:(?:en "
            r"|d')"
            r"(?:des)?accord|divergent|se contredisent|s'accordent|s'opposent"
            r"|s'entendent))(?P<rest>)",
            rf"\b{_NOUN}(?:,? (?:and|et|or|ou|&) (?:the |les |des )?{_NOUN})? (?:[^?,;]{{0,60}}? )?"
            r"(?:between|among|entre) (?P<list>.+)",
            rf"\b{_NOUN}(?:,? (?:and|et|or|ou|&) (?:the |les |des )?{_NOUN})? (?:of |de |des |du "
            r"|in |d'|avec )(?P<list>.+)",
            rf"\b{_VERB}\s+(?P<list>.+)",
            rf"\b(?:distinguish|differentiate|tell|sets?|keeps?)(?:es|s)?{_BLANKS}(?P<list>.+?)"
            r"(?P<joint> apart from| apart| from)\b(?P<rest>.*)",
            r"\bwhat (?:distinguishes|differentiates|separates)\s+(?P<list>.+)",
            rf"\b(?:ce qui|comment|pour|faut-il|peut-on|savoir|bien)\s+{_APART}\s+(?P<parted>.+)",
            r"^(?:distingue[rz]?|differencie[rz]?)\s+(?P<parted>.+)",
            r"\b(?:how|where|why|in (?:what|which) (?:ways?|respects?)) (?:(?:do|does|did|is"
            rf"|are){_BLANKS})?"
            r"(?P<list>.+?)"
            rf"(?P<joint> {_DIFFER})(?P<rest>.*)",
            rf"\b(?:en quoi|comment|sur quels points){_BLANKS}(?P<list>.+?)(?P<joint>{_DIFFERE})"
            r"(?P<rest>.*)",
            r"\b(?:is|are|was|were|sont|est) (?P<list>.+?)(?P<joint> (?:(?:really|just|exactly"
            r"|about|basically|actually) )?(?:"
            rf"{_SAME}|unlike)\b(?: (?:as|to|with|thing as|a|au|aux|que|qu'))?)(?P<rest>.*)",
            rf"^(?P<list>.+?)(?P<joint> (?:sont|est)(?:-(?:ils|elles|il|elle))? (?:\w+ )?{_SAME}\b"
            r"(?: (?:a|au|aux|que|qu'))?)(?P<rest>.*)",
            r"\bmakes? (?P<list>.+?)(?P<joint> different (?:from|to|than))(?P<rest>.*)",
            r"\bvaut-il mieux (?:utiliser |choisir |prendre |acheter )?(?P<list>.+)",
            r"\bdo (?P<list>.+?)(?P<joint> have (?:\w+ )?in common(?: with)?)(?P<rest>.*)",
            r"\b(?:ont|qu'ont) en commun (?P<list>.+)",
            r"\b(?:est-ce que|ont|qu'ont|que) (?P<list>.+?)(?P<joint>(?: (?:a|ont))? (?:de|en) "
            r"commun(?: avec)?)(?P<rest>.*)",
            r"\bpartagent (?P<list>.+)",
            r"\b(?:advantages?|benefits?|avantages?) (?:of |de |des |du "
            r"|d')(?P<list>.+?)(?P<joint> "
            r"(?:over|sur|par rapport (?:a|au|aux)) )(?P<rest>.*)",
            rf"\b(?P<verb>is|are|was|were|does|do|did|can){_BLANKS}(?P<list>[^,]{{1,200}}?)"
            r"(?P<joint> (?:(?:any|much|really|always|a lot|generally|significantly|necessarily"
            rf"|actually|even) )*(?:an? |the )?{_BETTER}(?: \w+){{0,3}}? than "
            r"|(?: \w+)? (?:superior|inferior|preferable) to | as \w+ as )"
            r"(?P<rest>.*)",
            r"(?:^|\b(?:est-ce que|que) )(?P<list>[^,]+?)(?P<joint> (?:est|sont|etait|\w+(?:-t)?-"
            r"(?=ils?|elles?))(?:-?(?:ils?|elles?|ce))?\b (?:[^\s,]+ ){0,4}?"
            rf"{_BETTER}(?: [^\s,]+){{0,4}}? (?:que |qu'|a |au |aux ))(?P<rest>.*)",
            r"^(?:est-ce que )?(?P<list>(?:l'|le |la |les |une? )[^,]+)(?P<joint> \w+(?:e"
            r"|t) (?:[^\s,]+ )"
            rf"{{0,2}}?{_BETTER}(?: [^\s,]+){{0,3}}? (?:que |qu'))(?P<rest>.*)",
            rf"\bpreferer{_BLANKS}(?P<list>[^,]+?)(?P<joint> (?:a|au|aux|plutot que) )(?P<rest>.*)",
            rf"\b(?:prefer|choose|use|pick|buy|take|choisir|preferer|utiliser|prendre){_BLANKS}"
            r"(?P<list>[^,]+?)(?P<joint> (?:over|rather than|instead of|plutot que|or|ou) "
            r"| plutot qu')(?P<rest>.*)",
            r"^(?:between|entre) (?P<list>[^:;?]+?)\s*[:,;?]\s*(?:lequel|laquelle|which|what|que|qu"
            r"|quoi)",
            r"^(?P<list>[^:;?]+?(?: (?:ou|or|et|and) |/)[^:,;?]+?)\s*[:,;?]\s*(?:lequel|laquelle"
            r"|which"
            r"|what|que|quels?|quelles?|quoi)",
            r"\b(?:which|lequel|laquelle|what|qui|quel \w+|quelle \w+)\b[^,:]{0,60}[,:]\s*"
            r"(?P<list>.+)",
            r"\bwhich (?:is|are|works|runs) [\w ]{1,30}?, (?P<list>.+)",
            r"(?:^|[,:;?] ?)(?P<list>[^,:;?]+?\s(?:vs\.?|versus)\s.+)",
            r"^(?P<list>\S+(?: \S+)? (?:against|contre) .+)",
            r"^(?P<list>[^,:;?]+?)(?P<joint>,? (?:as )?(?:compared (?:with|to|against)|as opposed "
            r"to"
            r"|comparee?s? (?:a|au|aux)|par rapport (?:a|au|aux))\b)(?P<rest>.+)",
            r"\b(?:compares?|compared|comparing)\s+(?P<list>.+)",
            r"\b(?:unterschiede? zwischen|diferencias? entre|diferenca entre|differenz[ae] (?:tra"
            r"|fra)|verschil(?:len)? tussen|vergleich(?:e|en)?|compara[r]?|confronta|vergelijk)\s+"
            r"(?P<other>.+)",
            r"^(?P<list>[^,:;?]+ (?:ou|or) [^,:;?]+)",
        ),
    )
)


def aspects_of(asked: TokenizedQuery, *, language: str = "") -> tuple[str, ...]:
    """Give the things that a comparison compares as the asker spelt them, two or more, or none.

    ``asked`` may have stretches hidden: what stands within them is not cut. Of "hot and cold
    water" both have the water.
    """
    joints = (
        _JOINTS_EN if language == "en" else _JOINTS_FR if language == "fr"
        else tuple(dict.fromkeys((*_JOINTS_EN, *_JOINTS_FR)))
    )  # fmt: skip
    for pattern in _LISTS:
        found = pattern.search(asked.folded)
        if not found:
            continue
        groups = found.groupdict()
        named_by = next(each for each in ("list", "parted", "other", "sides") if each in groups)
        start, end = found.span(named_by)
        if "joint" in groups:
            parts = _joined(asked, found)
        else:
            # What stands on either side of "versus" is one thing: "mark and sweep".
            used = {
                "parted": (_AND, *_OF, *joints),
                "other": _JOINTS_ELSE,
                "sides": (_RATHER,),
            }.get(named_by, joints)
            behind = max(
                [start, *(each.end() for each in _SIDES.finditer(asked.folded, start, end))]
            )
            parts = _split(
                asked, start, _cut(asked, behind if used == (_RATHER,) else start, end), joints=used
            )
        parts = _without_locators(asked, parts)
        named = _shared([_spelt(asked, low, high) for low, high in parts])
        named = list(dict.fromkeys([each for each in named if 0 < len(each) <= LONGEST_ASPECT]))
        if len(named) > 1:
            return tuple(named)
    return ()


def _joined(asked: TokenizedQuery, found: re.Match[str]) -> list[tuple[int, int]]:
    """Give the parts on either side of the words that join them."""
    start, end = found.span("list")
    rest_start, rest_end = found.span("rest")
    first = _split(asked, start, end, joints=(_AND,))
    if _MOSTLY.fullmatch(asked.folded[rest_start:rest_end]):
        return first
    rest_end = _cut(asked, rest_start, rest_end)
    verb = found.groupdict().get("verb") or ""
    if verb in ("does", "do", "did", "can") and len(first) == 1:
        # "Does copper conduct heat better than steel": as many words as there are on the other side
        words = WORD.findall(_spelt(asked, rest_start, rest_end))
        own = [each for each in WORD.finditer(asked.folded, start, end)
               if each.group() not in ARTICLES]  # fmt: skip
        if 0 < len(words) < len(own):
            first = [(start, own[len(words) - 1].end())]
    return first + _split(asked, rest_start, rest_end, joints=(_AND,))[:1]


def _cut(asked: TokenizedQuery, start: int, end: int) -> int:
    mark = _CUT.search(asked.folded, start, end)
    end = mark.start() if mark else end
    lead = _LEAD.match(asked.folded[start:end].lstrip())
    begin = start + (lead.end() if lead else 0) + 1
    tail = _TAIL.search(asked.folded, begin, end)
    return tail.start() if tail else end


def _split(
    asked: TokenizedQuery, start: int, end: int, *, joints: Sequence[str]
) -> list[tuple[int, int]]:
    """Cut a list at its commas and joints; at "with", "to" … only where there is no other."""
    for joint in joints:
        found = [each.span() for each in re.finditer(joint, asked.folded[start:end])]
        if not found:
            continue
        if joint not in (_AND, _RATHER, _JOINTS_ELSE[0]):
            # "the way to Rome with the way to Paris": one joint of these is enough.
            found = [found[len(found) // 2]]
        parts, at = [], start
        for low, high in found:
            parts.append((at, start + low))
            at = start + high
        parts.append((at, end))
        return _divided(asked, parts) if joint == _AND else parts
    return [(start, end)]


def _divided(asked: TokenizedQuery, parts: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Divide the first part of "compare A with B and C", not of "the road to A and that to B"."""
    (low, high), *others = parts
    text = asked.folded[low:high]
    for joint in (_WITH, _TO):
        other = re.search(joint, text)
        if not other or any(re.search(joint, asked.folded[a - 1 : b + 1]) for a, b in others):
            continue
        if joint == _WITH or len(text[: other.start()].split()) == 1:
            return [(low, low + other.start()), (low + other.end(), high), *others]
    return parts


def _without_locators(asked: TokenizedQuery, parts: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Take the place where all of them are compared off the last part: "bees and ants in winter".

    It stays where another part has such a place too.
    """
    if len(parts) < 2 or any(_SCOPE.search(asked.folded[a:b]) for a, b in parts[:-1]):
        return parts
    low, high = parts[-1]
    scope = _SCOPE.search(asked.folded[low:high].rstrip(" ?.!"))
    return [*parts[:-1], (low, low + scope.start())] if scope else parts


def _spelt(asked: TokenizedQuery, start: int, end: int) -> str:
    text = asked.folded[start:end]
    lead = _LEAD.match(text)
    if lead and lead.end() < len(text):
        start += lead.end()
    return asked.shown(start, end).strip(" ,.;:?!\"'«»“”()")


_SUFFIX = re.compile(
    r".{2,}(?:ic|al|ive|ed|ous|ory|ary|able|ible|ful|less|ish|ern|ear|ique|iste|if|el|elle|ale"
    r"|aux|ales|eux|euse|aire|ant|ante|ent|ente|oire|ien|ienne|ine|ise|ee|-\S+)$"
)
_PAIRED = frozenset(
    "fresh dried raw cooked hot cold warm old new young big small large short long high low left "
    "right open closed public private free paid local remote strong weak hard soft light heavy "
    "early late fast slow black white red green blue dry wet thick thin deep shallow full half "
    "single double front back upper lower inner outer top bottom chaud froid cru cuit neuf vieux "
    "petit grand court long haut bas fort faible lent sec gratuit payant ouvert ferme blanc noir "
    "rouge vert doux dur clair avant arriere".split()
)
_PHRASED = re.compile(r"(?:non |par |en |sans |a |without |by )\S+$")


def _shared(parts: Sequence[str]) -> list[str]:
    """Give each part the noun that only one of them has: "hot and cold water"."""
    words = [normalize_query(each).split() for each in parts]
    if len(parts) < 2 or not all(words):
        return list(parts)
    *others, last = words
    if len(last) > 1 and all(len(each) == 1 and _pair(each[0], last[0]) for each in others):
        noun = parts[-1].split(maxsplit=1)[1]
        return [*[f"{each} {noun}" for each in parts[:-1]], parts[-1]]
    first = words[0]
    if len(first) < 2 or not all(
        (len(each) == 1 and _pair(first[-1], each[0], french=True)) or _phrased(first, each)
        for each in words[1:]
    ):
        return list(parts)
    at = first.index(words[1][0]) if words[1][0] in first else len(first) - 1
    noun = " ".join(parts[0].split()[:at])
    return [parts[0], *[f"{noun} {each}" for each in parts[1:]]]


def _phrased(first: Sequence[str], other: Sequence[str]) -> bool:
    """Whether a part only says how: "tri par fusion et par insertion", "… et non supervisé"."""
    if not _PHRASED.match(" ".join(other)):
        return False
    return other[0] in first[1:] or (other[0] == "non" and other[-1] == first[-1])


def _pair(one: str, other: str, *, french: bool = False) -> bool:
    """Whether two words are of the sort that stands beside a noun: both paired, or alike."""
    if one in _PAIRED or other in _PAIRED:
        return one in _PAIRED and other in _PAIRED
    if "-" in one and "-" in other:
        return True
    alike = one[-2:] == other[-2:] if not french else one[-3:] == other[-3:] or (
        one[-2:] == other[-2:] and one[-2:] in ("al", "el", "if", "ee"))  # fmt: skip
    return alike and bool(_SUFFIX.fullmatch(one) and _SUFFIX.fullmatch(other))
