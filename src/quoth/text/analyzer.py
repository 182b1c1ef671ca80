"""Text analysis for keyword search: terms and normalization.

The index stores `terms` of every chunk as a column separated by white space; a question goes
through `analyze_query`. Both sides must agree, so `ANALYSER` is part of an index's fingerprint and
changes with every change after which an older index would miss what it found. The choices are
measured in docs/decisions/006.
"""

from __future__ import annotations

import re
import threading
import unicodedata
from collections.abc import Mapping, Sequence
from functools import lru_cache
from string import ascii_letters
from types import MappingProxyType

import Stemmer

from quoth.text.language import detect_query_language
from quoth.text.stop_words import STOP_WORDS, query_stop_words

ANALYSER = "quoth-terms-2"
"""Name and version of the rules; an index built by another one is refused."""

MAX_TERM_BYTES = 39
"""Terms are cut here on both sides; keyword indexes drop tokens of 40 bytes and more."""

MAX_KNOWN_TERMS = 200_000
"""Words of a language whose terms are remembered."""

STEMMERS: Mapping[str, str] = MappingProxyType(
    {
        "ar": "arabic", "ca": "catalan", "cs": "czech", "da": "danish", "de": "german",
        "el": "greek", "en": "english", "es": "spanish", "et": "estonian", "eu": "basque",
        "fi": "finnish", "fr": "french", "ga": "irish", "hi": "hindi", "hu": "hungarian",
        "hy": "armenian", "id": "indonesian", "it": "italian", "lt": "lithuanian",
        "ne": "nepali", "nl": "dutch", "no": "norwegian", "nb": "norwegian", "pl": "polish",
        "pt": "portuguese", "ro": "romanian", "ru": "russian", "sr": "serbian", "sv": "swedish",
        "ta": "tamil", "tr": "turkish",
    }
)  # fmt: skip
"""Snowball algorithm per language; words of the others stay as they are."""

# Marks inside words that are not \w; blocks that mix letters and marks are listed completely.
_MARKS = (
    "\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06dc"
    "\u0900-\u0963\u0966-\u0dff\u0e31-\u0e3a\u0e47-\u0e4e\u0eb1-\u0ebc\u0ec8-\u0ecd"
    "\u0f71-\u0f84\u102b-\u103e\u17b4-\u17d3"
)
_LETTER = rf"[\w{_MARKS}]"
_TOKEN = re.compile(
    rf"{_LETTER}+(?:[.\-@&/]{_LETTER}+|,\d{{3}}(?!\d))*(?:\+\+|\#(?!\w))?|(?<![\w.])\.[a-z]\w+"
)
# French elisions before a word and English endings after it.
_ELIDED = re.compile(
    r"\b(?:[cdjlmnst]|(?:jus|lors|puis|quoi|pres)?qu)'(?=\w)|(?<=\w)'(?:[smtd]|re|ve|ll)\b"
)
_FOLDED_FIRST = frozenset({"en", "fr"})
"""Languages whose words lose their accents before stemming, since many type them without."""
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uac00-\ud7a3\uf900-\ufaff\U00020000-\U0003134f"
)
_UNSPACED_RUN = re.compile(f"[{_UNSPACED}]+")
_SEPARATOR = re.compile(r"[.'\-@&/_,]+")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)+")
_PLAIN = re.compile(r"[a-z]+")
_AMOUNT = re.compile(
    r"(?<![\w.,])(?:"
    r"[0-9]{1,3}(?: [0-9]{3})+(?:[.,][0-9]{1,2})?"  # 12 000, 1 250,50
    r"|[0-9]{1,3}(?:\.[0-9]{3})+,[0-9]{1,2}"  # 1.250,50
    r"|[0-9]+,[0-9]{1,2}"  # 7,5
    r"|[0-9]+(?:,[0-9]{3})*\.0{2,}"  # 1,250.00
    r")(?![.,]?\w)"
)
"""A number with spaces in it, a comma before its decimals, or zeros alone as decimals."""
_DECIMALS = re.compile(r"[.,]([0-9]{1,2}|0{2,})$")
_APOSTROPHES = "\u2019\u2018\u02bc´"
_INVISIBLE = "\u00ad\u200b\u200c\u200d\u2060\ufeff\u0640"
_FOLDS = str.maketrans({"œ": "oe", "æ": "ae", "ø": "o", "ł": "l", "đ": "d", "ı": "i"})
_STRAIGHT = str.maketrans(dict.fromkeys(_APOSTROPHES, "'") | dict.fromkeys("‐‑–", "-"))
_stemming = threading.Lock()  # a Stemmer has internal state


