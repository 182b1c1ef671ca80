"""The wordings by which questions compare, in English and French, folded and without marks."""

from __future__ import annotations

BETTER = (
    r"(?:better|worse|faster|slower|cheaper|safer|easier|harder|simpler|larger|smaller|bigger"
    r"|stronger|weaker|greater|higher|lower|older|newer|heavier|lighter|longer|shorter|quicker"
    r"|warmer|cleaner|stricter|healthier|cooler|denser|richer|tougher|milder|taller|wider)"
)
_NOT_WORDS = (
    r"(?!(?:which|what|who|whom|whose|how|when|where|why|is|are|was|were|do|does|did|can|could"
    r"|should|would|will|has|have|tell|explain|give|list|show|find|name|describe|page|pages|chapter"
    r"|in|on|at|any|whether|either|if|que|qui|quoi|quel|quelle|quels|quelles|comment|pourquoi"
    r"|combien|quand|ou|est|sont|a|y|faut|peut|peux|donne|montre|trouve|dans|par|pour|d|jusqu"
    r"|chapitre|les|des|il|elle|on|je|nous|vous)\b)"
)
_FEW = r"\w+(?: \w+){0,4}"
_FIGHTS = (
    r"(?!.*\b(?:vaccine?s?|vaccins?|lutte\w*|lutter|fight\w*|wars?|guerres?|combats?|protect\w*"
    r"|protection\w*|remedes?|traitements?|medicaments?|arguments?|argue\w*|defen[sc]es?|crimes?"
    r"|assurances?|insurance|cases?|mesures?|measures?|plaintes?|complaints?|manifest\w*|protests?"
    r"|prevention|garanties?|resist\w*|attaques?|attacks?|violences?|advice|evidence|rules?"
    r"|discrimination|alliances?|sanctions?|votes?|voted?)\b)"
)
"""What one does against a thing without comparing it with another."""
_KINSHIP = (
    r"(?:differences?|disagreements?|divergences?|similarit(?:y|ies)|distinctions?|contrasts?"
    r"|parallels?|ressemblances?"
    r"|similitudes?|contrastes?|paralleles?)"
)

_SAME = r"(?:the same|identical|equivalent|alike|similar|interchangeable|equal)"
_PAREIL = r"(?:identiques?|pareil(?:le)?s?|equivalente?s?|semblables?|similaires?|la meme chose)"

_AGREE = r"(?:(?:dis)?agrees?|diverges?|clash(?:es)?|see eye to eye|contradict each other)"
_D_ACCORD = (
    r"(?:(?:en|d) (?:des)?accord|divergent|se contredisent|s accordent|s opposent|s entendent)"
)

