"""Questions of everyday life that few collections answer: how a collection looks when it cannot.

A collection on one of these subjects answers some of them; `quoth tune` therefore bounds how many
may reach the threshold instead of demanding none.
"""

from __future__ import annotations

EVERYDAY: tuple[tuple[str, str], ...] = tuple(
    (language, line.strip())
    for language, block in {
        "en": """
        How long should I boil an egg so that the yolk stays soft?
        What is the cheapest way to send a parcel to Norway?
        Can I grow tomatoes on a balcony that faces north?
        Why does my bicycle chain keep slipping off?
        Which vaccinations does a puppy need in its first year?
        How do I get red wine stains out of a wool carpet?
        When do the shops close on Christmas Eve?
        How many players are on a volleyball team?
        What should I wear to a wedding in the garden?
        Is it safe to take ibuprofen together with cough syrup?
        How do I reset the clock on my oven after a power cut?
        Who won the figure skating medal last winter?
        What time does the last tram leave the main station?
        How do I fold a fitted bed sheet?
        Which knot holds best when tying a boat to a pier?
        How often do I have to water a cactus?
        What is a fair tip in a restaurant in Lisbon?
        Can rabbits eat carrots every day?
        How do I remove a broken key from the front door?
        Where can I renew my fishing licence?
        Why is my sourdough bread so dense?
        How much paint do I need for a bedroom ceiling?
        What are the rules for overtaking a school bus?
        How do I stop my neighbour's dog from barking at night?
        Which size of ski boots should a beginner rent?
        Can I cancel my gym membership during the summer?
        What is the best age for a child to learn to swim?
        How do I descale an espresso machine with vinegar?
        Is there a train from Vienna to Venice at night?
        How do I get a refund for a cancelled concert?
        What makes hens stop laying eggs in winter?
        How tall is the tallest roller coaster in Japan?
        Which herbs go well with roast lamb?
        How do I check the tyre pressure of a rental car?
        Do I need a visa for a weekend in Morocco?
        What is the offside rule in simple words?
        How do I polish old silver spoons at home?
        Why do my ears hurt when the plane lands?
        How do I knit a scarf with a cable pattern?
        What is a good present for a retiring teacher?
        How long does a passport photo stay valid?
        Which side of the plate does the fork go on?
        How do I get rid of ants in the kitchen?
        Can I park here on Sundays without a ticket?
        What do I do when my credit card is swallowed by the machine?
        How do I tune a ukulele without a tuner?
        When is the best month to see whales near Iceland?
        How do I train for my first half marathon?
        What is the difference between jam and marmalade?
        How do I bleed a radiator that stays cold at the top?
        """,
        "fr": """
        Combien de temps faut-il pour cuire un œuf à la coque ?
        Comment enlever une tache de vin rouge sur un tapis en laine ?
        À quelle heure part le dernier tramway pour la gare ?
        Peut-on faire pousser des tomates sur un balcon au nord ?
        Pourquoi la chaîne de mon vélo saute-t-elle sans arrêt ?
        Quels vaccins faut-il pour un chiot de trois mois ?
        Combien de joueurs y a-t-il dans une équipe de handball ?
        Que porter à un mariage à la campagne en automne ?
        Comment régler l'heure du four après une coupure de courant ?
        Qui a gagné l'étape de montagne du Tour cette année ?
        Comment plier un drap-housse sans faire de plis ?
        À quelle fréquence faut-il arroser un cactus ?
        Quel pourboire laisser dans un restaurant à New York ?
        Comment sortir une clé cassée de la serrure ?
        Où renouveler mon permis de pêche ?
        Pourquoi mon pain au levain ne lève-t-il pas ?
        Combien de peinture faut-il pour le plafond d'une chambre ?
        Comment empêcher le chien du voisin d'aboyer la nuit ?
        Quelle taille de chaussures de ski louer pour un débutant ?
        Puis-je suspendre mon abonnement à la salle de sport ?
        À partir de quel âge un enfant peut-il apprendre à nager ?
        Comment détartrer une machine à café avec du vinaigre ?
        Y a-t-il un train de nuit entre Paris et Vienne ?
        Comment se faire rembourser un concert annulé ?
        Pourquoi les poules pondent-elles moins en hiver ?
        Quelles herbes vont bien avec un gigot d'agneau ?
        Comment vérifier la pression des pneus d'une voiture de location ?
        Faut-il un visa pour passer un week-end à Marrakech ?
        Comment expliquer simplement la règle du hors-jeu ?
        Comment nettoyer de vieilles cuillères en argent ?
        Pourquoi a-t-on mal aux oreilles quand l'avion descend ?
        Comment tricoter une écharpe avec des torsades ?
        Quel cadeau offrir à une institutrice qui part à la retraite ?
        De quel côté de l'assiette place-t-on la fourchette ?
        Comment se débarrasser des fourmis dans la cuisine ?
        Peut-on se garer ici le dimanche sans payer ?
        Que faire quand le distributeur avale ma carte bancaire ?
        Comment accorder une guitare sans accordeur ?
        Quelle est la meilleure saison pour voir les baleines au Québec ?
        Comment s'entraîner pour un premier semi-marathon ?
        Quelle est la différence entre la confiture et la gelée ?
        Comment purger un radiateur qui reste froid en haut ?
        Combien coûte l'envoi d'un colis de cinq kilos en Suède ?
        Comment réussir une mayonnaise qui ne tourne pas ?
        Quel nœud choisir pour amarrer un petit bateau ?
        Les lapins peuvent-ils manger des carottes tous les jours ?
        Quelle est la date limite pour planter les tulipes ?
        Comment recoller la semelle d'une chaussure de marche ?
        Quand ferment les magasins la veille de Noël ?
        Quel vin servir avec une raclette ?
        """,
    }.items()
    for line in block.strip().splitlines()
)
"""Language and wording, fifty in each language."""
