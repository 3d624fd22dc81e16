"""French."""

from backstory.distil.phrases.phrase import Phrase

TABLES: dict[str, tuple[Phrase, ...]] = {
    "user_choice": (
        Phrase(
            r"\b(?:utilis(?:e|ez|ons)|prenons|prends|gard(?:e|ez|ons)|restons|passons|partons sur|"
            r"on va utiliser|on garde|on prend|on part sur|j'ai décidé|on a décidé|plutôt)\b",
            "utilisons Postgres",
        ),
        Phrase(
            r"\b(?:revenons|on revient|reviens|retournons|repassons|on repasse) (?:à|au|aux|sur)\b"
            r"(?=.{2,400}\b(?:au lieu|plutôt|parce|car|puisqu|sinon))",
            "on revient à MySQL au lieu de Postgres",
        ),
    ),
    "assistant_choice": (
        Phrase(
            r"\b(?:j'ai (?:choisi|décidé|gardé|opté)|je (?:garde|choisis|prends|vais utiliser))\b",
            "j'ai choisi SQLite",
        ),
    ),
    "contrast": (Phrase(r"\b(?:au lieu d|plutôt qu|à la place|, pas)", "RS256 au lieu de HS256"),),
    "reason": (
        Phrase(
            r"\b(?:parce qu|car\b|puisqu|pour (?:éviter|que|garder|ne pas)|afin d|sinon|à cause d)",
            "parce que c'est plus simple",
        ),
    ),
    "tentative": (Phrase(r"\b(?:peut-être|pourrait|pourrions|devrions-nous|et si)\b", "peut-être Redis"),),
    "standing": (
        Phrase(
            r"\b(?:désormais|à partir de maintenant|dorénavant|toujours .{0,30}avant|ne .{1,20} jamais|"
            r"je préfère)",
            "désormais, réponds en français",
        ),
        Phrase(r"^(?:toujours|jamais)\b", "toujours lancer les tests"),
        Phrase(
            r"^(?:pas d|n'utilise|utilise|évite|mets|écris)[^?]{2,80}?[,;–—-]\s+(?:mais )?"
            r"(?:toujours|jamais)\b(?! (?:pas|la même|le même)\b)",
            "pas de tabulations, toujours des espaces",
        ),
    ),
    "opener": (
        Phrase(
            r"^(?:(?:oui|non|ok|bon|alors|et|mais|donc|d'accord|merci|parfait|en fait|pour (?:le )?\S+)\b"
            r"[\s,.:;!…-]+)+",
            "non, alors",
        ),
    ),
    "refusal": (Phrase(r"^(?:non|surtout pas|pas comme ça|arrête|oublie)\b", "non, pas d'ORM"),),
    "directive": (
        Phrase(
            r"^(?:utilis|prend|prenon|gard|rest|mets|mett|supprim|enlèv|remplac|renomm|laiss|fai[st]|"
            r"stock|pas d|"
            r"aucun|ne |n'|seulement|uniquement|il faut|on (?:doit|veut|garde|prend|met|utilise))",
            "pas de nouvelle dépendance",
        ),
    ),
    "chore": (
        Phrase(
            r"^(?:montre|regarde|vérifie|explique|lance|teste|cherche|lis|commite|"
            r"attends)\b",
            "montre le diff",
        ),
    ),
    "reversal": (
        Phrase(
            r"\b(?:oublie (?:ce que|le|la)|finalement|j'ai changé d'avis|en fin de compte)\b",
            "finalement SQLite",
        ),
    ),
    "time": (
        Phrase(
            r"\b(?:demain|plus tard|la prochaine fois|la semaine prochaine|lundi|pas (?:aujourd'hui|"
            r"maintenant))\b",
            "demain on ajoute l'index",
        ),
    ),
    "dated": (Phrase(r"\b(?:à demain|depuis lundi|ans plus tard|mois plus tard)\b", "à demain"),),
    "put_off": (
        Phrase(
            r"\b(?:n'oublie pas|rappelle-moi|il manque encore|il reste|reste à faire|on remet)\b",
            "il reste le PDF",
        ),
    ),
    "waiting": (
        Phrase(
            r"\b(?:je (?:vais )?demande(?:r|rai)?|doit (?:décider|valider)|j'attends|en attente de|"
            r"je te redis)\b",
            "le juridique doit valider",
        ),
    ),
    "next_heading": (
        Phrase(
            r"^(?:prochaines? étapes?|(?:ce qu'il )?reste à faire|à faire|étapes suivantes|en suspens)$",
            "Prochaines étapes",
        ),
    ),
    "next_sentence": (
        Phrase(
            r"\b(?:il reste à|reste à faire|pas encore|il faudra encore|prochaine étape|"
            r"ensuite il faudra)\b",
            "il reste à migrer",
        ),
    ),
    "filler": (Phrase(r"\b(?:autre chose|d'autres questions)\b", "Autre chose ?"),),
    "recommend": (
        Phrase(r"\b(?:je (?:recommande|propose|suggère)|ma recommandation)\b", "je recommande SQLite"),
    ),
    "approval": (
        Phrase(r"^\W*(?:(?:oui|d'accord|ça marche|parfait|vas-y|très bien)\W*){1,3}$", "oui, parfait"),
    ),
    "dissent": (
        Phrase(
            r"\b(?:ne (?:marche|fonctionne) (?:toujours )?pas|toujours (?:la même|pas)|même erreur|"
            r"annule)\b",
            "ça ne marche pas",
        ),
    ),
    "vain": (
        Phrase(
            r"\b(?:n'(?:a|ont) (?:pas (?:marché|suffi|aidé|fonctionné)|rien (?:changé|donné))|"
            r"ne suffi(?:t|sait) pas|sans succès|en vain|était une impasse)\b",
            "une valeur par défaut n'a pas suffi",
        ),
    ),
    "trouble": (
        Phrase(
            r"\b(?:erreur|plante|ne (?:marche|fonctionne) pas|cassé|échoue|bogue)\b",
            "le build échoue",
        ),
    ),
    "cause": (
        Phrase(
            r"\b(?:le problème (?:est|vient|était)|la cause|l'erreur vient|c'est dû)\b",
            "le problème est le verrou",
        ),
    ),
    "decision_heading": (Phrase(r"^(?:décisions?|choix)(?: \w+){0,2}$", "Décisions"),),
}

#: Words without which a table cannot match: looking for them first is what keeps distilling quick.
ANCHORS: dict[str, str] = {
    "assistant_choice": "j'ai |je ",
    "cause": "problème|cause|erreur|dû",
    "standing": "désormais|maintenant|dorénavant|toujours|jamais|préfère",
    "contrast": "au lieu d|plutôt qu|à la place|, pas",
    "reason": "parce qu|car|puisqu|pour |afin d|sinon|à cause d",
}