EN = (
    r"\b(?:put|set|place|lay|show|look at|compare|see) .{1,80} side by side\b",
    rf"\b(?:where|what|how|why|when|do|does|did|have) .{{1,60}} and .{{1,60}} {_AGREE}\b"
    rf"|^(?:do|does|did|would|where|why|how) .{{1,60}} {_AGREE} with (?!the\b|that\b|this\b|it\b)",
    r"^(?:do|does|did|is|are|can) .{1,60} (?:more|less) than (?:the )?(?!\d|(?:an?|one|two|three"
    r"|four"
    r"|five|six|seven|eight|nine|ten|twenty|hundreds?|thousands?"
    r"|half|any|all|ever|it|that|this|what|you|we|before|usual|once|just|necessary|expected)\b)\w+",
    r"\b(?:versus|vs)\b(?! ?code\b)",
    r"{ask}(?:compare|contrast|juxtapose|differentiate|distinguish)\b(?! (?:function|method"
    r"|operator|and swap|agents?))",
    r"\b(?:compares?|compared|comparing) (?:to|with|against|it|the|their|both|these|those)\b",
    r"\b(?:how|do|does|did) .{1,80} compare\b(?! (?:function|method|operator))",
    r"\bcomparisons? (?:of|between|with)\b|\bcompare and contrast\b|\bcompare "
    r"(?!function|method|operator|and swap|instruction|tool|command)\w+(?: \w+){0,6} "
    r"(?:and|with|to|against) ",
    rf"\b{_KINSHIP}(?: (?:and|or) {_KINSHIP})? (?:between|among)\b|\b(?:differences|similarities"
    rf"|{_KINSHIP} (?:and|or) {_KINSHIP}) (?:of|in) .{{1,60}} and\b|\bdistinguish(?:es)? "
    r".{1,60} from\b|\bsimilarit(?:y|ies) of\b",
    r"\bdifferences? [^?]{1,60} between\b|\bdo(?:es)? .{1,60} differ\b|\bdifferences? from\b"
    r"|\bthe (?:main |key |real )?differences? (?:of|in) .{1,60} and\b|\bdiffer(?:s|ed)? (?:from"
    r"|in)\b|\b(?:how|where|in what|why) .{0,20}(?:do|does|did) .{1,80} differ\b|\bdifferent "
    r"from\b|\bwhat s? ?(?:is |are )?(?:the )?differences?$|\b(?:tell|sets?|keeps?) .{1,40} "
    r"apart\b",
    rf"\b(?:{BETTER}(?: \w+){{0,3}}|(?:more|less) \w+(?: \w+){{0,2}}|rather|fewer) than\b(?! (?:\d"
    rf"|one\b|two\b|three\b|ten\b"
    r"|half\b|usual|normal|in\b|on\b|at\b|before|ever|expected|average|necessary|needed|light\b"
    r"|a (?:day|week|year|month|hour|minute|hundred|thousand)))",
    rf"^(?:is|are|was|were|do|does) .{{1,60}} and .{{1,60}} {_SAME}\b|\b(?:is|are) .{{1,60}} "
    r"(?:the same|identical|equivalent|similar) (?:as|to|thing as)\b|\b(?:is|are) .{1,60} unlike\b"
    r"|\bwhat differs\b|\bwhat (?:separates|differentiates) .{1,60} (?:from|and)\b",
    rf"\bwhich (?:one )?\w+ (?:\w+ )?(?:{BETTER}|more|less) .{{1,60}} or |\bwhich (?:one )?(?:is"
    rf"|are|was|were"
    rf"|\w+s)"
    r" (?:the )?(?:\w{2,}est|more|most|less|least) .{1,60} or ",
    r"\b(?:superior|inferior|preferable) to (?!\d|all\b|any\b)",
    r"^(?:is|are|was|were|does|do|did|can) .{1,60} as (?!(?:well|soon|long|far|much|many|a|an|the"
    r"|if|for|to|in|of)\b)\w+ as (?!possible|it\b|i\b|you\b|we\b|they\b|he\b|she\b|\d|before|ever"
    r"|usual|needed|expected|claimed)",
    r"\b(?:weigh|pit|set|put|measure|stack|hold) .{1,60} (?:up )?against\b|\b(?:stacks?|measures?"
    r"|holds?|fares?) up (?:to|against)\b|\bfares? against\b",
    rf"\bwhich (?:one )?(?:of .{{1,80}} )?(?:is|are|was|were|works|performs|runs|has|costs"
    rf"|should i (?:use|choose|pick)) (?:the )?(?:{BETTER}|best|more \w+|most \w+|fastest"
    r"|cheapest)\b.{0,60}\bor\b",
    rf"\bwhich (?:of the two|of these two|of them|one) .{{0,40}}{BETTER}\b|\bwhich (?:is|are"
    rf"|works|performs) {BETTER}\b",
    rf"^(?:between {_FEW} and|{_NOT_WORDS}{_FEW} or) {_FEW} (?:which|what) (?:one |of |is |are "
    rf"|works|runs|should|would|do|does|\w+ {BETTER})",
    rf"^{_NOT_WORDS}{_FEW} or {_FEW} which\b",
    rf"^{_NOT_WORDS}\w{{3,}}(?: \w+)? or \w{{3,}}(?: \w+)?(?: for .+)?$",
    rf"^{_NOT_WORDS}{_FIGHTS}\w+ against \w+(?: (?:on|for|in|with|as|when) .+)?$",
    r"\b(?:should|would) (?:i|we|one|you) (?:use|choose|prefer|pick|take|buy|get) .{1,60} (?:or"
    r"|over) ",
    r"\badvantages? of .{1,60} over\b|\bprefer .{1,60} (?:over|to)\b|\bin common\b"
    r"|\bas opposed to\b|\btrade ?offs? between\b|\b(?:pros and cons|strengths and weaknesses"
    r"|advantages and (?:disadvantages|drawbacks)) of .{1,60} and\b",
)
"""Searched in this order; ``{ask}`` stands for what may lead an order."""

