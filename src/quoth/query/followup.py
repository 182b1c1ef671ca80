"""Tells whether a question leans on the conversation.

One that does gets words of it (`quoth.query.rewrite`); one that does not is left as it is.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from quoth.core.protocols import Matrix
from quoth.core.types import Turn
from quoth.query.tokens import FUNCTION_WORDS, TokenizedQuery, tokenize_query

MOST_TURNS = 3
LONGEST_ANSWER = 200
"""Characters of an earlier answer that are read."""
SHORT = 8
"""Words of a question that may lean by its opening alone."""

_OPENS = re.compile(
    r"\W*(?:and|but|or|so|also|then|now|next|et|mais|ou (?:alors|bien|encore)|donc|alors|aussi"
    r"|sinon|puis|maintenant|ensuite|(?:only|even|just)(?= (?:in|for|with|on|at|when|if|by|from"
    r"|the|those|these|talks|books)\b)"
    r"|(?:seulement|uniquement|juste|rien que)(?= (?:en|dans|pour|avec|au|a|chez|si|les?|la|l'|ceux"
    r"|celles|des?|du)\b))\b(?! (?:if|is it true)\b)"
)
_WHOLE = re.compile(
    r"\W*(?:(?:and|et|but|mais|so|alors|ok|okay|yes|oui|no|non|well|hm+),? ?)*(?:"
    r"what about|how about|what of|how come|and you|quid d|qu'en est-il|et (?:pour|avec|dans"
    r"|sur|chez|en|a|au|le|la|les|l'|un|une|si|lui|elle|eux)\b"
    r"|qu'en (?:dit|pense)|tell me more(?! about)|say more|go on|continue|explain "
    r"(?:more|further|that|this|it)\b|more (?:details?|examples?|about (?:that|this|it))"
    r"|(?:(?:can|could|would|will) you (?:please )?|please )?(?:(?:elaborate|expand|clarify"
    r"|go (?:on|into (?:more )?details?|deeper)|be more (?:specific|precise)|rephrase|say more)\b"
    r"(?! (?:on|about|upon|how|why|what)\b(?! (?:that|this|it|these|those|them)\b))"
    r"|(?:explain|summari[sz]e|repeat|rephrase|simplify|translate|shorten|sum up) (?:that|this|it"
    r"|these|those|more)\b|give (?:me )?(?:more|an? (?:other )?example|details))"
    r"|(?:for|an|another|any other|other) (?:instance|examples?|one)|such as|like what|par "
    r"exemple|un (?:autre )?exemple|d'autres|dis-m'en plus|dites-m'en plus|en savoir plus"
    r"|(?:give me|show me|i need|i want)? ?(?:more|further) (?:details?|examples?|information)\W*$"
    r"|(?:donne[rz]?[- ](?:moi|nous)|il me faut|je veux|j'aimerais)? ?(?:plus|davantage"
    r"|un peu plus) "
    r"(?:de |d')(?:details?|exemples?|precisions?|informations?|contexte)\W*$"
    r"|(?:resume|explique|reformule|repete|traduis|simplifie|detaille)[- ](?:le|la|les|ca|cela)\b"
    r"|(?:(?:just |simply )?give me |just )?the short (?:answer|version)\W*$"
    r"|(?:tu (?:peux|pourrais)|vous (?:pouvez|pourriez)|peux-tu|pourrais-tu|pouvez-vous"
    r"|pourriez-vous|(?:est-ce que )?tu peux) (?:me |nous |m'|l'|un peu )*(?:developper|preciser"
    r"|detailler|approfondir|reformuler|clarifier|continuer|simplifier|repeter|(?:en )?dire plus"
    r"|donner plus de details)(?: (?:ca|cela|un peu|davantage|plus|encore|ce point"
    r"|cette idee))*\W*$"
    r"|peux-tu (?:developper|preciser|detailler|en dire plus|m'en dire plus|donner (?:un|des"
    r"|d'autres|plus))|pouvez-vous (?:developper|preciser|detailler|en dire plus)|developpe"
    r"|precise|encore\b|plus de details|c'est-a-dire|autrement dit"
    r"|which ones?|which of (?:them|these|those|the (?:two|three))"
    r"|lequel|laquelle|lesquels|lesquelles"
    r"|(?:since when|until when|depuis quand|jusqu'a quand|in (?:what|which) (?:year"
    r"|order|sense|case)"
    r"|comment ca|pourquoi ca|dans quel (?:cas|sens|ordre)|en quelle annee)\W*$"
    r"|anything else|what else|quoi d'autre|autre chose|really|vraiment|ah bon|are you sure"
    r"|instead|same (?:question|for)|meme "
    r"(?:question|chose)"
    r")"
)
_BARE = re.compile(
    r"\W*(?:(?:and|et|but|mais|so|alors|ok),? ?)?(?:why|how|when|where|who|which|what|how "
    r"(?:many|much|long|often|so|far|old)|why (?:not|so|is that)|by whom|with whom|with what"
    r"|for whom|to whom|for what reason|de quoi s'agit-il"
    r"|a cause de quoi|pour quelles? raisons?|pourquoi|comment|quand|ou|qui|quoi|combien|lequel"
    r"|pourquoi pas|de quoi|a quoi|a qui|par qui|avec qui|depuis quand|combien de temps|how "
    r"exactly|why exactly|in what way|like\?|meaning|more|encore|plus)(?: exactly| then| "
    r"exactement| donc| au juste| precisement)?\W*$"
)
_DONE = (
    r"(?!(?:(?!recommend|requir|allow|permitt|advis|consider)\w+ed|proven|known|made|meant|built"
    r"|given|able|similar|close|due|ready) to\b)"
)
"""After "is it", these speak of a thing: "is it used to …"; others do not: "is it wise to …"."""
_EXPLETIVE = re.compile(
    r"\b(?:is|was|are|be|does|do|did|will|would|can|could|should|might|may|makes?|made|has"
    r"|have)? ?it (?:(?:is|was|be|take|takes|took|taken|cost|make|really|ever|still|always"
    r"|also|generally|usually|been|not) )*(?:" + _DONE + r"\w+ )?"
    r"(?:to|that|possible|true|worth|called"
    r"|important|necessary|common|better|safe|ok|okay|raining|rains?|cold|hot|warm|dark|windy"
    r"|sunny|mean(?:s)? (?:to|for"
    r"|that)|matter|seem|means)\b"
    r"|\bthan it (?:is|was|does|did|has|had|used)\b|\b(?:has|have|had|with) .{1,60} in (?:it"
    r"|them)\b"
    r"|\bit (?:determined|decided|known|found|discovered|prove[dn]|shown|established|thought"
    r"|believed|estimated|agreed) (?:how|that|whether|what|who|why|when|if)\b"
    r"|\bhow (?:long|much|many \w+) (?:does|did|will|would) it take\b|\bwhat (?:is|was) it "
    r"(?:like |that |about )|\bwhat does it (?:take|mean (?:to|that|for|when|if))\b|\bit is "
    r"said\b|\bwhen it comes to\b|\bthat is\b|\bwhat it (?:means|takes)\b"
    r"|\b(?:y a|existe|faut|fait|agit|suffit|convient|vaut|semble|parait|arrive|reste|pleut"
    r"|neige|manque|importe|passe|est question)-?t?-?il\b|\bil (?:y a|faut|existe|s'agit|suffit"
    r"|convient|vaut|est (?:possible|important|necessaire|vrai|question|utile|preferable"
    r"|interdit|difficile|conseille)|semble|parait|fait|reste|pleut|ne faut|n'y a)\b"
    r"|\best-il (?:\w+ )?(?:possible|important|necessaire|vrai|utile|question|preferable"
    r"|difficile|conseille|prudent|dangereux|permis|interdit|obligatoire|raisonnable"
    r"|recommande|mieux|plus|autorise|legal|normal|obligatoire)\b(?: [\w']+){0,6}? (?:de|d'|que|qu)"
    r"|\bs'agit-il d|\bis it (?:so |very |really |too |more |also )?" + _DONE + r"\w+ (?:for "
    r"[^?]{1,60} )?(?:to|that)\b"
    r"|\bc'est quoi (?!exactement|au juste|precisement|donc|alors)(?=\w)"
    r"|\bca (?:sert|veut dire|signifie|marche|fonctionne) (?=\w)"
    r"(?!aussi|avec|pour|chez|dans|en |encore|toujours)"
    r"|\bavailable there\b"
)
_PRONOUN = re.compile(
    r"(?<![\w'-])(?:it|he|she|they|him|them|his|its|their|theirs|her|hers|himself|herself"
    r"|itself|themselves"
    r"|(?:this|these|those|that)(?= (?:mean|is|was|are|were|work|help|matter|happen|one|ones"
    r"|apply|come|say|imply|too|also|same|hold|true|important|difference|approach|method|idea"
    r"|point|argument|technique|rule|claim|process|result|advice|problem|step|number|tool"
    r"|change|way|topic|theory|part|book|talk|chapter|section|passage|page|speaker|author"
    r"|concept|case|example|effect|model|system|practice)\b|\W*$)"
    r"|(?:is|are|was|were) (?:this|these|those)\b"
    r"|^\W*(?:is|was|does|did|will|would|can) that\b|the ones? (?:of|in|from|for|on|at|by|with)\b"
    r"|(?:these|those) (?!days\b)\w+(?! (?:who|that|which)\b)"
    r"|(?:for|of|about|on|with|by|from|behind) that \w+(?=\W*$)|^\W*\w+ (?:is|was) that \w+(?:'s)?"
    r"|ces (?!jours\b|dernieres annees\b)\w+"
    r"|les \w{2,}(?:er|ir|re)\b"
    r"|^\W*qui (?:le|la|les|lui|leur) (?:a|ont|avait|avaient|fait|font|utilisent?)\b"
    r"|(?:le|la|les|l') ?\w+-(?:t-)?(?:on|il|ils|elle|elles|tu|nous|vous|je)\b"
    r"|(?:moyen|facon|maniere|but|possible|utile|besoin|envie) de (?:la |l')\w+(?:er|ir|re)\b"
    r"|(?:comment|pourquoi|peut-on|faut-il|ou|quand"
    r"|peux-tu|pouvez-vous)"
    r" (?:le|la|les|l'|y|en) ?\w{2,}(?:er|ir|ire|dre|tre|oir)(?=\W*(?:$|\?)| de | se )"
    r"|\bde (?:le|les) [\w]+(?:er|ir|re)\b|\b(?:pour|sans|a) l[ae]s? [\w]{3,}(?:er|ir)(?=\W*$)"
    r"|(?:about|like|of|with|for|on|by|do|does|did|does|why|from|explain|than|after|before|is"
    r"|was|are) (?:this|that|these|those)(?=\W*$|,)"
    r"|the (?:former|latter|second|first|third|other|others|last|previous|next|two"
    r"|above)(?: (?:one|ones|two|thing|point|option|approach|method|case|author|speaker"
    r"|example|question|part|step|reason|idea|type|kind|argument))?(?=\W*$| (?:one|ones|differ"
    r"|do|does|did|is|was|say|said|work|have|has|mean|also|too|instead|option|approach|method"
    r"|case|speaker|author|example|step|reason|point|two)\b)"
    r"|(?:a |the |an? other |another |any )?(?:better|worse|similar|different|other|same|big"
    r"|small|good|bad|new|old|right|cheaper|simpler|faster) ones?|another one|someone else"
    r"|(?<!are )(?<!is )there(?=\W*$)|both(?=\W*$)|both of them|neither|the author say|else(?=\W*$)"
    r"|il|ils|elle|elles|lui|eux|celui-ci|celle-ci|ceux-ci|celles-ci|celui-la|celle-la|ce "
    r"dernier|cette derniere|ces derni\w+|celui|celle|ceux|celles|cela|ca|y|leurs?"
    r"|(?:son|sa|ses)|ce(?:t|tte|s)? (?:idee|methode|approche|technique|regle|argument"
    r"|probleme|point|resultat|processus|chiffre|outil|conseil|livre|talk|presentation"
    r"|chapitre|section|passage|page|auteur|autrice|modele|systeme|concept|cas|exemple|effet"
    r"|theorie|pratique|conference|sujet|phenomene|expose|intervention|video|raisonnement"
    r"|choix|difference|derniere?|termes?|mot)s?"
    r"|(?:le|la|les|l'|du|au|aux|des|de la|de l') ?(?:second|seconde|premier|premiere"
    r"|autre|autres|deuxieme|troisieme"
    r"|dernier|derniere|precedente?|suivante?|deux)(?: (?:option|methode|approche|cas"
    r"|point|argument|exemple|idee|question|partie|etape|raison|type))?(?=\W*$| (?:est|dit"
    r"|aussi|alors|fait|a|sont)\b))(?![\w'])"
    r"|-t?-?(?:il|elle|ils|elles)(?![\w-])|(?<=que)-(?:le|la|les|lui|leur)(?![\w-])"
    r"|(?<=\bc')est (?:quoi|tout|lequel|qui"
    r"|(?!quoi )(?:\w+ ){0,2}\w+(?=\W*$))|(?:qui|quoi|ou|comment) d'autre\b(?! que)|\b[stm]'en "
    r"(?=\w)|\bqu en (?:est|dit|dit-on|pense|parle|parle-t|sait"
    r"|sont|pensent|sait-on)\b|\bm'en\b|\bl'(?:expliquer|utiliser|eviter|appliquer|a-t-(?:il"
    r"|elle)|ont-ils|a dit|obtenir|installer|ameliorer|appelle)\b"
)
_CAPITAL_IT = re.compile(r"(?<!\w)IT(?!\w)")
_AHEAD = re.compile(
    r"\W*(?:other than|besides|apart from|aside from|despite|in addition to|unlike|before|after"
    r"|during|as well as|outre|malgre|en plus d[eu']|a part|avant|apres|pendant)"
    r" (his|her|its|their|son|sa|ses|leurs?) "
)
"""A pronoun before the name that it stands for."""
_CLAUSE = re.compile(
    r"[,;:]|\b(?:every time|each time|between|without|and|or|but|if|when|because|so "
    r"that|while|that|as|once|after|before|until"
    r"|whose|who|which|et|ou|mais|si|quand|lorsque|lorsqu|parce|afin|pendant|apres|avant|dont"
    r"|qui|que|qu)\b"
)
_ASKED_FOR = re.compile(
    r"\W*(?:\w+ )?(?:combien d[e'] ?[\w-]+|quel(?:le)?s? [\w-]+)(?: d(?:e |u |es "
    r"|')[\w-]+)* ?(?:ne |n'|l'|y |en )?$"
)
_LACKS = re.compile(
    r"\b(?:as|equally) (?:good|bad|fast|slow|well|big|large|small|cheap|safe|effective|efficient"
    r"|accurate|important|easy|hard|quick|precise|reliable|strong|useful|dangerous|common)\W*$"
    r"|\baussi [\w-]+\W*$|\b(?:too|either|as well"
    r"|instead|aussi|non plus|a la place)\W*$"
    r"|^\W*(?:what(?:'s| is| are| were) (?:the|its?)"
    r"|quel(?:le)?s? (?:est|sont)(?: l'| le| la| les)) ?"
    r"(?:benefits?|advantages?|downsides?|drawbacks?|difference|reasons?|purpose|results?|causes?"
    r"|effects?|alternatives?|consequences?|interet|avantages?|inconvenients?|raisons?|but"
    r"|resultats?|effets?)\W*$"
    r"|^\W*(?:which|what|who) (?:is|are|was|works?|runs?|performs?) (?:\w+ )?(?:better"
    r"|best|worse|worst|faster|fastest|cheaper|larger"
    r"|bigger|smaller|older|newer|safer|simpler|easier|more \w+|less \w+)\W*$"
)
"""Ends of questions that compare with something unsaid: "is it as good?", "which is faster?"."""
_SPANISH = re.compile(r"¿|\b(?:el|los|las|del|cuales)\b")
_LETTERS = frozenset("bgkpqrvwxz")
"""Single letters that are names rather than words of either language: "the V&A"."""
_ENGLISH_ONLY = frozenset(
    "the is are was were what how does did do who why when which of to".split()
)
_FRENCH_ONLY = frozenset(
    "il ils elle elles lui eux son sa ses y ca cela leur leurs celui celle".split()
)
_SAYING = frozenset(
    "say says said think thinks thought believe believes claim claims claimed".split()
)
_POSSESSIVE = frozenset(
    "its their theirs his her hers himself herself itself themselves son sa ses leur leurs".split()
)

_DULL = frozenset(
    "say says said talk talks mention mentioned explain explained tell tells told give gives "
    "given describe described show "
    "work works use used using mean means happen happens thing things question questions "
    "answer example examples way ways "
    "kind page pages chapter chapters section book books document documents presentation "
    "video part parts speaker "
    "dit dire dis parle parler explique expliquer donne donner decrit montre montrer marche "
    "fonctionne utilise utiliser "
    "signifie passe chose choses question reponse exemple exemples facon maniere sorte "
    "chapitre section livre livres "
    "document documents partie parties conference expose orateur oratrice first second third "
    "one two last premier deuxieme "
    "difference differences compare comparer summarise summarize summary resume resumer many "
    "much main really exactly "
    "please like know think think want need does do make makes made get gets got go goes best "
    "better good new different "
    "yes no oui non another other else simply simpler plainly happened happening simplement "
    "autrement autre "
    "autres ensuite terms qu now next ok okay maintenant prochain suivant est-ce quels quelles "
    "quel quelle sont etait peut faut il elle ils elles".split()
)
"""Words of earlier questions that tell nothing about their subject."""


_VERBS = frozenset(
    "is are was were s does do did say says stands summarise summarize explain est sont dit "
    "disent a resume "
    "resumez montre lis trouve contient contain contains".split()
)


FRAGMENT = 4
"""Words of a question that is only a place, a time or a person: "in French?"."""
_FRAGMENT = re.compile(
    r"\W*(?:in|from|on|by|for|with|en|dans|chez|pour|avec|par|sur|selon|according to) "
    r"(?!(?:what|which|whom|who|that|this|quoi|quel\w*|qui)\b)[^?,;:]+\?"
)
_VERBLESS = re.compile(
    r"\W*(?:(?:in|from|on|by|for|with|at|to|of|since|until) (?:which|what)"
    r"|(?:en|dans|chez|pour|avec|par|sur|a|de|depuis|jusqu'a) quel(?:le)?s?|any|some) [^?,;:]+\?"
)
"""Questions without a verb: "on which texts?", "any downsides?"."""
_THEN = re.compile(r"\b(?:then|alors|donc)\W*$")
_POLITE = re.compile(
    r"(?<![\s,])[\s,]*\b"
    r"(?:please|thanks|thank you|pls|s'il (?:te|vous) plait|svp|stp|merci)[\s!.?]*$"
)


def recent(history: Sequence[Turn]) -> tuple[Turn, ...]:
    """Give the last turns, with answers cut short."""
    return tuple(
        [Turn(each.question, each.answer[:LONGEST_ANSWER]) for each in history[-MOST_TURNS:]]
    )


def is_followup(text: str, *, vector: Matrix | None = None, history: Sequence[Turn] = ()) -> bool:
    """Return whether a question cannot be understood without the conversation.

    ``vector`` is its embedding by the default embedder, where there is one.
    """
    return bool(history) and _needs_context(tokenize_query(text))


def _needs_context(asked: TokenizedQuery) -> bool:
    """Whether a question cannot be understood without the one before it."""
    folded, count = _asked_plainly(asked)
    if not count:
        return False
    if _BARE.match(folded) or _WHOLE.match(folded):
        return True
    if count <= SHORT and _OPENS.match(folded):
        return True
    if count <= FRAGMENT and (_FRAGMENT.fullmatch(folded) or _VERBLESS.fullmatch(folded)):
        return True
    if count <= SHORT and _THEN.search(folded):
        return True
    if not any(
        word not in FUNCTION_WORDS and word not in _DULL and not word.isdecimal()
        for word in asked.words
    ):
        # "What is on page 12?" says all there is to say; "page 12 please" goes on with something.
        whole = any(word.isdecimal() for word in asked.words) and _VERBS & set(asked.words)
        if not whole:
            return count <= SHORT
    return bool(_LACKS.search(folded)) or _has_open_pronoun(_has_unresolved_pronoun(asked).strip())


def _asked_plainly(asked: TokenizedQuery) -> tuple[str, int]:
    """Give the folded question without "please" behind it, and its number of words."""
    folded = asked.folded.strip()
    polite = _POLITE.search(folded)
    if not polite:
        return folded, len(asked.words)
    cut = polite.start() + len(asked.folded) - len(asked.folded.lstrip())
    return folded[: polite.start()], sum(start < cut for start in asked.starts)


def _has_unresolved_pronoun(asked: TokenizedQuery) -> str:
    """Give the folded question without what looks like a pronoun and is bound within it.

    "IT" in capitals is no pronoun; "besides his poems, what did Hugo write" names him behind.
    """
    folded = asked.folded
    if not asked.clean.isupper():
        for found in _CAPITAL_IT.finditer(asked.clean):
            folded = folded[: found.start()] + "xx" + folded[found.end() :]
    ahead = _AHEAD.match(folded)
    named = ahead and any(
        asked.clean[start].isupper()
        for start in asked.starts
        if start > ahead.end() and asked.clean[start - 1] not in ".?!"
    )
    return folded[: ahead.start(1)] + " " * len(ahead[1]) + folded[ahead.end(1) :] if (
        ahead and named) else folded  # fmt: skip


def is_elliptical(asked: TokenizedQuery) -> bool:
    """Whether a question that leans has no subject of its own: "and on page 12?", "why?"."""
    folded, count = _asked_plainly(asked)
    if is_bare(asked):
        return True
    short = count <= SHORT
    if count <= FRAGMENT and _FRAGMENT.fullmatch(folded):
        return True
    return short and bool(_OPENS.match(folded) or _WHOLE.match(folded) or not _telling(asked))


def is_bare(asked: TokenizedQuery) -> bool:
    """Whether there is nothing but a word of asking: "why?", "et quand ?"."""
    return bool(_BARE.match(asked.folded.strip()))


def _has_open_pronoun(folded: str) -> bool:
    """Whether the first pronoun has nothing before it in the question that it could stand for."""
    folded = folded.replace("qu'", "qu ")
    plain = _EXPLETIVE.sub(lambda found: " " * len(found.group()), folded)
    english = not _ENGLISH_ONLY.isdisjoint(tokenize_query(folded).words)
    found = next((each for each in _PRONOUN.finditer(plain) if _counts(each, english)), None)
    if not found:
        return False
    if found.group() == "y":
        return "¿" not in folded
    before = tokenize_query(folded[: found.start()])
    hangs = found.group().startswith("-")
    if hangs and _ASKED_FOR.match(folded, 0, before.starts[-1] if before.words else 0):
        return True  # "Depuis quelle année est-il …": what is asked for cannot be what is meant
    # The word right before is the verb of which the pronoun is a part.
    # So is the one right after "who".
    rest = before.words[2 if before.words[:1] in (("who",), ("qui",)) else 0 : -1]
    nouns = [word for word in rest if is_content_bearing(word) or word in _LETTERS]
    if not nouns:
        return True
    if hangs or found.group() in _POSSESSIVE or before.words[-1] in _SAYING:
        return False
    return not _CLAUSE.search(before.folded, before.ends[0])


def _counts(found: re.Match[str], english: bool) -> bool:
    """Whether what looks like a pronoun is one, and not a word of another language."""
    word, folded = found.group(), found.string
    if word in _FRENCH_ONLY and (english or _SPANISH.search(folded)):
        return False
    if word == "y" and folded[found.end() : found.end() + 1] == ".":
        return False  # "Y. pestis"
    if folded[found.end() : found.end() + 1] == "-" and word in ("il", "la", "it"):
        return False  # "IL-4"
    if word == "that" and folded[found.end() :].strip(" ?!."):
        before = re.search(r"(\w+) $", folded[: found.start()])
        return before is None or not is_content_bearing(before[1])  # "the mass that was …"
    return True


def _telling(asked: TokenizedQuery) -> bool:
    return any(map(is_content_bearing, asked.words))


def is_content_bearing(word: str) -> bool:
    """Whether a folded word of a question tells something of its subject."""
    return len(word) > 1 and word not in FUNCTION_WORDS and word not in _DULL
