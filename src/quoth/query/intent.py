"""Tells the type of a question by whole words, folded, in English and French.

Of other European languages it knows the commonest wordings.

Quoted words and titles that are named as titles are hidden before, so that a talk called
"SQL versus NoSQL" makes no comparison of a question about it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

from quoth.core.protocols import Matrix
from quoth.core.types import QueryKind
from quoth.query import intent_comparison_rules as comparing
from quoth.query import intent_other_languages as elsewhere
from quoth.query.source_terms import PLURAL, SINGULAR
from quoth.query.tokens import HIDDEN

Rules = tuple[tuple[QueryKind, re.Pattern[str]], ...]

_WORK = (
    rf"(?:{SINGULAR}|{PLURAL}|chapters?|sections?|parts?|pages?|chapitres?|parties?|appendix"
    r"|annexe|q a|demo)"
)
_ASK = (
    r"(?:^|^(?:please|so|ok|and|now|then|first) |(?:can|could|would|will) (?:you|we|i) "
    r"(?:please |briefly |quickly )?"
    r"|please |(?:i|we) (?:want|need|wish|would (?:like|love)|d (?:like|love))(?: you)? to |help "
    r"(?:me|us)"
    r" )"
)
_DEMANDE = (
    r"(?:^|^(?:et|alors|bon|maintenant|puis) |(?:peux|peut|pourrais|pourrait|pouvez|pourriez"
    r"|veux|voudrais) (?:tu |vous |on |me |nous |bien )*"
    r"|^(?:merci de|aide moi a|aidez moi a|s il (?:te|vous) plait|il faudrait|j aimerais"
    r"|on aimerait|je (?:veux|voudrais|souhaite|souhaiterais)|nous (?:voulons|voudrions|aimerions)"
    r") (?:bien )?)"
)


def _rules(*kinds: tuple[QueryKind, tuple[str, ...]]) -> Rules:
    return tuple(
        (kind, re.compile("|".join(f"(?:{each})" for each in rules))) for kind, rules in kinds
    )


_DONE_EN = (
    r"^(?:who|whom|when|where) (?:\w+ ){0,2}?(?:compared|summari[sz]ed|reviewed|explained|described"
    r"|wrote|drew|prepared|signed|listed|outlined)\b|^(?:who|when|where) (?:\w+ ){1,2}?(?:the|this"
    r"|that|his|her|a) (?:\w+ )?(?:summary|overview|comparison|outline|recap|explanation)\b"
)
_DONE_FR = (
    r"^(?:qui|quand|ou) (?:a |ont |avait )(?:\w+ )?(?:compare|resume|explique|decrit|redige|ecrit"
    r"|relu|liste|presente|signe)\b|^(?:qui|quand|ou) (?:\S+ ){1,3}?(?:la|le|l|cette|ce|un|une)"
    r" (?:resume|synthese|apercu|comparaison|explication)\b"
)
"""Who made a summary or a comparison, when and where: a fact about it, not a wish for one."""
_PAPER_EN = (
    r"^how (?:long|short|many words) .{0,40}\b(?:summary|abstract)\b|\bexecutive summary (?:say"
    r"|mention|list|contain|include)|\b(?:attach|submit|include|upload|send|enclose|hand in"
    r"|append)\b .{0,30}\b(?:summary"
    r"|abstract)"
    r"\b"
)
_PAPER_FR = (
    r"\b(?:joindre|envoyer|deposer|fournir|televerser|soumettre|inclure"
    r"|accompagner) .{0,30}\bresume\b"
    r"|^(?:dois je|doit on|faut il|(?:quelle?|quel est la|quelle est la) (?:longueur|taille|forme"
    r"|format)|combien de (?:mots|pages|lignes)) .{0,60}\bresume\b"
)
"""A summary or a CV that somebody hands in."""
_MARK_EN = (
    r"^(?:in |on |at |to |from )?(?:what|which) (?:colou?rs?|size|years?|dates?|day|month|number"
    r"|city|country|person|port|version|percentage|share|price)\b(?!.*\bwhy\b)"
)
_MARK_FR = (
    r"^(?:de |a |en |dans |pour |depuis )?quel(?:le)?s? (?:est (?:la |le |l ))?(?:couleur|taille"
    r"|annee|date|heure|prix|ville|pays|mois|jour|version|pourcentage|part)s?\b"
)
"""What has one value: a year, a price, a place."""
RULES: Mapping[str, Rules] = MappingProxyType(
    {
        "en": _rules(
            ("factual", (_DONE_EN, _PAPER_EN)),
            (
                "summary",
                (
                    rf"{_ASK}(?:summari[sz]e|sum up|wrap up|outline|recap|condense|distil"
                    rf"|abridge)\b(?! "
                    rf"the "
                    r"difference)|\bboils? (?:.{1,60} )?down\b|^in (?:short|brief|essence|summary"
                    r"|a nutshell)"
                    r"\b|\bhighlights? (?:of|from)\b|\bshould i (?:remember|retain|keep) from\b",
                    rf"{_ASK}(?:give|write|make|provide|produce|prepare|get|have|see)(?: (?:me"
                    r"|us))?(?: (?:an?|the|your))?(?: (?:short|brief|quick|general|high level"
                    r"|concise|one paragraph))* (?:summary|overview|outline|recap|synopsis"
                    r"|gist|abstract)\b",
                ),
            ),
            ("comparison", tuple([each.replace("{ask}", _ASK) for each in comparing.EN])),
            ("factual", (_MARK_EN,)),
            (
                "summary",
                (
                    r"\bsummar(?:y|ies) (?:of|for)\b|\b(?:a|the|in|short|brief|quick"
                    r"|executive) summary\b(?! (?:statistics?|function|method|table|judge?ment"
                    r"|report|page|section|report|view|field|box|writer|measure|query|index))",
                    r"^(?:(?:an?|the|brief|quick|short) )*(?:overview|summary|recap"
                    r"|synopsis|outline) of\b|\btl ?dr\b|\bin a nutshell\b|\b(?:an"
                    r"|brief|short|quick|general) "
                    r"overview\b(?! (?:page|tab|section|chapter|screen|panel))|\bthe overview "
                    r"of (?:the|this|that)\b|\boverview of (?:the|this|that|his|her|what)\b"
                    r"|\bthe gist\b|\b(?:give|get|show|see|need|want|have|paint|what is"
                    r"|what s) .{0,20}"
                    r"\bbig picture\b|^(?:the )?big picture\b|\b(?:short|condensed) version of\b"
                    r"|\bhigh level (?:view|picture)\b|\bbird s eye view\b|\bin broad strokes\b"
                    r"|\b(?:upshot|essence|crux|bottom line) of\b|\b(?:an?|the|short"
                    r"|brief"
                    r"|quick) (?:recap|synopsis|run ?down)\b|\bbullet points\b",
                    r"\b(?:main|key|central|essential|core|major|most important|principal"
                    r"|big) (?:points?|ideas?|takeaways?|messages?|arguments?|lessons?"
                    r"|conclusions?|findings|themes?|thesis|claims?|insights)\b|\btakeaways?\b",
                    rf"\b(?:lessons?|takeaways?|conclusions?|moral) (?:of|from|in) (?:the |this "
                    rf"|that "
                    rf")?(?:{_WORK}|{HIDDEN})|\bwhat (?:is|s|was|are|were) (?:{HIDDEN}|the|this"
                    rf"|that|these|those|his"
                    rf"|her|their|chapter|appendix)\b(?: \S+){{0,8}}? (?:all |mainly |mostly "
                    r"|really )?about$",
                    r"\bwhat (?:is|was) (?:covered|discussed|said|presented|told|explained) "
                    rf"in (?:the |this |that |his |her )?(?:\w+ ){{0,2}}{_WORK}$|\bwhat "
                    rf"(?:does|do|did) (?:the |this |that )?{_WORK}(?: \w+)? (?:cover|discuss"
                    rf"|deal with|talk about)$|\bwhat does {HIDDEN}+ (?:cover|discuss|deal "
                    r"with)$",
                    r"\bsum(?:s|med)? up\b|\bin (?:a few|one|two|three) (?:sentences?|words"
                    r"|lines|paragraphs?|bullet points?)\b",
                ),
            ),
            (
                "exploratory",
                (
                    r"\btell (?:me|us) (?:more |something |all |everything )?about\b"
                    r"|\b(?:everything|anything|something) (?:about|on|that)\b|\b(?:is|are) "
                    r"there (?:anything|something|any|some)\b(?! (?:way|reason|limit"
                    r"|difference))",
                    rf"{_ASK}(?:explore|browse|discover|learn (?:more )?about|know more about"
                    r"|read (?:more )?about|understand more about|dig into)\b|\bexplore\b(?! "
                    r"and exploit)",
                    r"\b(?:what|which) (?:\w+ )?(?:topics|subjects|themes|areas|aspects"
                    r"|kinds|sorts|types|ideas|questions|issues|problems|examples|methods"
                    r"|approaches|techniques|ways|tips|resources|advice|stories"
                    r"|tools(?! (?:is|are|was|were) (?:used|needed))|use "
                    r"cases|applications|speakers|chapters|sections|passages|parts"
                    rf"|(?!texts|files|materials?\b|decks){PLURAL})\b(?! of (?:the )?page)",
                    rf"{_ASK}(?:list|show|find|give|name|suggest|recommend|enumerate)(?: me| "
                    r"us)?(?: (?:all|the|every|some|a few|several|any|of|other|more|different"
                    r"|two|three|four|five|\d+))* ?(?:\w+ )?(?:examples?|ideas|topics|tips"
                    rf"|ways|methods|techniques|things|places|passages|speakers|{PLURAL})\b"
                    rf"|{_ASK}list (?!comprehensions?\b|view\b|of\b|operations?\b"
                    r"|methods?\b|functions?\b)\w+",
                    r"\bwhat (?:are|were) (?:some|a few|several|other|various|different|good)\b"
                    r"|^(?:is there |are there |do you have |got )?(?:any|some) (?:\w+ )?(?:advice"
                    r"|tips|ideas|thoughts|suggestions|recommendations|material|resources|reading"
                    rf"|{PLURAL})\b|\b(?:looking|searching) for (?:\w+ ){{0,2}}(?:materials?|ideas"
                    rf"|resources|inspiration|something|anything|examples|advice|tips|{PLURAL})\b"
                    r"|\bwhatever (?:you|there|we)\b|^(?:any|some)thing (?:\w+ )?(?:about|on)\b"
                    r"|\bwhat (?:is|was|has been|gets) (?:said|written|told|taught) (?:about|on)\b"
                    r"|\b(?:suggestions|recommendations"
                    r"|inspiration) (?:for|on|about)\b|\btell "
                    r"(?:me"
                    r"|us) more$|\bwhere (?:do|should|can) i (?:start|begin)\b|\bwhat should i "
                    r"(?:read"
                    r"|watch)\b",
                    r"\bwho (?:all )?(?:talks|speaks|writes) (?:about|of|on)\b|\bwhere can i "
                    r"(?:find|read|learn|hear)\b",
                    r"\bwhat (?:do|can|could|have|does|all) (?:we|you|they|i|people|everyone"
                    r"|speakers|authors|the (?:\w+ )?(?:talks|books|sources|documents|library"
                    r"|collection|speakers|authors)) (?:know|say|have|think|learn|find|read"
                    r"|hear|said|written|offer|contain|been said)\b(?: (?:about|on))?|\bwhat "
                    r"(?:is|has been) (?:known|there|available|out there) (?:about|on)\b"
                    r"|\bwhat else\b|\bwhat is there\b|\bwhat s (?:new|there|out there)\b",
                    r"\b(?:give|show|list|name)(?: me| us)? (?:some |a few |several |more "
                    r"|other |two |three |any )?examples\b|\bexamples of\b|\bsome examples\b"
                    r"|\ban overview\b|\bi m (?:interested in|curious about)\b|\bi am "
                    r"(?:interested in|curious about)\b|\bi (?:want|would like) to (?:learn"
                    r"|know|read|hear) (?:more )?about\b|\bwalk (?:me|us) through\b"
                    r"|\bintroduce me\b|\btour of\b|\bin what ways\b|\bthe various\b|\bthe "
                    r"different (?:ways|kinds|types|methods|approaches)\b",
                ),
            ),
            (
                "conceptual",
                (
                    rf"\bdescribe how\b|\bwhat role\b|\bwhy\b|{_ASK}(?:explain|clarify|understand"
                    rf"|elucidate)\b|\bhelp (?:me|us) understand\b|\b(?:to"
                    r"|and|an|the) explan?(?:ain|ation)\b"
                    r"|\\bintuitions?\b|\b(?:for what|what|what s the) reasons?\b|\b(?:by"
                    r"|through) what "
                    r"(?:means"
                    r"|mechanism|process)\b|\bin what ways?\b|\bhow come\b|\brationale\b"
                    r"|\bphilosophy\b",
                    r"\bhow (?:do|does|did|can|could|is|are|was|were|would|will|might|should"
                    r"|to) (?!i\b|we\b|you\b|much\b|many\b|long\b|old\b"
                    r"|often\b).{1,100}\b(?:works?|functions?|happen|affect|influence|cause"
                    r"|help|improve|relate|interact|emerge|arise|change|contribute|lead|make"
                    r"|prevent|reduce|related|linked|connected|possible|form|formed|evolve"
                    r"|shape|allow|keep|become|know|learn|differ|avoid|behave|determine|decide"
                    r"|produce|protect|turn|fit|matter|influenced|affected|explained|achieve"
                    r"|achieved|ensure|handle|let|come about|end up)s?\b",
                    r"\bhow (?:exactly |precisely |actually |then |else )?(?:do|does|dose|did|can"
                    r"|could|should|would|is|are) (?!you (?:say"
                    r"|spell|write|pronounce|call|translate)\b|.{1,40} (?:called|spelled|spelt"
                    r"|pronounced|written|translated|named|abbreviated)(?: in \w+)?$)|^how "
                    r"to\b|\b(?:explain|show|tell|describe|learn|me|understand) how to \w+",
                    r"\bwhat (?:do|does|did) .{1,80} mean\b(?! in (?:english|french|german"
                    r"|spanish))|\bwhat (?:is|was) meant by\b|\bmeaning of\b|\bwhat is the "
                    r"(?:meaning|point|purpose|role|idea|reason|logic|intuition|concept"
                    r"|principle|mechanism|relationship|relation|link|connection|significance"
                    r"|importance|motivation|function|use) (?:of|behind|between|for|in|to)\b",
                    r"\bconcepts? (?:of|behind)\b|\bprinciples? (?:of|behind)\b|\b(?:idea"
                    r"|ideas|reasoning|theory|logic|thinking|mechanism) behind\b|\bnotion of\b"
                    r"|\bin what sense\b|\bwhat (?:causes|caused|makes|made|drives|explains"
                    r"|leads|prevents)\b|\bthe reasons? (?:for|why|behind|that)\b|\bthe "
                    r"(?:relationship|relation|link|connection) between\b|\bthe "
                    r"implications?\b|\bwhat happens (?:when|if|to)\b|\bwhat is it that\b"
                    r"|\bhow important\b",
                ),
            ),
        ),
        "fr": _rules(
            ("factual", (_DONE_FR, _PAPER_FR)),
            (
                "summary",
                (
                    rf"{_DEMANDE}(?:resume|resumes|resumer|resumez|resumons|recapitule"
                    r"|recapituler|recapitulez|condense|condenser|condensez|synthetise|synthetiser"
                    r"|synthetisez)\b(?! (?:la"
                    r"|les) differences?)",
                    rf"{_DEMANDE}(?:fais|faites|faire|donne|donnez|donner|ecris|ecrivez|redige"
                    r"|redigez|propose|dresse|presente)(?: (?:moi|nous))?(?: (?:un|une|le"
                    r"|la))?(?: (?:court|bref|breve|courte|petit|petite|rapide))* (?:resume"
                    r"|synthese|apercu|recapitulatif|recap|vue d ensemble|tour d horizon)\b",
                ),
            ),
            ("comparison", tuple([each.replace("{ask}", _DEMANDE) for each in comparing.FR])),
            ("factual", (_MARK_FR,)),
            (
                "summary",
                (
                    r"\b(?:besoin d|avoir|voir|obtenir|faire) (?:un|une) (?:\w+ )?(?:resume|apercu"
                    r"|synthese|recapitulatif)\b(?! automatique)|\b(?:lecons?|conclusions?"
                    r"|enseignements?|morale) (?:de|du|des|d)"
                    rf" (?:la |l |ce |cet |cette )?(?:{_WORK}|{HIDDEN})"
                    r"|\b(?:en substance|la substance|la"
                    r" quintessence|le fil conducteur) ?(?:de|du|des|d)?\b|\bun (?:\w+ )?apercu "
                    r"(?:de|du"
                    r"|des|d)\b",
                    r"^(?:(?:un|une|bref|court) )*(?:apercu|resume|synthese|vue d "
                    r"ensemble|panorama|tour d horizon|recapitulatif) (?:de|du|des"
                    r"|d)\b(?! textes? )|\brecap\b|\bil faut retenir\b|\b(?:un|petit|le"
                    r"|rapide) topo\b"
                    r"|\b(?:fais|faites|faire) (?:moi |nous )?le (?:tour|point)\b|\bbrosse[rz]? "
                    r"(?:moi |nous )?(?:un|le) (?:tableau|portrait|panorama)\b|\bvue globale\b"
                    r"|\bversion courte\b|\b(?:dans|a) (?:les |ses )?(?:grands traits"
                    r"|grandes lignes)\b|\b(?:un|le|en|bref|court"
                    r"|petit) resume\b|\bresume (?:du|de la|de l|de ce"
                    r"|de cet|de cette|de chaque|des|moi|nous)\b(?! (?:automatique|textes?))"
                    r"|\ben (?:bref|quelques (?:mots|phrases|lignes)|(?:une|deux|trois) "
                    r"(?:phrases?|lignes?))\b|\bvue d ensemble (?:de|du|des)\b",
                    r"\b(?:une|la|breve) synthese (?:de|du|des) (?:la |l |ce |cet |cette "
                    r")?(?:\w+ )?(?:livre|chapitre|talk|presentation|conference|expose"
                    r"|intervention|video|section|partie|article|rapport|debat|ouvrage"
                    r"|document|cours)\b|\btour d horizon (?:de|du)\b",
                    r"\b(?:idees?|points?|messages?|arguments?|lecons?|conclusions?"
                    r"|enseignements?|theses?|themes?|conclusions|resultats|axes) "
                    r"(?:principa\w+|cles?|essentiel\w*|centra\w+|majeurs?|fort[es]*"
                    r"|importants?|a retenir)\b|\b(?:principa(?:l|les?|ux)|grande?s?) "
                    r"(?:idees?|points?|messages?|arguments?|lecons?|conclusions?"
                    r"|enseignements?|theses?|themes?|resultats|lignes)\b|\bgrandes lignes\b"
                    r"|\bl essentiel (?:de|du|des|a retenir)\b|\b(?:que|quoi) (?:faut il "
                    r"|doit on |peut on )?retenir\b|\ba retenir\b",
                    r"\bde quoi (?:parle|traite|est il question|s agit il|il est question|y "
                    r"est il|il s agit)(?: t il| t elle)?\b(?: (?:dans )?(?:(?:le|la|l|ce|cet"
                    rf"|cette|son|sa) )?(?:{_WORK}|{HIDDEN}+)| {HIDDEN})|\bde quoi (?:parle"
                    r"|traite|est il question)\b|\bsur quoi porte\b|\bque (?:raconte|contient"
                    rf"|couvre) (?:le|la|l|ce|cet|cette) {_WORK}\b|\bquel est (?:le (?:sujet"
                    r"|propos|theme|contenu)) (?:de|du|des)\b",
                ),
            ),
            (
                "exploratory",
                (
                    r"\bparle[zr]? (?:moi|nous) (?:un peu |plus )?(?:de|d|du|des)\b|\b(?:dis"
                    r"|dites|raconte|racontez) (?:moi|nous) (?:tout|en plus|ce que|tout ce)\b"
                    r"|\btout (?:savoir )?(?:sur|ce (?:qui|que|qu))\b|\b(?:m|nous) en (?:dire "
                    r")?plus\b|\ben savoir plus\b",
                    rf"{_DEMANDE}(?:decouvrir|explorer|parcourir|lire|ecouter|en apprendre)\b"
                    r"|\b(?:fais|faites) (?:moi|nous) decouvrir\b|\braconte[zr]? (?:moi|nous)\b"
                    r"|\bapprendre (?:plus|davantage) sur\b"
                    r"|\bexiste t il (?:des|quelques|d autres)\b|\bpropose[zr]? (?:moi"
                    r"|nous) (?:des"
                    r"|un|une|quelques|plusieurs|d autres)\b|\b(?:cherche|cherchons|recherche)"
                    r" (?:des|de la|du|d|quelque|toute?s?|plusieurs)\b|\bqu (?:as tu|avez vous|a "
                    r"t on"
                    r"|avons nous|y a t il) (?:\w+ )?(?:sur|a propos|comme)\b|\bque (?:me |nous "
                    r")?(?:conseill"
                    r"|propos|recommand|suggere)\w+ (?:tu|vous)\b|\bquelles? sont les "
                    r"(?:differente?s"
                    r"|diverse?s)\b",
                    r"\bque? sait on\b|\bqu ?est ce qu ?on (?:sait|dit|trouve)\b|\bque "
                    r"(?:(?:peut|puis|peux|pouvons|pourrait) (?:on|je|tu|nous) (?:\w+ "
                    r")?(?:dire|lire|apprendre|trouver|ecouter|decouvrir|savoir)|disent (?:les"
                    r"|nos|vos|ces) (?:\w+ )?(?:sources|talks|presentations|conferences"
                    r"|exposes|livres|documents|orateurs|orateurs|oratrices|intervenants"
                    r"|auteurs))\b|\bqu y a t il (?:sur |a propos |a lire |a ecouter )|\by a "
                    r"t il (?:des|quelque chose|d autres|un|une) (?:\w+ )?(?:presentations?"
                    r"|conferences?|exposes?|interventions?|documents?|videos?|livres?"
                    r"|passages?|talks?|chapitres?|sources|sur|a propos|exemples|conseils"
                    r"|infos?)\b",
                    r"\bquel(?:le)?s (?:\w+ )?(?:sont les (?:\w+ )?)?(?:sujets|themes|types"
                    r"|sortes|genres|exemples|methodes|approches|techniques|facons|manieres"
                    r"|conseils|outils|usages|applications|questions|problemes|idees|pistes"
                    r"|ressources|aspects|passages|chapitres|parties|sections|orateurs"
                    r"|oratrices|intervenants|intervenantes|auteurs|talks|(?!textes"
                    rf"|fichiers|materials?\b){PLURAL})\b|\bdans "
                    rf"quel(?:le)?s (?:{PLURAL}|chapitres|talks|passages)\b|\bdans quelle "
                    r"presentation\b",
                    r"\bqui parlent? (?:de|du|des|d)\b|\bou (?:parle t on|peut on (?:lire"
                    r"|apprendre|ecouter)|puis je (?:lire|apprendre|ecouter))\b",
                    rf"{_DEMANDE}(?:liste[rz]?|enumere[rz]?|cite[rz]?|montre[rz]?|trouve[rz]?"
                    r"|donne[rz]?|suggere[rz]?|recommande[rz]?|explore[rz]?|explorons"
                    r"|decouvrir|presente[rz]?)(?: (?:moi|nous))? (?:tou(?:s|tes) )?(?:les "
                    r"|des |quelques |d autres |plusieurs |trois |deux |cinq |quatre )(?:\w+ "
                    r")?\w+|\bexplor(?:e|er|ons|ez)\b|\b(?:des|quelques|d autres) exemples "
                    r"(?:de|d)?\b|\bexemples (?:de|d)\b|\bje (?:m interesse|suis curieu\w+"
                    r"|voudrais (?:en savoir|decouvrir|apprendre)|veux (?:en savoir"
                    r"|decouvrir))\b",
                ),
            ),
            (
                "conceptual",
                (
                    r"\b(?:decri|montre)\w* comment\b|\bquel role\b|\bpourquoi\b"
                    rf"|{_DEMANDE}(?:expli(?:que|quer|quez|quons)|comprendre|eclaircir)\b"
                    rf"|\b(?:aide[zr]?|fais"
                    r"|faites) (?:(?:moi|nous) )?(?:a )?comprendre\b|\bdans quel (?:but|dessein)\b"
                    r"|^expli(?:que|quez"
                    r"|quons|quer)\b|\bexplications?\b|\bintuition\b|\bpour quelles? "
                    r"raisons?\b|\bpar quel(?:le)?s? (?:mecanisme|moyen|processus|voie|procede)s?\b"
                    r"|\bde quelle (?:maniere|facon)\b|\bd ou vien(?:t|nent) (?:la|le|les|l"
                    r"|cette)\b"
                    r"|\bgrace a quoi\b|\ba quoi (?:sert|servent|bon|correspond|ca sert)\b"
                    r"|\bsignifi(?:e|ent|cation|cations)\b|\bveu(?:t|lent) dire\b|\bentend "
                    r"on par\b|\bentend il par\b|\bentend elle par\b|\bqu entend\b",
                    r"\bcomment (?:.{0,60} )?(?:fonctionne|marche|marchent|fonctionnent|agit"
                    r"|agissent|influence|affecte|permet|aide|joue|se forme|se fait|evolue"
                    r"|nait|naissent|peut|peuvent|change|reagit|arrive|expliquer|devient"
                    r"|apprend|apprennent|empeche|protege|reconnait|se comporte|parvient|garde"
                    r"|produit|s organise|se propage)(?:nt)?\b",
                    r"\bcomment (?:un|une|le|la|les|l|des|est ce que|se|est|sont|s)\b(?! "
                    r"(?:appelle|nomme|prononce|ecrit))|\bcomment (?:\S+ ){1,8}?t (?:il|elle"
                    r"|on|ils|elles)\b|\bcomment (?:\w+(?:er|ir|re|oir)|(?:bien|mieux|faire) "
                    r"\w+)\b|\bcomment (?!(?:s |se |t )?(?:appell?e|nomme|prononce|ecrit|dit"
                    r"|traduit|epelle|va|allez))\w+(?:ent|e|t) (?:un|une|le|la|les|l|des|ces"
                    r"|ce|cette)\b|\bcomment (?:sont|est|etait|naissent|fait|faire|font)\b",
                    r"\b(?:principes?|notion|concept|idee|logique|theorie|mecanisme"
                    r"|philosophie) (?:de|du|des|d|derriere)\b|\bquel(?:le)? est (?:le|la|l) "
                    r"?(?:role|sens|but|interet|raison|lien|rapport|relation|principe|utilite"
                    r"|importance|logique|objectif|fonction) (?:de|du|des|d|entre|pour"
                    r"|derriere)\b|\ben quel sens\b|\bqu ?est ce qui (?:cause|provoque"
                    r"|explique|fait|rend|pousse|permet|empeche)\b|\bla raison (?:de|pour)\b"
                    r"|\bque se passe t il (?:si|quand|lorsque)\b|\bque (?:signifie|represente"
                    r"|veut)\b|\bc est quoi l (?:idee|interet)\b|\ben quoi\b",
                ),
            ),
        ),
    }
)  # fmt: skip
"""The first rule that matches gives the type; factual where none does."""

LONGEST_HEAD, LONGEST_TAIL = 160, 240
"""Characters at the beginning and at the end of a long question that tell its type."""
_SEPARATORS = re.compile(rf"[^\w{HIDDEN}]+")


def classify_intent(text: str, *, language: str, vector: Matrix | None = None) -> QueryKind:
    """Return the type of a question; ``text`` is folded, with named titles hidden.

    ``vector`` is the question's embedding by the default embedder, where there is one.
    """
    folded = text
    words = _SEPARATORS.sub(" ", folded).strip()
    if len(words) > LONGEST_HEAD + LONGEST_TAIL:
        words = f"{words[:LONGEST_HEAD]} {words[-LONGEST_TAIL:]}"
    rules = (
        RULES[language] if language in RULES else tuple(r for each in RULES.values() for r in each)
    )
    found = next((kind for kind, pattern in rules if pattern.search(words)), None)
    return found or elsewhere.classify_other_language(words) or "factual"
