"""The language of texts and of queries."""

from __future__ import annotations

import pytest

from quoth.text.language import detect_query_language


@pytest.mark.parametrize(
    ("query", "language"),
    [
        ("Wie viele Königinnen leben in einem Bienenstock?", "de"),
        ("Was passiert, wenn der Schwarm auszieht?", "de"),
        ("¿Cuántas reinas viven en una colmena?", "es"),
        ("¿Qué comen las abejas en invierno?", "es"),
        ("¿Qué es Kubernetes?", "es"),
        ("¿Y Mozart?", "es"),
        ("¡Explícame Docker!", "es"),
        ("What does the question «¿Qué tal?» mean?", "en"),
        ("Quante regine vivono in un alveare?", "it"),
        ("Quantas rainhas vivem numa colmeia?", "pt"),
        ("How many queens live in a hive?", "en"),
        ("Combien de reines vivent dans une ruche ?", "fr"),
        ("Was the queen seen in the hive?", "en"),
        ("hive temperature winter", "en"),
        ("Was ist Entropie?", "de"),
        ("Was ist Transfer Learning?", "de"),
        ("was ist continuous integration", "de"),
        ("¿Qué es machine learning?", "es"),
        ("Cosa si intende per overfitting?", "it"),
        ("Wat is load balancing?", "nl"),
        ("C'est quoi le fine-tuning ?", "fr"),
        ("Qui énonce la théorie de l'esprit ?", "fr"),
        ("IL-6 signaling plays a major role in disease.", "en"),
        ("die casting process", "en"),
        ("租金是多少？", "zh"),
        ("家賃はいくらですか", "ja"),
        ("panna cotta recipe", "en"),
        ("die hard?", ""),
        ("GDPR versus HIPAA?", ""),
        ("Schwarzenegger", "en"),
        ("42", ""),
        ("", ""),
    ],
)
def test_a_query_may_be_in_another_language_than_the_collection(query: str, language: str) -> None:
    assert detect_query_language(query, among=("en", "fr"), fallback="") == language
