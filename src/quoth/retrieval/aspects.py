"""Reads what a comparison compares: "the difference between A and B", "A vs B"."""

from __future__ import annotations

import re

from quoth.retrieval.words import Asked

MOST_ASPECTS = 3
"""More are named in a note and not searched for one by one."""
LONGEST_ASPECT = 60

_TAIL = re.compile(
    r",? \b(?:in terms of|with (?:regard|respect) to|when it comes to|according to|as described"
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
    r"|avec|celle|celui|ceux|ce|que|talks?|books?|exposes?|livres?|presentations?|what|is|are"
    r"|which|better|about|how|when|why|explain|use|choose|should|i|we|quel|quelle"
    r"|est|sont|utiliser|choisir|faut-il|difference|comparison|comparaison|so|please|me)\b ?"
    r"|l'|d'|qu')+"
)
_CUT = re.compile(r"[?!;:]|(?<!\bvs)\.(?= |$)|[()]")
_AND = (
    r"(?:\s*,\s*(?:and |et |or |ou |with |to )?|\s+(?:and|et|or|ou|vs\.?|versus)\s+|\s*/\s*"
    r"|\s*&\s*)"
)
_OTHER = r"(?:\s+(?:with|to|against|from|avec|a|au|aux|over|sur|than)\s+)"
_LISTS = (
    re.compile(r"\bdifferences? (?:(?!between|entre)[^?,;])+? (?:between|entre) (?P<list>.+)"),
    re.compile(
        r"\b(?:compar(?:e|es|er|ez|ons|ing|isons? (?:of|between|entre|de|des|du)|aisons? "
        r"(?:entre|de|des|du))(?: and contrast)?"
        r"|contrast|(?:differences?|distinctions?|similarit(?:y|ies)|similitudes?"
        r"|ressemblances?|points? communs?|choice"
        r"|choosing|choix|trade-?offs?|relationship|gap|opposition) (?:(?:y a-t-il|existe-t-il"
        r"|is there|are there) )?(?:between|among|entre|of|de|des|du|in))\s+(?P<list>.+)"
    ),
    re.compile(r"\b(?:ce qui|what) (?:distinguishes?|differentiates?|separates?|sets?|distingue"
        r"|differencie|oppose|separe|rapproche)\s+(?P<list>.+)"),
    re.compile(r"\b(?:distinguish|differentiate|tell)(?:es|s)?\s+(?P<list>.+?)(?: apart|$)"),
    re.compile(r"\b(?:how|where|why|in what way|in which way) (?:do|does|did|is"
        r"|are)\s+(?P<list>.+?)(?P<joint> (?:compare|differ|relate|different)\b(?: (?:to|with|from"
        r"|in))?)(?P<rest>.*)"),
    re.compile(r"\b(?:en quoi|comment|sur quels points)\s+(?P<list>.+?)(?P<joint> (?:se "
        r"|s')?(?:differe(?:nt)?(?:-t)?(?:-(?:ils?|elles?))?|compare(?:nt)?(?:-t-(?:il|elle)s?"
        r"|-(?:il|elle)s)?|distingue(?:nt)?(?:-t-(?:il|elle)s?|-(?:il|elle)s)?|est-(?:il|elle) "
        r"differente?|sont-(?:ils|elles) differente?s?)\b(?: (?:de|du|des|d'|avec|a"
        r"|au))?)(?P<rest>.*)"),
    re.compile(r"\bdo (?P<list>.+?) have in common"),
    re.compile(r"\b(?:ont|qu'ont) (?P<list>.+?) (?:de|en) commun"),
    re.compile(r"\b(?:advantages?|benefits?|avantages?) (?:of|de|des|du)\s+(?P<list>.+?)(?P<joint> "
        r"(?:over|sur|par rapport (?:a|au|aux)) )(?P<rest>.*)"),
    re.compile(r"\b(?:is|are|was|were|does|do|did)\s+(?P<list>[^,]+?)(?P<joint> (?:(?:any|much"
        r"|really"
        r"|always|a lot|generally|significantly|necessarily|actually|even) )*(?:better|worse"
        r"|faster|slower|cheaper|safer|easier|harder|simpler|larger|smaller|bigger|stronger|weaker"
        r"|higher|lower|older|more \w+|less \w+)(?: \w+)? than )(?P<rest>.*)"),
    re.compile(r"(?:^|\b(?:est-ce que|que) )(?P<list>[^,]+?)(?P<joint> (?:est|sont"
        r"|etait)(?:-(?:il|elle"
        r"|ils|elles|ce))? (?:(?:beaucoup|vraiment|toujours|nettement|bien|forcement) )*(?:mieux"
        r"|meilleure?s?|pires?|(?:plus|moins) \w+) (?:que |qu'))(?P<rest>.*)"),
    re.compile(r"\b(?:prefer|choose|use|pick|choisir|preferer"
        r"|utiliser)\s+(?P<list>[^,]+?)(?P<joint> "
        r"(?:over|rather than|instead of|plutot que|or|ou) )(?P<rest>.*)"),
    re.compile(r"\b(?:which|lequel|laquelle|what|qui|quel \w+|quelle "
        r"\w+)\b[^,:]{0,60}[,:]\s*(?P<list>.+)"),
    re.compile(r"^(?P<list>[^:,;?]+ (?:ou|or) [^:,;?]+?)\s*[:,;?]\s*(?:lequel|laquelle|which|what"
        r"|que"
        r"|quel)"),
    re.compile(r"\bwhich (?:is|are|works|runs) [\w ]{1,30}?, (?P<list>.+)"),
    re.compile(r"(?P<list>[^,:;?]+?\s(?:vs\.?|versus)\s.+)"),
    re.compile(r"\b(?:compares?|compared|comparing)\s+(?P<list>.+)"),
)  # fmt: skip


