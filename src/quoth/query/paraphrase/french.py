"""French: phrases and what they come to, and words that stand for each other."""

SAYINGS = r"""
    ^(?:(?:bonjour|salut|stp|svp|merci de|s il (?:te|vous) plait|excusez moi|alors) )+ >
    s il (?:te|vous) plait >
    (?:peux tu|pouvez vous|pourrais tu|pourriez vous|tu peux|vous pouvez)(?: m| me| nous)? (?=
        (?:dire|expliquer|donner|indiquer|decrire|resumer|montrer|parler)) >
    (?:que|qu est ce que) (?:peux tu|pouvez vous|pourrais tu) (?:me |m )?dire (?:sur|de|des|du|
        d) > TELL
    (?:je (?:voudrais|veux|souhaite|souhaiterais|aimerais)|j aimerais) (?:savoir|connaitre|
        comprendre)(?: si)? > TELL
    (?:sais tu|savez vous|je me demande)(?: si)? > TELL
    (?:dis|dites|dire|donner|donne|donnez|indiquer|indique|indiquez|fais|faire)
        (?: moi| nous| m| me)? (?=(?:le|la|les|l|un|une|des|si|comment|pourquoi|quand|ou|qui|
        quel|ce)) > TELL
    (?:parle|parlez|parler)(?: moi| nous| m)? (?:de|des|du|d|sur) > TELL
    (?:pour|a cause de) (?:quelle|quelles) (?:raison|raisons|cause) > WHY
    quelles? (?:est|sont|etait|furent) (?:la|les|l) (?:raison|raisons|cause|causes|
        origine) (?:de|des|du|d|pour laquelle|pour lesquelles) > WHY
    qu est ce qui (?:rend|cause|provoque|explique) > WHY
    pourquoi > WHY
    (?:de|d) (?:quelle|quelles) (?:facon|maniere|facons|manieres) > HOW
    par quels? (?:moyen|moyens|procede) > HOW
    quelles? (?:est|sont) (?:la|les|le|l) (?:procedure|marche a suivre|demarche|etapes?|methode|
        maniere|facon|meilleure facon|meilleure maniere|moyen|meilleur moyen)
        (?: a suivre)? (?:pour|de|d) > HOW
    (?:que|qu) (?:faut il|dois je|doit on|puis je|peut on) faire (?:pour) > HOW
    (?:que|qu) faire (?:pour) > HOW
    (?:que|qu) (?:faut il|dois je|doit on|puis je|peut on)?(?: )?faire
        (?: si| quand| lorsque| lorsqu| en cas de)? > HOW react
    comment (?:fonctionne|marche|fonctionnent|marchent)(?: t (?:il|
        elle))? (.+)$ > EXPLAIN HOW \1
    comment (.+?)(?<! de) (?:fonctionne|marche|fonctionnent|marchent)(?: t (?:il|
        elle)s?)?$ > EXPLAIN HOW \1
    (?:expliquer|explique|expliquez|decrire|decris|decrivez)(?: moi| nous)? (?=(?:comment|
        pourquoi|ce que|ce qu|quand|ou|qui)) > TELL
    (?:expliquer|explique|expliquez|decrire|decris|decrivez)(?: moi| nous)? > EXPLAIN
    ce qu est > WHAT
    comment s appel(?:le|ait|lent)(?: t)? > WHAT titre
    comment faire pour > HOW
    comment > HOW
    (?:pendant |depuis )?combien de temps(?: dure
        (?:nt)?| faut il pour| cela prend)? > WHAT duree
    quelle est la duree(?: de vie)?(?: de)? > WHAT duree
    (?:combien|que) cout(?:e|ent|ait)(?: t (?:il|elle))?s? > WHAT cout
    quels? (?:est|sont|etait) (?:le|les) (?:prix|cout|couts|tarif|tarifs)(?: de)? > WHAT cout
    combien mesure|quelle (?:est la )?(?:hauteur|taille)(?: de)? > WHAT hauteur
    (?:a |de )?combien (?:de|d) > WHAT nombre
    quel est le nombre (?:de|d) > WHAT nombre
    combien > WHAT nombre
    (?:a )?quelle frequence > WHAT frequence
    (?:a )?quelle heure > WHEN TIME
    (?:en )?quelle annee > WHEN YEAR
    (?:a )?quelle date > WHEN DATE
    quel jour > WHEN DAY
    (?:en )?quel mois > WHEN MONTH
    a quel moment > WHEN
    s occupe(?:nt)? de > est responsable de
    en quoi (.+) (?:differe(?:nt)?)(?: t (?:il|elle)s?)? > WHAT difference \1
    quels? (\w+) (.+) (?:presente|a|ont|offre|presentent|offrent)(?: t (?:il|
        elle)s?)$ > WHAT \1 \2
    dans quels? cas > WHEN
    quand (?:est ce que|est ce qu) > WHEN
    quand > WHEN
    (?:a|dans|en) (?:quel|quelle|quels|quelles) (?:endroit|lieu|place|ville|pays|endroits|
        lieux) > WHERE
    quel est le lieu (?:de|d) naissance (?:de|d) > WHERE ne
    d ou vien(?:t|nent)|quelle est la provenance (?:de|des|du|d) > WHAT provenance
    ouu > WHERE
    ou (?=(?:est|sont|se|puis|peut|trouve|trouver|peux|dois|doit|a|as|ai|etait|faut)) > WHERE
    (?:par )?quelles? personnes? > WHO PERSON
    (?:par )?quelles? (?:entreprises?|societe|compagnie) > WHO COMPANY
    par qui > WHO
    ^qui (?:est|etait) l auteur (?:de|d|du|des) > WHO ecrire
    ^qui (?:est|etait) le (?:fondateur|createur) (?:de|d|du|des) > WHO fonder
    ^qui (?:a|ont|est ce qui) > WHO
    ^qui > WHO
    (?:de quoi (?:parle|traite|est il question dans)|quel est le (?:sujet|theme) (?:de|du|
        d)) > WHAT sujet
    (?:a quoi ser(?:t|vent)|quelle est l utilite (?:de|d|du|des)|quel est le (?:role|but) (?:de|
        d|du|des)|que fait|que font) > WHAT utilite
    (?:que|qu) (?:signifi(?:e|ent)|veut dire|veulent dire)|quel est le sens (?:de|d|du)|
        quelle est la (?:signification|definition) (?:de|d|du) > WHAT
    (?:definis|definir|definissez|cite|citer|citez|nomme|nommer|donne|donner|donnez) > WHAT
    quelles? (?:sortes?|types?) (?:de|d) > WHAT
    (?:un |le |la |une )?(?:resume|resumer|resumez|synthese|apercu)(?: (?:de|du|des|
        d))? > SUMMARY
    (?:comparer|compare|comparez) > COMPARE
    (?:est il|serait il) possible (?:de|d)|(?:peut on|puis je|est ce que je peux|
        est ce qu on peut|a t on le droit (?:de|d)|ai je le droit (?:de|d)) > YES pouvoir
    (?:faut il|dois je|doit on|est il (?:necessaire|obligatoire)(?: de| d)?|est ce qu il faut|
        ai je besoin (?:de|d|du|des)|est ce que je dois) > YES devoir
    (?<!quand )est ce (?:que|qu|qui) > YES
    c est quoi|qu est ce (?:que|qu) (?:c est(?: que)?)?|quel(?:le)?s? (?:est|sont) (?:la|le|les|
        l) definitions? > WHAT
    qu est ce qu(?:i|e)? > WHAT
    (?:de |a |en |sur |pour |dans |par |avec )?(?:que|qu|quoi|quel|quelle|quels|quelles)
        (?= ) > WHAT
    (?:prendre|prend|prit|pris) fin > finir
    a la suite (?:de|d) > apres
    (?:se passe|se passait|s est passe|arrive)(?: t il)?(?! a) > arriver
    les? points? de > point
"""
"""One to a line, applied from top to bottom; a line that is indented further goes on."""

