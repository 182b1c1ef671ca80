"""Numbers as people write them in questions: digits, words, ordinals, Roman numerals."""

from __future__ import annotations

from quoth.retrieval.labels import from_roman

_SMALL = {
    word: number
    for number, words in enumerate(
        (
            "", "one un une", "two deux", "three trois", "four quatre", "five cinq", "six",
            "seven sept", "eight huit", "nine neuf", "ten dix", "eleven onze", "twelve douze",
            "thirteen treize", "fourteen quatorze", "fifteen quinze", "sixteen seize",
            "seventeen dix-sept", "eighteen dix-huit", "nineteen dix-neuf",
        )
    )
    for word in reversed(words.split())
}  # fmt: skip
_SMALL = dict(sorted(_SMALL.items(), key=lambda each: -len(each[0])))
_TENS = {
    "quatre-vingts": 80, "quatre-vingt": 80, "twenty": 20, "vingt": 20, "thirty": 30,
    "trente": 30, "forty": 40, "quarante": 40, "fifty": 50, "cinquante": 50, "sixty": 60,
    "soixante": 60, "seventy": 70, "eighty": 80, "ninety": 90,
}  # fmt: skip
_ORDINALS = {
    word: number
    for number, words in enumerate(
        (
            "", "first premier premiere", "second deuxieme seconde", "third troisieme",
            "fourth quatrieme", "fifth cinquieme", "sixth sixieme", "seventh septieme",
            "eighth huitieme", "ninth neuvieme", "tenth dixieme", "eleventh onzieme",
            "twelfth douzieme", "thirteenth treizieme", "fourteenth quatorzieme",
            "fifteenth quinzieme", "sixteenth seizieme", "seventeenth dix-septieme",
            "eighteenth dix-huitieme", "nineteenth dix-neuvieme", "twentieth vingtieme",
        )
    )
    for word in words.split()
}  # fmt: skip

CARDINAL = (
    rf"(?:\d{{1,5}}|(?:{'|'.join(_TENS)})(?:[- ](?:et[- ])?(?:{'|'.join(_SMALL)})\b)?"
    rf"|(?:{'|'.join(_SMALL)}))"
)
"""A number in digits or as a word, folded."""
ORDINAL = (
    rf"(?:\d{{1,3}}(?:st|nd|rd|th|er|ere|re|e|eme|ieme)"
    rf"|{'|'.join(sorted(_ORDINALS, key=len, reverse=True))})"
)
"""An ordinal in digits or as a word, folded."""


def number_of(text: str) -> int:
    """Read what `CARDINAL`, `ORDINAL` or a Roman numeral matched; 0 if it is none of them."""
    digits = text.rstrip("abcdefghijklmnopqrstuvwxyz")
    if digits.isdecimal():
        return int(digits)
    if found := _SMALL.get(text) or _ORDINALS.get(text) or from_roman(text):
        return found
    for tens, number in _TENS.items():
        if text.startswith(tens):
            rest = text[len(tens) :].strip("- ").removeprefix("et").strip("- ")
            return number + _SMALL.get(rest, 0)
    return 0