def aspects_of(asked: Asked) -> tuple[str, ...]:
    """Give the things that a comparison compares as the asker spelt them, two or more, or none.

    ``asked`` may have stretches hidden: what stands within them is not cut.
    """
    for pattern in _LISTS:
        found = pattern.search(asked.folded)
        if not found:
            continue
        start, end = found.span("list")
        parts: list[tuple[int, int]] = []
        if "joint" in found.groupdict():
            parts = _split(asked, start, end)
            rest_start, rest_end = found.span("rest")
            if rest_end > rest_start:
                parts += _split(asked, rest_start, _cut(asked, rest_start, rest_end))[:1]
        else:
            parts = _split(asked, start, _cut(asked, start, end))
        named = [spelt for low, high in parts if (spelt := _spelt(asked, low, high))]
        named = list(dict.fromkeys(named))
        if len(named) > 1:
            return tuple(named)
    return ()


def _cut(asked: Asked, start: int, end: int) -> int:
    mark = _CUT.search(asked.folded, start, end)
    end = mark.start() if mark else end
    lead = _LEAD.match(asked.folded[start:end].lstrip())
    begin = start + (lead.end() if lead else 0) + 1
    tail = _TAIL.search(asked.folded, begin, end)
    return tail.start() if tail else end


def _split(asked: Asked, start: int, end: int) -> list[tuple[int, int]]:
    """Cut a list at its commas and joints; at "with", "to" … only where there is no other."""
    for joint in (_AND, _OTHER, r"\s+(?:de|du|des|d')\s*"):
        parts = []
        at = start
        for found in re.compile(joint).finditer(asked.folded, start, end):
            parts.append((at, found.start()))
            at = found.end()
        if parts:
            parts.append((at, end))
            # "compare A with B and C": the first joint of the other kind divides as well.
            divided = []
            for low, high in parts:
                other = re.search(_OTHER, asked.folded[low:high]) if joint == _AND else None
                if other and len(parts) > 0 and low == start:
                    divided += [(low, low + other.start()), (low + other.end(), high)]
                else:
                    divided.append((low, high))
            return divided
    return [(start, end)]


def _spelt(asked: Asked, start: int, end: int) -> str:
    text = asked.folded[start:end]
    lead = _LEAD.match(text)
    if lead and lead.end() < len(text):
        start += lead.end()
    shown = asked.shown(start, end).strip(" ,.;:?!\"'«»“”()")
    return shown if 0 < len(shown) <= LONGEST_ASPECT else ""
