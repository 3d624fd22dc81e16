"""Spanish."""

from backstory.distil.phrases.phrase import Phrase

TABLES: dict[str, tuple[Phrase, ...]] = {
    "user_choice": (
        Phrase(
            r"\b(?:mejor \w+mos|usa|usemos|usaremos|vamos a usar|vamos con|mejor usa|mantengamos|mantén|"
            r"quedémonos|"
            r"decidimos|decidí|prefiero|cambiemos)\b",
            "usemos Postgres",
        ),
        Phrase(
            r"\b(?:volvamos|volvemos|vuelve|regresemos|regresamos) a\b"
            r"(?=.{2,400}\b(?:en vez|en lugar|porque|ya que|pues)\b)",
            "volvamos a MySQL en vez de Postgres",
        ),
    ),
    "assistant_choice": (
        Phrase(
            r"\b(?:he (?:elegido|decidido|optado|mantenido)|elegí|decidí|opté|voy a usar)\b",
            "he elegido SQLite",
        ),
    ),
    r"contrast": (Phrase(r"\b(?:en vez de|en lugar de|y no|mejor que)\b", "RS256 en vez de HS256"),),
    "reason": (
        Phrase(
            r"\b(?:porque|ya que|para (?:evitar|que|no|mantener)|debido a|pues|si no)\b",
            "porque es más simple",
        ),
    ),
    r"tentative": (Phrase(r"\b(?:quizás?|tal vez|podríamos|deberíamos|a lo mejor)\b", "quizás Redis"),),
    "standing": (
        Phrase(
            r"\b(?:a partir de ahora|de ahora en adelante|en adelante|por favor no|prefiero que)",
            "a partir de ahora usa tabs",
        ),
        Phrase(r"^(?:siempre|nunca)\b", "siempre usa tabs"),
        Phrase(
            r"^(?:no uses|nada de|usa|evita|pon|escribe)\b[^?]{2,80}?[,;–—-]\s+(?:sino )?(?:siempre|nunca)\b",
            "no uses tabuladores, siempre espacios",
        ),
    ),
    "opener": (
        Phrase(
            r"^(?:(?:sí|si|no(?=[,.!;:])|vale|ok|bueno|entonces|y|pero|perfecto|gracias|mejor|"
            r"para (?:el |la )?\S+)\b"
            r"[\s,.:;!…-]+)+",
            "no, entonces",
        ),
    ),
    "refusal": (Phrase(r"^(?:no(?=[,.!;:])|olvida|así no)", "no, sin ORM"),),
    "directive": (
        Phrase(
            r"^(?:usa|usemos|toma|mantén|deja|dejemos|pon|quita|elimina|borra|cambia|renombra|guarda|"
            r"haz|sin |nada de|"
            r"no (?:uses|pongas|hagas|añadas|queremos|quiero|metas|crees|cambies)|nunca|solo |hay que|"
            r"tiene que|debe)\b",
            "nada de dependencias nuevas",
        ),
    ),
    "chore": (
        Phrase(
            r"^(?:muestra|mira|revisa|explica|ejecuta|prueba|busca|lee|espera|haz (?:commit|push))\b",
            "muestra el diff",
        ),
    ),
    r"reversal": (Phrase(r"\b(?:olvida (?:lo que|el|la)|al final|cambié de idea)\b", "al final SQLite"),),
    "time": (
        Phrase(
            r"\b(?:mañana|más tarde|la próxima (?:vez|semana)|luego (?:hacemos|añadimos)|hoy no|"
            r"el lunes)\b",
            "mañana añadimos el índice",
        ),
    ),
    r"dated": (
        Phrase(
            r"\b(?:hasta mañana|desde el lunes|por la mañana|"
            r"años más tarde)\b",
            "hasta mañana",
        ),
    ),
    "put_off": (
        Phrase(
            r"\b(?:no olvides|recuérdame|falta todavía|todavía falta|queda pendiente|dejamos para)\b",
            "no olvides el chart",
        ),
    ),
    "waiting": (
        Phrase(
            r"\b(?:voy a preguntar|preguntaré|tiene que (?:decidir|aprobar)|esperando a|"
            r"hasta que .{2,30} (?:diga|"
            r"responda|decida))\b",
            "legal tiene que decidir",
        ),
    ),
    "next_heading": (
        Phrase(
            r"^(?:próximos? pasos?|siguientes? pasos?|pendientes?|por hacer|queda por hacer|lo que falta)$",
            "Próximos pasos",
        ),
    ),
    "next_sentence": (
        Phrase(
            r"\b(?:falta (?:por )?\w+|queda (?:por )?\w+|aún no|todavía (?:no|falta)|pendiente de|"
            r"el siguiente paso)\b",
            "falta por migrar",
        ),
    ),
    r"filler": (Phrase(r"\b(?:algo más|otra cosa|más preguntas)\b", "¿Algo más?"),),
    r"recommend": (Phrase(r"\b(?:recomiendo|propongo|sugiero|mi recomendación)\b", "recomiendo SQLite"),),
    "approval": (
        Phrase(
            r"^\W*(?:(?:sí|si|vale|de acuerdo|perfecto|adelante|hazlo|claro)\W*){1,3}$",
            "sí, adelante",
        ),
    ),
    "dissent": (
        Phrase(
            r"\b(?:no (?:funciona|sirve)|sigue (?:sin|fallando|igual)|mismo error|deshaz|revierte)\b",
            "sigue sin funcionar",
        ),
    ),
    "vain": (
        Phrase(
            r"\b(?:no (?:funcionó|ayudó|sirvió|bastó|cambió nada|resolvió|arregló)|sin éxito|en vano)\b",
            "un valor por defecto no bastó",
        ),
    ),
    "trouble": (
        Phrase(
            r"\b(?:error|falla|fallan|roto|no funciona|se rompe|"
            r"excepción)\b",
            "el build falla",
        ),
    ),
    "cause": (
        Phrase(
            r"\b(?:el problema (?:es|era|está)|la causa|el error (?:es|viene|se debe)|se debe a)\b",
            "el problema es el bloqueo",
        ),
    ),
    "decision_heading": (Phrase(r"^(?:decisiones)(?: \w+){0,2}$", "Decisiones"),),
}

#: Words without which a table cannot match: looking for them first is what keeps distilling quick.
ANCHORS: dict[str, str] = {
    "assistant_choice": "he |elegí|decidí|opté|voy a",
    "cause": "problema|causa|error|se debe",
    "standing": "ahora|adelante|por favor|prefiero|siempre|nunca",
    "contrast": "en vez de|en lugar de|y no|mejor que",
    "reason": "porque|ya que|para |debido a|pues|si no",
}