def analyze(text: str, *, language: str) -> list[str]:
    """Return the terms of a text in the order of its words, without the language's stop words.

    Text is normalized (NFKC, casefold), words are stemmed by Snowball and stripped of accents;
    compounds yield their parts and the joined form; scripts without spaces yield character bigrams.
    A number that is written with spaces, a decimal comma or ".00" yields its plain form besides: "1
    250,50" also 1250.50. No term contains white space.
    """
    known = _known_terms(language, language if language in STOP_WORDS else "")
    return " ".join(map(known.__getitem__, _normalized(text).split())).split()


def analyze_query(text: str, *, languages: Sequence[str]) -> list[str]:
    """Return the terms to search for in a collection that holds these languages.

    Stop words of the query's own language are left out, unless there are no others; each other word
    yields its term in every language, since chunks are analyzed in their own. A repeated word
    yields its terms repeatedly, as in Lucene.
    """
    own = detect_query_language(text, among=(*languages, *STOP_WORDS), fallback="")
    tokens = _tokens(_normalized(text))
    for without in (own, ""):
        found = [
            dict.fromkeys(
                term
                for language in languages or [own]
                for term in _known_terms(language, without)[token].split()
            )
            for token in tokens
        ]
        if any(found):
            break
    return [term for terms in found for term in terms]


def normalize_name(text: str) -> str:
    """Return a name as names are compared: small letters, no accents, single spaces.

    Apostrophes and hyphens of every shape become the plain ones.
    """
    text = " ".join(text.casefold().split())
    if text.isascii():
        return text
    return _without_accents(unicodedata.normalize("NFKC", text).translate(_STRAIGHT)).casefold()


def _normalized(text: str) -> str:
    if not text.isascii():
        # A pass of `replace` costs a tenth of a regular expression or a translation table.
        for character in _APOSTROPHES:
            text = text.replace(character, "'")
        for character in _INVISIBLE:
            text = text.replace(character, "")
        text = unicodedata.normalize("NFKC", text)
    return _AMOUNT.sub(_with_plain_form, text.casefold())


def plain_numbers(text: str) -> str:
    """Return a text with its numbers in their plain form: 1250.50 for "1 250,50"."""
    return _AMOUNT.sub(_plain_form, text)


def _plain_form(amount: re.Match[str]) -> str:
    """Return a number with a point before its decimals, without separators of thousands."""
    decimals = _DECIMALS.search(amount[0])
    whole = amount[0][: decimals.start()] if decimals else amount[0]
    digits = re.sub(r"[ .,]", "", whole)
    return f"{digits}.{decimals[1]}" if decimals and decimals[1].strip("0") else digits


def _with_plain_form(amount: re.Match[str]) -> str:
    return f"{amount[0]} {_plain_form(amount)}"


def _tokens(text: str) -> list[str]:
    """Return the tokens of a normalized text.

    None holds white space, so that the words of a text can be cut alone.
    """
    return _TOKEN.findall(_ELIDED.sub(" ", text) if "'" in text else text)


