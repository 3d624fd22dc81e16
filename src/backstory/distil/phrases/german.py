"""German."""

from backstory.distil.phrases.phrase import Phrase

TABLES: dict[str, tuple[Phrase, ...]] = {
    "user_choice": (
        Phrase(
            r"\b(?:wir|ich)\s+(?:nehmen|nehme|verwenden|verwende|benutzen|nutzen|bleiben|bleibe|"
            r"machen|lassen|behalten|entscheiden|möchten?|wollen|will)\b",
            "wir nehmen SQLite",
        ),
        Phrase(
            r"\b(?:nimm|verwende|benutze|nutze|lass uns|bleib(?:e|en)? bei|lieber)\b",
            "nimm lieber RS256",
        ),
        Phrase(
            r"\b(?:bleiben|nehmen|machen|lassen|behalten|verwenden|nutzen) wir\b(?!.{0,400}\?)",
            "dann bleiben wir bei CSV",
        ),
        Phrase(
            r"^(?:(?:ok(?:ay)?|gut|ja|nein|also|dann|bitte|doch|lieber|wieder|geh(?:en)?|wir|wechs(?:le|el|eln)|"
            r"lass uns)[,. ]+)*(?:zurück (?:zu|zum|zur|auf)|(?:doch|lieber) wieder)\b"
            r"(?=.{2,}\b(?:statt|weil|da|denn|sonst|damit)\b)",
            "zurück zu MySQL, weil der Betrieb kein Postgres will",
        ),
        Phrase(r"\b(?:entschieden|entscheidung)\b", "Entscheidung: keine ORM"),
    ),
    "assistant_choice": (
        Phrase(
            r"\bich (?:habe mich .{0,40}entschieden|nehme|verwende|bleibe|belasse|nutze|benutze)\b",
            "ich nehme SQLite",
        ),
    ),
    "contrast": (
        Phrase(
            r"\b(?:statt|anstatt|ohne|anstelle|(?:, )?nicht|lieber|sondern|und kein\w*)\b",
            "RS256 statt HS256",
        ),
    ),
    "reason": (
        Phrase(
            r"\b(?:weil|denn(?! \w+\?)|besteht darauf|verlangt|da (?:wir|es|das|die|der|sonst)|damit|"
            r"um .{2,60}? zu|wegen|sonst|deshalb)\b",
            "weil die Schlüssel rotieren",
        ),
    ),
    "tentative": (
        Phrase(
            r"\b(?:vielleicht|könnten? (?:wir|man)|sollten? (?:wir|ich)|falls|ob wir|eventuell|"
            r"möglicherweise)\b",
            "vielleicht nehmen wir Redis",
        ),
    ),
    "standing": (
        Phrase(r"\b(?:immer|niemals|nie)\b.{0,60}\b(?:bitte|erst|vor|ohne)\b", "immer erst testen"),
        Phrase(r"^(?:bitte )?(?:immer|nie(?:mals)?)\b", "bitte immer auf Deutsch antworten"),
        Phrase(
            r"^(?:(?:bitte|und|nein|ok)[, ]+)*(?:keine?n?|nicht|nie|nimm|verwende|benutze?|nutze?|schreib)\b"
            r"[^?]{2,80}?[,;–—-]\s+(?:sondern |bitte )*(?:immer|nie(?:mals)?)\b(?! (?:noch|wieder|mehr)\b)",
            "keine Tabs, immer Leerzeichen",
        ),
        Phrase(
            r"\b(?:ab jetzt|von jetzt an|künftig|in zukunft|bitte (?:kein|nicht|nie|immer)|ich bevorzuge|"
            r"ich möchte immer)",
            "ab jetzt keine Emojis",
        ),
    ),
    "opener": (
        Phrase(
            r"^(?:(?:ja|nein|nee|gut|ok(?:ay)?|also|dann|und|aber|bitte|super|alles klar|danke|passt|"
            r"hm+|doch|"
            r"für (?:die )?\S+|zu \d)\b[\s,.:;!…-]+)+",
            "nein, dann lieber so",
        ),
    ),
    "refusal": (Phrase(r"^(?:nein|nee|nö|auf keinen fall|falsch|stopp?|vergiss)\b", "nein, kein ORM"),),
    "directive": (
        Phrase(
            r"^(?:lieber |besser |immer |nur |bitte |erst |einfach )*(?:nimm|verwende|benutze?|nutze?|"
            r"bleib|lass|"
            r"mach|stell|leg|setz|wirf|entferne?|lösche?|ersetze?|nenne?|behalte?|pack|schreib|speicher|"
            r"nehmen wir|"
            r"erst|nur|lieber|besser|keine?n?|nicht|nie|ohne)\b",
            "keine neue Abhängigkeit",
        ),
        Phrase(
            r"^(?:.{2,40} )?(?:muss|müssen|soll|sollen|darf|dürfen|brauchen|brauche|wollen|möchte)\b",
            "das muss abbrechen",
        ),
        Phrase(
            r"^(?:(?:der|die|das) )?(?!legal|it|he|she|they|that|this)\w+ will (?:kein\w*|das|die|den|"
            r"ein\w*|nicht)\b",
            "Petra will kein ORM",
        ),
        Phrase(
            r"^(?:(?:der|die|das|unsere?|alle) )?[\w-]+ (?:bleibt|bleiben|bekommt|bekommen|wird|werden|"
            r"kommt|kommen|gehört|gehören) \w",
            "die Logs kommen nach stdout",
        ),
    ),
    "chore": (
        Phrase(
            r"^(?:bitte |dann |jetzt |mal )*(?:schau|zeig|prüf|check|erklär|such|lies|teste|committe|"
            r"pushe?|starte|"
            r"lass .{0,20}laufen|führ|warte|mach (?:mal )?weiter|gib|sag|schreib (?:mir |"
            r"einen? )?(?:test|doku|"
            r"zusammenfassung))\w*",
            "schau mal bitte",
        ),
        Phrase(r"^.{0,60}?\b(?:schau mal|fass .{0,20}nichts an|noch nichts ändern)\b", "schau mal"),
    ),
    "reversal": (
        Phrase(
            r"\b(?:vergiss|doch (?:lieber|wieder)|nun doch|anders überlegt|zurück zu)\b",
            "doch lieber SQLite",
        ),
    ),
    "time": (
        Phrase(
            r"\b(?:morgen|später|nächstes mal|nächste woche|beim nächsten mal|(?:am )?(?:montag|"
            r"dienstag|mittwoch|"
            r"donnerstag|freitag)|heute nicht|nicht heute|nicht mehr heute|ein andermal)\b",
            "morgen kommt der Index",
        ),
    ),
    "dated": (
        Phrase(
            r"\b(?:bis (?:morgen|dann|später)|(?:seit|ab) (?:morgen|montag|freitag)|guten morgen|"
            r"sehen uns|jahre später)\b",
            "seit Montag",
        ),
        Phrase(
            r"^(?!(?:das|dies|es|wir|ich|den rest|morgen|später|dann|nächste\w*)\b)(?:(?:der|die|das|"
            r"unser\w*|\w+) )?[\w-]+ (?:ist|sind|kommt|kommen|startet|"
            r"beginnt|kommt raus|geht live)\b",
            "der Launch ist morgen",
        ),
    ),
    "put_off": (
        Phrase(
            r"\b(?:nicht vergessen|erinner mich|(?:fehlt|fehlen|bleibt|bleiben|muss|müssen|ist|sind) noch"
            r"|noch (?:offen|zu tun)|verschieben wir|vertagen|stellen wir zurück|heb (?:das|"
            r"dir) .{0,20}auf)\b",
            "Skonto fehlt noch",
        ),
    ),
    "waiting": (
        Phrase(
            r"\b(?:ich (?:frage?|kläre?|bespreche|melde mich|muss .{0,30}(?:fragen|klären))|muss .{0,40}"
            r"(?:entscheiden|freigeben|klären)|bis .{2,30} (?:freigibt|liefert|zusagt|antwortet|"
            r"geantwortet|entschieden|"
            r"entscheidet|"
            r"sich meldet)|warte(?:n)? (?:noch )?auf)\b",
            "das muss die Buchhaltung entscheiden",
        ),
        Phrase(
            r"\b(?:schickt|liefert|gibt|bringt|sagt|mailt|meldet|klärt) (?:mir|uns|sich|"
            r"das)?\b.{0,40}\b(?:noch|"
            r"morgen|später|nächste woche)\b",
            "den Text schickt mir Sabine noch",
        ),
    ),
    "next_heading": (
        Phrase(
            r"^(?:nächste[rn]? schritte?|offen(?:e punkte|e fragen|e aufgaben)?|noch (?:zu tun|offen)|"
            r"verbleibend\w*|todo|ausstehend\w*|als nächstes|was noch fehlt|was fehlt)$",
            "Nächste Schritte",
        ),
    ),
    "next_sentence": (
        Phrase(
            r"\b(?:offen (?:sind|ist|bleiben|bleibt)|bleibt offen|bleiben offen|noch (?:zu tun|offen|"
            r"nicht (?:umgesetzt|fertig|getestet|erledigt|migriert|"
            r"implementiert))|(?:muss|müssen|sollte|sollten) noch|fehlt noch|fehlen noch|steht noch aus|"
            r"bleibt noch|als nächstes)\b",
            "die Migration muss noch laufen",
        ),
    ),
    "filler": (Phrase(r"\b(?:sonst noch|weitere fragen|noch etwas)\b", "Sonst noch etwas?"),),
    "recommend": (
        Phrase(
            r"\b(?:ich (?:empfehle|würde)|meine empfehlung|mein vorschlag)\b",
            "ich empfehle SQLite",
        ),
    ),
    "approval": (
        Phrase(
            r"^\W*(?:(?:ja|gut|einverstanden|passt|mach das|klingt gut|genau|super)\W*){1,3}$",
            "ja, passt",
        ),
    ),
    "dissent": (
        Phrase(
            r"\b(?:(?:funktioniert|geht|klappt|hilft) (?:\w+ ){0,3}nicht|immer noch|derselbe fehler|"
            r"rückgängig|hat nicht geholfen)\b",
            "funktioniert immer noch nicht",
        ),
    ),
    "vain": (
        Phrase(
            r"\b(?:(?:hat|haben) [^.;:?]{0,40}?(?:nicht geholfen|nichts (?:gebracht|geändert)|nicht gereicht|"
            r"nicht funktioniert)|half(?:en)? (?:\w+ )?nicht|brachten? nichts|reichten? nicht|"
            r"änderten? nichts|waren? (?:vergeblich|vergebens|eine sackgasse|der falsche weg)|ohne erfolg)\b",
            "ein Standardwert hat nicht geholfen",
        ),
    ),
    "trouble": (
        Phrase(
            r"\b(?:fehler|kaputt|schlägt fehl|stürzt ab|ist rot|hängt|funktioniert nicht|geht nicht|"
            r"klappt nicht|bug)\b",
            "der Build schlägt fehl",
        ),
    ),
    "cause": (
        Phrase(
            r"\b(?:das problem (?:ist|war|liegt)|die ursache|ursache (?:ist|war)|der fehler (?:ist|war|"
            r"liegt|kommt)|liegt daran|lag daran)\b",
            "das Problem ist der Lock",
        ),
    ),
    "decision_heading": (Phrase(r"^(?:wichtige |getroffene )?entscheidungen$", "Entscheidungen"),),
}

#: Words without which a table cannot match: looking for them first is what keeps distilling quick.
ANCHORS: dict[str, str] = {
    "assistant_choice": "ich ",
    "cause": "problem|ursache|fehler|liegt|lag daran",
    "standing": "immer|nie|ab jetzt|von jetzt|künftig|zukunft|bitte|bevorzuge|möchte",
    "contrast": "statt|ohne|anstelle|nicht|lieber|sondern|und kein",
    "reason": "besteht|verlangt|weil|denn|da wir|da es|da das|da die|da der|da sonst|damit|um |wegen|"
    "sonst|deshalb",
}
