"""German."""

from backstory.distil.phrases.phrase import Phrase

TABLES: dict[str, tuple[Phrase, ...]] = {
    "user_choice": (
        Phrase(
            r"\b(?:wir|ich)\s+(?:nehmen|nehme|verwenden|verwende|benutzen|nutzen|bleiben|bleibe|"
            r"entscheiden|möchten?|wollen|will)\b",
            "wir nehmen SQLite",
        ),
        Phrase(
            r"\b(?:nimm|verwende|benutze|nutze|lass uns|bleib(?:e|en)? bei|lieber)\b",
            "nimm lieber RS256",
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
            r"\b(?:statt|anstatt|anstelle|(?:, )?nicht|lieber|sondern|und kein\w*)\b",
            "RS256 statt HS256",
        ),
    ),
    "reason": (
        Phrase(
            r"\b(?:weil|denn|da (?:wir|es|das|die|der|sonst)|damit|um .{2,60}? zu|wegen|sonst|deshalb)\b",
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
            r"\b(?:ab jetzt|von jetzt an|künftig|in zukunft|bitte (?:kein|nicht|nie|immer)|ich bevorzuge|"
            r"ich möchte immer)",
            "ab jetzt keine Emojis",
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
            r"\b(?:noch (?:zu tun|offen|nicht (?:umgesetzt|fertig|getestet|erledigt|migriert|"
            r"implementiert))|(?:muss|müssen|sollte|sollten) noch|fehlt noch|fehlen noch|steht noch aus|"
            r"bleibt noch|als nächstes)\b",
            "die Migration muss noch laufen",
        ),
    ),
    "user_later": (
        Phrase(
            r"\b(?:morgen|später|nächstes mal|nicht vergessen|nächste woche|beim nächsten mal)\b",
            "morgen kommt der Index",
        ),
    ),
    "offer": (
        Phrase(
            r"\b(?:soll ich|möchten sie|möchtest du|willst du|wollen sie|sollen wir)\b",
            "Soll ich migrieren?",
        ),
    ),
    "filler": (Phrase(r"\b(?:sonst noch|weitere fragen|noch etwas)\b", "Sonst noch etwas?"),),
    "recommend": (
        Phrase(
            r"\b(?:ich (?:empfehle|würde .{0,40}(?:nehmen|vorschlagen))|meine empfehlung|mein vorschlag)\b",
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
    "trouble": (
        Phrase(
            r"\b(?:fehler|kaputt|schlägt fehl|stürzt ab|funktioniert nicht|geht nicht|klappt nicht|bug)\b",
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
    "contrast": "statt|anstelle|nicht|lieber|sondern|und kein",
    "reason": "weil|denn|da wir|da es|da das|da die|da der|da sonst|damit|um |wegen|sonst|deshalb",
}
