"""What the asker is told about how a question was read, in English and French."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

_NNBSP = "\u202f"
NOTES: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "no_page": {
            "en": "There is no page {asked} here; {there}.",
            "fr": f"Il n'y a pas de page {{asked}} ici{_NNBSP}; {{there}}.",
        },
        "some_pages": {
            "en": "There is no page {asked} here; the other pages were searched.",
            "fr": f"Il n'y a pas de page {{asked}} ici{_NNBSP}; les autres pages ont servi.",
        },
        "pages_are": {
            "en": "the pages are {first} to {last}",
            "fr": "les pages vont de {first} à {last}",
        },
        "pages_to": {
            "en": "the highest page number is {last}",
            "fr": "le plus haut numéro de page est {last}",
        },
        "no_pages": {
            "en": "these documents have no pages",
            "fr": "ces documents n'ont pas de pages",
        },
        "no_chapter": {
            "en": "There is no chapter {asked} here; the chapters are {there}.",
            "fr": f"Il n'y a pas de chapitre {{asked}} ici{_NNBSP}; les chapitres sont {{there}}.",
        },
        "no_chapters": {
            "en": "There is no chapter {asked} here: these documents have no numbered chapters.",
            "fr": f"Il n'y a pas de chapitre {{asked}} ici{_NNBSP}: ces documents n'ont pas de "
            "chapitres numérotés.",
        },
        "chapter_in_several": {
            "en": "Several documents have a chapter {asked}: {there}. Name one "
            "to narrow the search.",
            "fr": f"Plusieurs documents ont un chapitre {{asked}}{_NNBSP}: {{there}}. Nommez-en "
            "un pour restreindre la recherche.",
        },
        "no_segment_qa": {
            "en": "No part with questions from the audience is known here.",
            "fr": "Aucune partie de questions du public n'est connue ici.",
        },
        "no_segment_demo": {
            "en": "No demo is known here.",
            "fr": "Aucune démonstration n'est connue ici.",
        },
        "beyond_end": {
            "en": "No recording here lasts until {asked}; the longest ends at {last}.",
            "fr": f"Aucun enregistrement ne dure jusqu'à {{asked}} ici{_NNBSP}; le plus long finit "
                "à "
            "{last}.",
        },
        "which_recording": {
            "en": "Several recordings have a last part; name the one that is meant.",
            "fr": f"Plusieurs enregistrements ont une fin{_NNBSP}; nommez celui dont il s'agit.",
        },
        "no_date": {
            "en": "No document here is of that date; they are from {first} to {last}.",
            "fr": f"Aucun document n'est de cette date ici{_NNBSP}; ils vont de {{first}} à "
                f"{{last}}.",
        },
        "no_language": {
            "en": "No document here is in that language.",
            "fr": "Aucun document n'est dans cette langue ici.",
        },
        "several_speakers": {
            "en": "Several speakers are called that: {there}. All of them were searched.",
            "fr": f"Plusieurs personnes s'appellent ainsi{_NNBSP}: {{there}}. Toutes ont été "
            "cherchées.",
        },
        "aspects_cut": {
            "en": "{count} things were named; the first three are compared: {there}.",
            "fr": f"{{count}} éléments sont nommés{_NNBSP}; les trois premiers sont comparés"
            f"{_NNBSP}: {{there}}.",
        },
        "carried": {
            "en": "As in the question before, only {there} was searched.",
            "fr": f"Comme pour la question précédente, la recherche s'est limitée à{_NNBSP}: "
            "{there}.",
        },
    }
)  # fmt: skip
"""Sentences by key and language; another language is answered in English."""

MOST_NAMED = 4


def message(key: str, language: str, values: Mapping[str, object] = MappingProxyType({})) -> str:
    """Give a sentence in the asker's language."""
    wordings = NOTES[key]
    return wordings.get(language, wordings["en"]).format_map(values)


def listed(names: Sequence[str], language: str, *, of: int = 0) -> str:
    """Join names as a sentence does; only the first few are named, ``of`` so many if more."""
    joint = " et " if language == "fr" else " and "
    more = max(len(names), of) - MOST_NAMED
    if more > 0:
        rest = f"{more} autres" if language == "fr" else f"{more} more"
        return ", ".join(names[:MOST_NAMED]) + joint + rest
    return joint.join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