GROUPS = """
    acheter achete achetes achat racheter rachete acquerir acquis acquiert; commencer commence
    debuter debute demarrer demarre; finir fini finit terminer termine terminee achever acheve;
    creer cree creee construire construit produire produit fabriquer fabrique fabrication;
    supprimer supprime suppression effacer efface; changer change modifier modifie; choisir
    choisit choisi selectionner selectionne; utiliser utilise utilisees utilises utilisee employer
    emploie; gagner gagne remporter remporte; fonder fonde fondateur; ecrire ecrit auteur rediger
    redige; avantage avantages benefice benefices atout atouts; inconvenient inconvenients
    desavantage desavantages; probleme problemes difficulte difficultes; erreur erreurs; voiture
    voitures automobile automobiles; rapide vite rapidement; difficile dur complique; facile
    simple; recommander recommande recommandes recommandees conseiller conseille; empecher eviter
    evite prevenir; augmenter augmente accroitre; diminuer diminue reduire reduit baisser; envoyer
    envoie expedier expedie; recevoir recu obtenir; devoir besoin necessaire obligatoire requis
    faut; pouvoir droit possible permis autorise autorises autorisee admis admise; calculer
    calcule calcul; conserver conserves conserve garder gardez garde stocker stocke; rembourser
    remboursement rembourse; annuler annule annulation resilier resiliation; contacter joindre
    contact; entreprise societe compagnie; sujet theme; parler parle parlent traiter traite
    traitent; rester reste maintenu maintenir maintient; remplacer remplacee remplaces; appliquer
    application; presentation presentations expose exposes; avis opinion pense penser; dire dit
    propos; couvrir couvre couverts couvert couverte; decouvrir decouvert decouverte; equilibre
    equilibree equilibrer; difference differences differer different differe; installer
    installe installation; reporter reportee reporte report; collecter collectees collectez
    collecte; payer paye paie paiement; perdre perdu perds perte; voler vole volee vol; repeter
    repete; organiser organise organisee; titre nom intitule; reutiliser reutilise; masquer
    masque; remplacer remplace; virement virements; retrait retraits retirer; image images photo
    photos; maladie maladies; medecin docteur; employe employes salarie salaries; vacances conges;
    email courriel mail; resultat resultats; effet effets impact consequence consequences;
    caracteristique caracteristiques propriete proprietes; etape etapes phase phases; methode
    methodes technique techniques approche approches; but objectif objectifs buts; habiter habite
    vivre vit; mourir mort decede decedee deces; naitre ne nee naissance; inventer invente
    inventeur; diriger dirige dirigeant; repondre reponse reponses; aider aide; essayer tenter;
    verifier valider; activer active activation; inscrire inscription; connecter connexion;
    afficher montrer montre affiche; cher couteux; celebre connu; enregistrer enregistrement;
    ouvrir ouvre ouverture ouvert; fermer ferme fermeture; entrainer entraine entrainement;
    traduire traduit traduction; expliquer explique explication; proteger protege protection;
    publier publie publication; vendre vend vente; risque risques danger dangers; ville cite;
    enfant enfants; regle regles reglement; client clients; etudier etudie etude; transferer
    transfert; garantie garanties; telephone portable mobile smartphone; livraison livrer livre;
    sorte sortes type types
"""
"""Words of which any may stand for any other in a question."""
