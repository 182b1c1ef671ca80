"""The words by which questions speak of sources: what they are called, what people do in them."""

from __future__ import annotations

SINGULAR = (
    r"(?:talk|presentation|lecture|keynote|session|video|webinar|course|speech|workshop|podcast"
    r"|episode|interview|book|paper|article|report|document|novel|thesis|guide|handbook|manual"
    r"|tutorial|textbook|course book|slide deck|deck|essay|memo|policy|recording|panel"
    r"|expose|conference|intervention|seance|cours|atelier|entretien|livre|ouvrage|rapport"
    r"|memoire|these|roman|bouquin|polycopie|poly|fascicule|brochure|livret|billet|emission"
    r"|leaflet|booklet|pamphlet|white ?paper|primer|handout|screencast|manuel|tutoriel"
    r"|enregistrement|causerie|essai|vortrag|buch|charla|libro)"
)
"""One source, folded, in either language."""
PLURAL = (
    r"(?:talks|presentations|lectures|keynotes|sessions|videos|webinars|courses|speeches|workshops"
    r"|podcasts|episodes|interviews|books|papers|articles|reports|documents|novels|theses|guides"
    r"|handbooks|manuals|tutorials|textbooks|decks|slides|sources|recordings|materials?|files|texts"
    r"|exposes|conferences|interventions|seances|cours|ateliers|entretiens|livres|ouvrages"
    r"|bouquins|polycopies|brochures|livrets|billets|emissions|booklets|white ?papers|handouts"
    r"|rapports|memoires|romans|manuels|tutoriels|enregistrements|fichiers|textes)"
)
SOURCE = rf"(?:{SINGULAR}|{PLURAL})"

SAYS = (
    r"(?:says?|said|thinks?|thought|mentions?|mentioned|explains?|explained|argues?|argued"
    r"|recommends?|recommended|claims?|claimed|suggests?|suggested|describes?|described"
    r"|presents?|presented|talks? about|talked about|speaks? about|discuss(?:es|ed)?"
    r"|defines?|defined|proposes?|proposed|warns?|warned|advises?|advised|tells?|told|shows?|showed"
    r"|demonstrates?|demonstrated|states?|stated|believes?|believed|answers?|answered|reply|replied"
    r"|replies|give as|gave as|gives as|call|calls|called|compares?|compared|cites?|cited|quotes?"
    r"|quoted|covers?|covered|points? out|insists?|criticises?|criticizes?|report(?:s|ed)?"
    r"|conclude[sd]?|concede[sd]?|admit(?:s|ted)?|promise[sd]?|brings? up|brought up|touch(?:es"
    r"|ed)? on|advocate[sd]?|emphasi[sz]e[sd]?"
    r"|stress(?:es|ed)|refers? to|referred to|reveal(?:s|ed)?|caution(?:s|ed)?|teach(?:es)?|taught)"
)
SAYS_FR = (
    r"(?:dit|disent|pense|pensent|explique|expliquent|affirme|affirment|parle|parlent|soutient"
    r"|propose|proposent|recommande|recommandent|evoque|evoquent|mentionne|mentionnent|conseille"
    r"|preconise|presente|decrit|definit|raconte|montre|critique|aborde|repond|suggere|annonce"
    r"|cite|defend|conclut|precise|estime|entend|appelle|compare|insiste|reproche|enseigne"
    r"|souligne|signale|rappelle|indique|prone"
    r"|deconseille|admet|reconnait|regrette|deplore|revient sur|insistent|soulignent|rappellent)"
)
"""What people do in sources, after their name or before it."""

ABOUT = (
    r"(?:(?:that (?:is|was) |which (?:is|was) )?(?:about|on|titled|called|entitled|named|covering"
    r"|regarding|concerning|devoted to|dedicated to|discussing)"
    r"|(?:qui (?:parle|traite|porte) )?(?:sur|a propos (?:de|du|des|d)|au sujet (?:de|du|des|d)"
    r"|autour (?:de|du|des|d)|consacree? (?:au|aux|a)|dediee? (?:au|aux|a)|intitulee?|appelee?"
    r"|nommee?|portant sur|qui (?:parle|traite) (?:de|du|des|d)|traitant (?:de|du|des|d)))"
)
"""What joins a source and its subject."""
