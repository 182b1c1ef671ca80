"""What an answer had to do without, in sentences for the asker, in English and French.

`Answer.degraded` holds ``stage:reason:fallback``; programs read that, people read this.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from quoth.answering.finalize import add_warning
from quoth.core.types import Answer

_WHY: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "en": {
            "deadline": "The time allowed for the answer ran out",
            "max_ms": "The time allowed for the answer is too short for every step",
            "max_usd": "The language model would cost more than is allowed",
            "budget_exhausted": "The language model has used up its tokens for today",
            "empty": "The language model said nothing that a source supports",
            "refused": "The language model refused to answer",
            "generation_failed": "The language model failed",
            "llm_denied": "The provider of the language model refused the key",
            "llm_empty": "The language model wrote nothing",
            "llm_garbled": "What the language model sent cannot be read",
            "llm_refused": "The language model refused to answer",
            "llm_limited": "The provider of the language model takes no more requests for now",
            "llm_timeout": "The language model took too long",
            "llm_too_long": "The text was longer than the language model may read or write",
            "llm_unavailable": "The language model cannot be reached",
            "llm_unknown_model": "The provider has no language model of that name",
            "embedding_failed": "The embedder failed",
            "retrieval_failed": "A part of the search failed",
            "rerank_failed": "The reranker failed",
            "judge_failed": "The judge of support failed",
        },
        "fr": {
            "deadline": "Le temps accordé à la réponse est écoulé",
            "max_ms": "Le temps accordé à la réponse ne suffit pas à toutes les étapes",
            "max_usd": "Le modèle de langage coûterait plus que la somme accordée",
            "budget_exhausted": "Le modèle de langage a épuisé ses jetons du jour",
            "empty": "Le modèle de langage n'a rien dit qu'une source appuie",
            "refused": "Le modèle de langage a refusé de répondre",
            "generation_failed": "Le modèle de langage a échoué",
            "llm_denied": "Le fournisseur du modèle de langage a refusé la clé",
            "llm_empty": "Le modèle de langage n'a rien écrit",
            "llm_garbled": "Ce que le modèle de langage a envoyé est illisible",
            "llm_refused": "Le modèle de langage a refusé de répondre",
            "llm_limited": "Le fournisseur du modèle de langage n'accepte plus de demandes pour "
            "l'instant",
            "llm_timeout": "Le modèle de langage a mis trop de temps",
            "llm_too_long": "Le texte dépasse ce que le modèle de langage peut lire ou écrire",
            "llm_unavailable": "Le modèle de langage est injoignable",
            "llm_unknown_model": "Le fournisseur n'a pas de modèle de langage de ce nom",
            "embedding_failed": "Le calcul des vecteurs a échoué",
            "retrieval_failed": "Une partie de la recherche a échoué",
            "rerank_failed": "Le reclassement a échoué",
            "judge_failed": "Le juge de l'appui a échoué",
        },
    }
)
_INSTEAD: Mapping[str, Mapping[tuple[str, str], str]] = MappingProxyType(
    {
        "en": {
            ("generate", "extractive"): "the sources are quoted word for word",
            ("generate", "truncated"): "the answer breaks off",
            ("classify", "rules"): "the question was read by rules",
            ("expand", "the question alone"): "only the question's own words were searched",
            ("embed", "keyword"): "only words were searched, not meanings",
            ("semantic", "keyword"): "only words were searched, not meanings",
            ("keyword", "semantic"): "only meanings were searched, not words",
            ("vectors", "fused order"): "passages were not compared with each other",
            ("rerank", "fused order"): "the passages stand in the order of the search",
            ("read", "words"): "sentences were chosen by their words",
            ("quote", "words alone"): "sentences were chosen by their words alone",
            ("verify", "words alone"): "support was checked by words alone",
            ("record", "no history"): "this answer is not kept in the history",
        },
        "fr": {
            ("generate", "extractive"): "les sources sont citées mot à mot",
            ("generate", "truncated"): "la réponse s'interrompt",
            ("classify", "rules"): "la question a été lue selon des règles",
            ("expand", "the question alone"): "seuls les mots de la question ont été cherchés",
            ("embed", "keyword"): "la recherche porte sur les mots, pas sur le sens",
            ("semantic", "keyword"): "la recherche porte sur les mots, pas sur le sens",
            ("keyword", "semantic"): "la recherche porte sur le sens, pas sur les mots",
            ("vectors", "fused order"): "les passages n'ont pas été comparés entre eux",
            ("rerank", "fused order"): "les passages restent dans l'ordre de la recherche",
            ("read", "words"): "les phrases ont été choisies d'après leurs mots",
            ("quote", "words alone"): "les phrases ont été choisies d'après leurs seuls mots",
            ("verify", "words alone"): "l'appui a été vérifié d'après les seuls mots",
            ("record", "no history"): "cette réponse n'est pas gardée dans l'historique",
        },
    }
)
_FRAMES: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "en": {
            "whole": "{why}: {instead}.",
            "other": "{reason} did not answer: {fallback} wrote the answer.",
            "left_out": "{why}: the {stage} is left out.",
            "unknown": "The step “{stage}” failed ({reason}): {fallback}.",
        },
        "fr": {
            "whole": "{why}\u202f: {instead}.",
            "other": "{reason} n'a pas répondu\u202f: {fallback} a écrit la réponse.",
            "left_out": "{why}\u202f: «\u202f{stage}\u202f» est laissé de côté.",
            "unknown": "L'étape «\u202f{stage}\u202f» a échoué ({reason})\u202f: {fallback}.",
        },
    }
)


def degraded_stages(entry: str, *, language: str) -> str:
    """Word an entry ``stage:reason:fallback`` of `Answer.degraded` as a sentence.

    English where a language has no wording; an entry that nobody worded is told as it is.
    """
    own = language if language in _FRAMES else "en"
    stage, reason, fallback = [*entry.split(":", 2), "", ""][:3]
    why = _WHY[own].get(reason)
    instead = _INSTEAD[own].get((stage, fallback))
    if stage == "generate" and why is None:
        kind = "other"
    elif why is not None and stage.startswith("collection "):
        kind = "left_out"
    else:
        kind = "whole" if why is not None and instead is not None else "unknown"
    return _FRAMES[own][kind].format(
        why=why, instead=instead, stage=stage, reason=reason, fallback=fallback
    )


def notes(answer: Answer) -> Iterator[str]:
    """Give what a person is to know about an answer, each thing once."""
    language = answer.query.language
    fates = [add_warning(each, language=language) for each in ("failed", "cut", "refused", "empty")]
    fell_back = any(each.startswith("generate:") for each in answer.degraded)
    yield from (each for each in answer.warnings if not (fell_back and each in fates))
    yield from (degraded_stages(each, language=language) for each in answer.degraded)