FR = (
    r"\b(?:mets|mettez|mettre|mettons|place[rz]?|pose[rz]?) .{0,80}cote a cote\b",
    rf" et .{{1,60}} {_D_ACCORD}\b|\b(?:est|serait) (?:il|elle) d accord avec (?!ca\b|cela\b)"
    r"|\b(?:desaccords?|divergences?) (?:d opinions? |de vues? )?entre\b",
    rf"^(?:les? |la |l |une? )?{_NOT_WORDS}\w+(?: \w+){{0,3}}? face (?:a|au|aux) "
    r"|\b(?:va(?:ut|lent)|positionne(?:nt)?|sort(?:ent)?|defend(?:ent)?|comporte(?:nt)?"
    r"|points? (?:forts?|faibles?)|forces|faiblesses|atouts|avantages|inconvenients|limites)\b"
    r".{0,80} face (?:a|au|aux) ",
    r"\b(?:plus|moins|autant|davantage) (?:de|d) \w+(?: \w+){0,3}? que? (?:d |de |des |du )?"
    r"(?:les?|la|l|une?|son|sa|ce|cette)\b|\b(?:plus|moins|autant|davantage) que (?:les?|la|l"
    r"|une?)\b(?! (?:prevu|moyenne|normale?)\b)",
    r"^qui (?:de|d) .{1,60} ou (?:de |d )?.{1,60}(?:plus|moins|mieux|meilleur)",
    r"\b(?:points? (?:forts?|faibles?)|forces|faiblesses|atouts) (?:de|du|des|d) .{1,60}"
    r" (?:et|par rapport|contre) ",
    r"\b(?:versus|vs)\b(?! ?code\b)",
    r"(?:^|\b(?:peux|peut|pourrais|pouvez|pourriez|faut il|veux|voudrais|pour) (?:tu |vous |on "
    r"|me |nous )*)compare[rz]?\b(?! (?:la|le) fonction)|\bcompar(?:ez|ons)\b|^compare\b"
    r"|\bcompare(?:e?s?)? (?:a|au|aux|avec|les?|la|l)\b",
    r"{ask}(?:oppose[rz]?|opposons|confronte[rz]?|confrontons|juxtapose[rz]?|distingue[rz]?"
    r"|distinguons|differencie[rz]?|departage[rz]?)\b|\b(?:mets?|mettez|mettre|mettons) "
    r"(?:\w+ )?en (?:parallele|regard|balance|opposition)\b",
    r"\bcomparaisons? (?:entre|de|des|du|avec)\b|\bse comparent?\b|\bcomparent?\b"
    r"|\bcomparativement\b|\bpoints? communs?\b|\bressemblances?\b|\bsimilitudes?\b"
    r"|\b(?:en|de) commun\b|\bque partagent .{1,60} et\b",
    r"\bdifferences? [^?]{1,60} entre\b|\bdifferences? (?:entre|avec|y a|par rapport|des? "
    r".{1,60} (?:et|avec))\b|\b(?:differencie|distingue|oppose|separe|rapproche)(?:nt|r)? "
    r".{1,60}(?: de | du | des | d | et )|\bdiffer(?:e|ent)\b|\ben quoi .{1,80} differente?s?\b"
    r"|\bquelles? (?:est la |sont les )?differences?$|\bdifferente?s? (?:de|du|des) (?:la|l"
    r"|celle|celui|ce)\b",
    r"\ben quoi .{1,60} s oppose(?:nt)?\b|\bpreferer .{1,60} (?:a|au|aux) |\b(?:mieux|meilleure?s?"
    r"|(?:plus|moins) \w+) (?:pour|en|dans"
    r"|a|au)"
    r" (?:\w+ ){1,3}qu(?:e|un|une)? (?:le|la|les|l|un|une|des|celui|celle)\b",
    r"\bpar rapport (?:a|au|aux)\b|\bplutot qu(?:e|un|une)?\b(?! prevu)|\b(?:mieux|meilleure?s?"
    r"|pire|(?:plus"
    r"|moins) (?!de\b|d\b|en\b|tard\b|tot\b)\w+) qu(?:e|un|une)?\b(?! (?:jamais|prevu|d habitude"
    r"|\d))",
    rf"\b(?:sont|est) (?:ils|elles|il|elle|ce) (?:\w+ )?{_PAREIL}\b(?! de)|\b{_PAREIL} (?:a|au|aux"
    r"|que|qu)\b",
    r"\b(?:preferables?|superieure?s?|inferieure?s?) (?:a|au|aux) (?!\d|un seuil|zero|toute?s?\b)"
    r"|\b(?:il|elle|ils|elles|ce) (?:\w+ ){0,2}aussi (?!longtemps|souvent|peu|bien)\w+ qu(?:e|un"
    r"|une)?\b(?! (?:possible|prevu|\d))",
    r"\b(?:lequel|laquelle|lesquels|lesquelles) .{0,60}(?:mieux|meilleure?s?|plus|moins|choisir"
    r"|preferer)\b|\b(?:avantages?|inconvenients?) .{1,60} (?:sur|par rapport)\b|\b(?:vaut il "
    r"mieux|faut il (?:choisir|preferer|utiliser)) .{1,60} ou\b|\bqui .{1,30}(?:plus|moins"
    r"|mieux) .{1,60} ou\b|\b(?:avantages et (?:les )?inconvenients|forces et (?:les )?faiblesses)"
    r" (?:de|du|des|d) .{1,60} et\b",
    rf"^(?:entre )?{_NOT_WORDS}{_FEW}(?: \w+)? (?:ou|et) {_FEW}(?: \w+)? (?:lequel|laquelle|que"
    r"|quoi|quel|quelle) (?:\w+ ){0,3}?(?:choisir|prendre|preferer|utiliser|plus|moins|mieux"
    r"|meilleure?|retenir|gagne)",
    rf"^{_NOT_WORDS}\w{{3,}}(?: d \w+)? ou \w{{3,}}(?: d \w+)?(?: (?:pour|chez|sur) .+)?$",
    rf"^{_NOT_WORDS}{_FIGHTS}(?:l |le |la )?\w+ contre (?:l |le |la )?\w+(?: (?:sur|pour|dans|en"
    r"|chez|quand) .+)?$",
)
"""Searched in this order; ``{ask}`` stands for what may lead an order."""