class _KnownTerms(dict[str, str]):
    """The terms of the words met so far, separated by spaces; stop words of a language have none.

    A word is what stands between white space, or a token. A look-up costs a tenth of cutting it.
    """

    def __init__(self, language: str, without: str) -> None:
        algorithm = STEMMERS.get(language)
        self._stemmer = Stemmer.Stemmer(algorithm, 0) if algorithm else None
        self._stop = query_stop_words(without)
        self._folded_first = language in _FOLDED_FIRST
        self._language = language

    def __missing__(self, word: str) -> str:
        tokens = _tokens(word)
        if tokens == [word]:
            terms = " ".join(map(_cut, self._terms(word)))
        else:
            terms = " ".join(filter(None, map(self.__getitem__, tokens)))
        if len(self) >= MAX_KNOWN_TERMS:
            self.clear()
        if len(word) <= MAX_TERM_BYTES:  # scripts without spaces have no short ones
            self[word] = terms
        return terms

    def _terms(self, token: str) -> list[str]:
        if token in self._stop:
            return []
        if _PLAIN.fullmatch(token):
            return [self._stemmed(token)]
        parts = [part for part in _SEPARATOR.split(token) if part]
        telling = [part for part in parts if part not in self._stop]
        found: list[str] = []
        if _NUMBER.fullmatch(token):
            found.append(token.replace(",", ""))
        elif token.endswith(("++", "#")):
            found.append(token)
        else:
            for part in telling:
                unspaced = _UNSPACED_RUN.search(part)
                found += self._unspaced_terms(part) if unspaced else [self._stemmed(part)]
            if token.startswith("."):
                found.append(token)
            elif (len(telling) > 1 and telling == parts) or self._joins(parts, telling):
                found.append(self._stemmed("".join(parts)))
        return found

    def _joins(self, parts: list[str], telling: list[str]) -> bool:
        """Return whether English also writes a compound with a particle as one word: "log-in"."""
        return self._language == "en" and len(parts) == 2 and len(telling) == 1

    def _unspaced_terms(self, part: str) -> list[str]:
        """Return bigrams of what is in a script without spaces, and the words beside it."""
        found: list[str] = []
        at = 0
        for run in _UNSPACED_RUN.finditer(part):
            found += [self._stemmed(part[at : run.start()])] if run.start() > at else []
            characters = run.group()
            found += [characters[i : i + 2] for i in range(max(1, len(characters) - 1))]
            at = run.end()
        return found + ([self._stemmed(part[at:])] if at < len(part) else [])

    def _stemmed(self, word: str) -> str:
        if self._folded_first and not word.isascii():
            word = _without_accents(word)
        if self._stemmer and (word.isalpha() or not any(map(str.isdigit, word))):
            with _stemming:
                word = self._stemmer.stemWord(word)
        return word if word.isascii() else _without_accents(word)


@lru_cache(maxsize=8)
def _known_terms(language: str, without: str) -> _KnownTerms:
    return _KnownTerms(language, without)


def _without_accents(word: str) -> str:
    if word.isascii():
        return word
    decomposed = unicodedata.normalize("NFD", word.translate(_FOLDS))
    kept = "".join(c for c in decomposed if not "\u0300" <= c <= "\u036f")
    return unicodedata.normalize("NFC", kept)


def _cut(term: str) -> str:
    if len(term) * 4 <= MAX_TERM_BYTES:
        return term
    return term.encode()[:MAX_TERM_BYTES].decode(errors="ignore")


_PROSE = f"{ascii_letters} ".encode()


def estimate_tokens(texts: Sequence[str]) -> list[int]:
    """Over-estimate the tokens of each text.

    One token per three unaccented letters or blanks, and one per other character:
    tokenizers need 3.5 to 4.5 characters of English or French prose for a token, and one or
    two of digits, signs, Chinese or Japanese.
    """
    counts = []
    for text in texts:
        # Letters and blanks are single bytes, distinct from all bytes of other characters.
        whole = text.encode("utf-8", "surrogatepass")
        prose = len(whole) - len(whole.translate(None, _PROSE))
        counts.append(len(text) - prose + -(-prose // 3))
    return counts
