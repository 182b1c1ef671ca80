"""Sentence openings that are anaphoric or filler, and make poor quotations.

Patterns match normalized openings: lower case, no accents, straight apostrophes. Languages that are
not listed have no patterns.
"""

from __future__ import annotations

import re

ANAPHORIC = re.compile(
    r"(?:it|its|it's|they|they're|their|them|he|she|his|her|this|that|that's|these|those|such"
    r"|the (?:former|latter|same)|both|doing so"
    r"|il|ils|elle|elles|ce|c'est|cela|ceci|cet|cette|ces|ca|celui-ci|celle-ci|ceux-ci|celles-ci"
    r"|celui-la|celle-la|son|sa|ses|leur|leurs|y|en)(?![\w-])|c'(?:etait|est)\b"
)
"""Openings that speak of something named before: alone, the sentence has no subject."""

NOT_ANAPHORIC = re.compile(
    r"(?:il (?:est (?:possible|important|necessaire|interdit|recommande|obligatoire|conseille)"
    r"|y a|faut|existe|s'agit)|it (?:is|was) (?:possible|important|necessary|known|recommended)"
    r"|en (?!est\b|effet\b|revanche\b|outre\b)\w+|y (?!a\b)\w+ing\b)"
)
"""Openings that look like the former and stand by themselves ("Il existe …")."""

CONNECTIVES = re.compile(
    r"(?:and|but|so|or|by the way|now|well"
    r"|however|therefore|thus|hence|then|also|moreover|furthermore|instead"
    r"|otherwise|nevertheless|for example|for instance|in contrast|on the other hand|in other words"
    r"|as a result|consequently|similarly|additionally|in addition|finally|second|third"
    r"|et|mais|donc|ou|or|bref|au fait|car|ainsi|alors|puis|ensuite|enfin|cependant|toutefois"
    r"|neanmoins"
    r"|en effet|en revanche|en outre|par exemple|par contre|de plus|au contraire|autrement dit"
    r"|par consequent|d'autre part|deuxiemement|troisiemement|finalement)\b,?"
)
"""Openings that go on from the sentence before; it is useful, but the subject is there."""

CONTRASTS = re.compile(
    r"(?:but|however|nevertheless|nonetheless|yet|still|that said|on the other hand|in contrast"
    r"|mais|cependant|toutefois|neanmoins|pourtant|en revanche|par contre|or|au contraire)"
    r"(?![\w'-])"
)
"""Openings that limit what the sentence before says: alone, that would mislead."""

FILLERS = re.compile(
    r"(?:hi\b|hello\b|hey\b|welcome\b|good (?:morning|afternoon|evening)|thank(?:s| you)\b"
    r"|see you\b|bye\b|in this (?:video|talk|chapter|section|course|lesson|tutorial|part)\b"
    r"|in the (?:previous|next|last|following|coming) \w+\b|as (?:mentioned|discussed|noted|seen)\b"
    r"|dans (?:la|le|les) (?:\w+ (?:suivant|precedent)|prochaine?|precedent|suivant)"
    r"|comme mentionne\b|let'?s\b|let us\b"
    r"|now,? (?:let|we)\b|we(?:'ll| will| are going to)\b|i(?:'m|'ll| am| will)\b"
    r"|my name\b|if you(?:'re| are) (?:looking|interested)|check out\b|click\b|join\b|okay\b|ok\b"
    r"|as you can see\b|as we (?:saw|have seen)\b|you can (?:watch|find|see)\b|see (?:also|the)\b"
    r"|to (?:learn|find out|know) more\b|for more (?:information|details)\b|note that\b"
    r"|bonjour\b|bonsoir\b|salut\b|bienvenue\b|merci\b|au revoir\b|a bientot\b"
    r"|dans (?:cette|ce) (?:video|presentation|chapitre|section|cours|tutoriel|partie|lecon)\b"
    r"|prenons\b|voyons\b|regardons\b|commencons\b|passons\b|nous (?:allons|verrons)\b"
    r"|je (?:suis|vais|m'appelle)\b|comme (?:vous|nous) (?:pouvez|le voyez|l'avons)\b"
    r"|pour en savoir plus\b|pour plus d'informations?\b|cliquez\b"
    r"|si vous (?:cherchez|etes interesse)"
    r"|(?:this|the|our) (?:\w+ )?list (?:is|was)(?:n't)?\b"
    r"|(?:cette|la|notre) liste (?:n')?est\b)"
)
"""Openings by which a speaker or an author leads the reader on instead of saying something."""

ANNOUNCEMENT = re.compile(
    r"(?:(?:in|dans) (?:this|the (?:next|following)|cette|ce) \w+,? "
    r"|now that [^,]+, |maintenant que [^,]+, "
    r"|(?:so|now|first|then|maintenant|alors|puis),? )?"
    r"(?:(?:let'?s|let us|(?:we|i)(?:'ll| will|'re going to|'m going to| are going to"
    r"| am going to))(?: (?:also|now|first|just|briefly))? "
    r"(?:look|take a (?:closer |quick )?look|see(?! that)|study|go (?:over|through)|discuss|talk"
    r"|explain|explore|cover|dive|start|begin|focus|introduce|review|examine|turn|walk|learn"
    r"|try to understand)"
    r"|(?:nous allons|on va|je vais)(?: d'abord| aussi| maintenant)? "
    r"(?:voir(?! que)|etudier|parler|regarder|expliquer|decouvrir|explorer|examiner|aborder"
    r"|presenter|commencer|essayer de comprendre|apprendre)"
    r"|(?:nous verrons|on verra)(?! que)|voyons|regardons|etudions|commencons|passons|examinons"
    r"|welcome (?:back )?to|bienvenue (?:a|dans|sur))\b"
)
"""Openings by which an author or a speaker says what comes next instead of saying it."""
