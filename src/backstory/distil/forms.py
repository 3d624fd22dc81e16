"""The forms in which people settle a matter, as tables; `matters` reads clauses by them.

A form is a pattern in which a blank is any space, <name> a phrase, and a word in capitals a table: USE (verbs
of choosing), VERB (what is done with things), FOR (before a purpose), IS. Behind it a place or a limit may
follow ("in tests"), which is `where`. English and German; of French and Spanish what turns away.
"""

import re
from collections.abc import Iterable

from backstory.vocabulary import TONGUES

#: Verbs of which a project has one way, with forms that no rule makes.
_HOLDING = ("store", "keep", "save", "persist", "live", "lie", "reside", "hold", "put")
_BARE_VERBS = ("live", "lie", "reside", "run", "go", "come")
_VERBS = (
    *_HOLDING, "run", "execute", "host", "deploy", "build", "bundle", "compile", "serve", "render", "hash",
    "sign", "encrypt", "encode", "serialize", "compress", "format", "lint", "indent", "paginate", "sort",
    "order", "merge", "round", "read", "load", "write", "send", "go", "route", "deliver", "manage", "track",
    "come", "install", "pin", "generate", "parse", "cache", "queue", "authenticate", "index", "schedule",
    "name", "test", "monitor", "validate",
)  # fmt: skip
_IRREGULAR = {
    "kept": "keep", "held": "hold", "sent": "send", "ran": "run", "built": "build", "written": "write",
    "wrote": "write", "went": "go", "came": "come", "lying": "lie", "read": "read", "speichern": "store",
    "gespeichert": "store", "liegen": "lie", "liegt": "lie", "halten": "keep", "gehalten": "keep",
    "abgelegt": "store", "hosten": "host", "laufen": "run", "läuft": "run", "bauen": "build",
    "gebaut": "build", "signieren": "sign", "signiert": "sign", "rewritten": "write", "rewrote": "write",
    "rewrite": "write",
}  # fmt: skip
#: What is done, as a thing of which one speaks.
_NOUNS = {
    "authentication": "authenticate", "compression": "compress", "deployment": "deploy",
    "encryption": "encrypt", "indentation": "indent", "installation": "install",
    "pagination": "paginate", "serialisation": "serialize", "serialization": "serialize",
    "validation": "validate",
}  # fmt: skip
_PREPOSITIONS = {
    "in": "in on inside into within auf",
    "with": "with using via through by mit über",
    "as": "as als",
    "to": "to",
    "from": "from aus",
    "at": "at",
}


def _inflected(verb: str) -> Iterable[str]:
    stem = verb.removesuffix("e")
    twice = stem + stem[-1]
    return (verb, f"{verb}s", f"{verb}es", f"{stem}ed", f"{stem}ing", f"{twice}ed", f"{twice}ing")


def _any(words: Iterable[str]) -> str:
    return "|".join(sorted(map(re.escape, words), key=len, reverse=True))


_FORMS_OF_VERBS = {form: verb for verb in _VERBS for form in _inflected(verb)} | _IRREGULAR
#: A verb as it stands → what it says; all that holds something is one.
VERB_OF = {form: "hold" if verb in _HOLDING else verb for form, verb in _FORMS_OF_VERBS.items()}
#: A preposition → one of six that says the same.
PREPOSITION_OF = {word: name for name, words in _PREPOSITIONS.items() for word in words.split()}
#: "signing", "deployment" → the verb: "use X for signing tokens" is what "sign tokens with X" is.
DOING = {form: verb for form, verb in VERB_OF.items() if form.endswith("ing")} | _NOUNS

_USE = (
    r"us(?:e|es|ing)|go(?:es|ing)? with|went with|choos(?:e|ing)|chose|chosen|pick(?:ed|ing)?|adopt(?:ed|"
    r"ing)?|"
    r"select(?:ed)?|decided? (?:on|for)|agreed? on|take|took|stick(?:ing)? (?:with|to)|settled? on|"
    r"rely on|opt(?:ed)? for|standardi[sz]ed? on|"
    r"switch(?:ed|ing)? to|mov(?:e|ed|ing) to|migrat(?:e|ed|ing) to|do(?:ing)?|nutzen|benutzen|verwenden|"
    r"nehmen|"
    r"setzen auf|utilis(?:e|er|ons|ez)|usar?|usamos|usemos"
)
_FOR = "for|as|to|für|als|pour|para"
_PLACE = (
    "in|on|at|with|from|between|during|within|across|under|inside|outside|by|per|via|through|only|except|"
    "to|for|"
    "where|while|bei|auf|mit|zwischen|während|unter|nur|außer|im|am"
)
_SLOTS = {
    "USE": f"(?:{_USE})",
    "VERB": f"(?P<verb>{_any(_FORMS_OF_VERBS)})",
    "BARE": f"(?P<verb>{_any(form for form, verb in _FORMS_OF_VERBS.items() if verb in _BARE_VERBS)})",
    "PREPOSITION": f"(?P<preposition>{_any(PREPOSITION_OF)})",
    "FOR": f"(?:{_FOR})",
    "PLACE": f"(?:{_PLACE})",
    "TONGUE": f"(?:{_any(TONGUES)})",
    "IS": "(?:is|are|ist|sind)",
    "THE": "(?:the|our|unsere?n?|de[rnm]|die|das)",
}
_WHERE = r"(?P<where>\s++PLACE\b.*)?$"


def _form(pattern: str) -> re.Pattern[str]:
    whole = f"^{pattern}" + ("" if pattern.endswith("$") else _WHERE)
    whole = re.sub(r"\b[A-Z]{2,}\b", lambda slot: _SLOTS[slot.group()], whole)
    whole = re.sub(r"(?<!\?P)<(\w+)>", r"(?P<\1>[^,;()]{1,60}?)", whole)
    return re.compile(whole.replace(" ", r"\s++"), re.IGNORECASE)


def _rule(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


# --- the sentence -----------------------------------------------------------------------------------------

#: What follows is why.
REASON = _rule(
    r"(?:[,;]\s*+|(?<!\s)\s++|\b)\b(?:because|since|so that|so we|given that|weil|da(?= \w+ \w+ )|"
    r"damit|denn|parce que|porque)\b"
)
#: Not in force: asked, supposed, planned, thought of, told of somebody else or of former times, quoted.
UNSURE = _rule(
    r"\b(?:if|once|unless|until|as soon as|when|whenever|maybe|perhaps|might|could|would|may|consider\w*|"
    r"look(?:ed|ing)? (?:at|into)|think\w*|thought|wants|wanted|suggest\w*|propos\w*|evaluat\w*|explor\w*|"
    r"discuss\w*|debat\w*|later|eventually|someday|plan(?:s|ned|ning)? to|try|tried|trying|experiment\w*|"
    r"says?|said|writes|wrote|according to|whether|should we|shall we|used to|formerly|previously|almost|"
    r"nobody|"
    r"next (?:week|month|quarter|year|sprint)|wenn|falls|sobald|vielleicht|könnte\w*|würde\w*|überleg\w*|"
    r"sollen wir|früher|peut-être|quizás)\b"
    r"|[?？](?:\s|$)|(?:^|[,;]\s*)(?:before|after|bevor|nachdem)\b|[\"“”„«»]"
    r"|^(?!decision|decided|entscheidung)[^:]{1,60}:\s"
)
DENIED = _rule(
    r"\b(?:not|never|no longer|no|against|cannot|without|stop(?:ped|ping)?|refuse\w*|avoid\w*|nicht|nie|"
    r"niemals|"
    r"kein\w*|jamais|nunca)\b|n['’]t\b"
)
ADDS = _rule(
    r"\b(?:also|as well|in addition|additionally|besides|alongside|both|add|adds|auch|zusätzlich|"
    r"außerdem|aussi|"
    r"también)\b|\btoo\s*(?:[.,;!]|$)"
)
#: Since when; says nothing of what.
LATELY = _rule(
    r"(?:,\s*+|(?<!\s)\s++|\b)\b(?:from now on|as of (?:now|today)|from today(?: on)?|going forward|"
    r"for good|now|"
    r"instead(?! of\b)|"
    r"again|finally|today|ab jetzt|ab sofort|ab heute|künftig|jetzt|nun)\b,?"
)
BREAK = re.compile(
    r"[;,.!](?:\s+|$)|\s[–—-]\s|\s(?:but|aber|→)\s"
    r"|\s(?:and|und)\s+(?=(?:we\s+)?(?:use|go with|keep|drop|move|switch)\b)"
)
#: How a clause begins before it says anything.
LEAD = _rule(
    r"^(?:(?:ok(?:ay)?|yes|yeah|well|so|then|right|alright|fine|and|but|actually|please|just|decision:?|"
    r"decided(?! (?:on|for)\b):?|"
    r"entscheidung:?|agreed(?! on\b)|the team|our team|we(?:'ll|'ve|'re)?|i(?:'ll|'ve|'d|'m)?|wir|let'?s|"
    r"let us|have|has|"
    r"haben|are|am|will|shall|should|must|want|going(?= to)|gonna|need|like(?= to)|entschieden|to|"
    r"that)(?=[\s,:])[,:]?\s*)+"
)
#: What has a verb of its own is no name of anything.
SENTENCE = _rule(r"\b(?:is|are|was|were|has|had|takes?|makes?|needs?|ist|sind|war)\b")
#: Another choice within the same breath: "… and Redis for the cache".
AND_FOR = _rule(r"\b(?:and|und)\b.{0,300}\b(?:for|as|in|on|für|als)\b")

# --- clauses that turn away -------------------------------------------------------------------------------

UNDOES = _form(
    r"(?:revert|undo|revers|overturn|withdraw|rescind|tak)\w*(?: back)? (?:the|our|my|that) decision"
    r"(?: (?:to|on|about|for|of|that))? (?P<rest>.+)$"
)
NOT_THIS = _form(r"(?:and )?(?:not|nicht) (?!(?:FOR|PLACE)\b)(?P<gone>[^,;]{1,40})$")
ENDED = _rule(
    r"\b(?:no longer|no more|stop(?:ped|ping)?(?=\s+\w+ing\b)|"
    r"(?:do(?:es)?n['’]t|do(?:es)? not|not|nicht|kein\w*)(?=.{0,300}\b(?:any ?more|mehr)\b))"
    r"(?:\s++(?P<rest>.{0,400}?))??(?:(?:(?<!\s)\s++)?\b(?:any ?more|mehr))?$"
)
UNUSED = _form(r"<gone> (?:IS|wird|werden) (?:used|supported|verwendet|genutzt)$")
INSTEAD = _rule(
    r"\b(?:instead of|rather than|in place of|statt|anstelle von|anstatt|plutôt que|au lieu de|en lugar de|"
    r"en vez de)\s+(?:(?:in|on|with|to|as|by|using|via|through|from|at|von|(?-i:mit))\s+)?"
    r"(?P<gone>[^,;()]{1,60}?)"
    rf"(?=\s+(?:{_FOR}|{_PLACE}|we|wir|it|is|are|nutzen|verwenden|nehmen)\b|$)"
)
#: `towards` is what something is given up for, or for what it was used.
AWAY = tuple(
    _form(pattern)
    for pattern in (
        r"(?:replac|swap|exchang|trad|substitut)\w*(?: out)? <gone> (?:with|by|"
        r"for) <choice>(?: FOR <about>)?",
        r"ersetz\w* <gone> durch <choice>(?: FOR <about>)?",
        r"<gone> (?:is|was|are|gets?|has been) replaced (?:with|by) <choice>(?: FOR <about>)?",
        r"<gone> wird durch <choice> ersetzt$",
        r"<choice> replac(?:es|ed) <gone>(?: FOR <about>)?",
        r"<gone> (?:is|are) (?:out|gone|history|deprecated|dead|going away|retired|"
        r"being (?:retired|removed|dropped|phased out|shut down|switched off))$",
        r"(?:(?:drop|ditch|abandon|remov|retir|scrap|dump|phas|rip|throw|tear|kick)\w*(?: out)?|"
        r"get(?:ting)? rid of|"
        r"giv(?:e|ing) up(?: on)?|gave up(?: on)?) <gone>(?: (?:in favou?r of|zugunsten von) <choice>)?"
        r"(?: for <towards>)?",
        r"(?:switch|mov|migrat|chang)\w*(?: over)? to <choice> from <gone>(?: FOR <about>)?",
        r"<about> (?:switch|mov|migrat|chang)(?:e?s|e?d)?(?: away)? from <gone> to <choice>",
        r"(?:switch|mov|migrat|chang|port|convert|transition)\w*(?: (?!(?:to|back|away|"
        r"over)\b)<about>)?(?: away)? "
        r"(?:from|off) <gone>(?:(?: over)? to <choice>)?(?: FOR <purpose>)?",
        r"(?:wechs|migrier|umsteig|steig|zieh)\w* von <gone> (?:zu|auf|"
        r"nach) <choice>(?: um)?(?: FOR <about>)?",
        r"(?P<back>(?:(?:go|went|switch|mov|roll|chang|fall)\w* )?back|return\w*|"
        r"revert\w*)(?: from <gone>)? to <choice>"
        r"(?: FOR <about>)?",
        r"(?:USE|prefer(?:red)?) <choice> over <gone>(?: FOR <about>)?",
    )
)

#: Says only how bad something is: given up, where another of its sort is taken in the same breath.
BLAMED = _form(
    r"<gone> (?:is|are|was|were|got|gets|has become|turned out(?: to be)?) (?:far |just |simply )?"
    r"(?:a mistake|too \w+(?: \w+)?|(?:so |very )?"
    r"(?:slow|flaky|expensive|buggy|unreliable|unmaintained|broken))$"
)

# --- clauses that choose ----------------------------------------------------------------------------------

#: Only a place, or a limit: it belongs to the clause beside it.
LIMIT = _form(
    r"(?P<where>(?:PLACE|FOR|at least|at most|locally|temporarily)\b(?!.*\bUSE\b).*|.*(?<=\S) (?:only|nur))$"
)
SCOPE_AHEAD = _form(
    r"(?:(?:in|on|at|during|within|under|bei|auf|unter|im|am) (?P<where>[^,;()]{1,60}?) |"
    r"(?P<adverb>temporarily|locally) )(?:we |wir )?(?P<rest>(?:USE|VERB)\b.*)$"
)
#: The frame of a choice; "" is made of its verb and its preposition.
CHOICES = tuple(
    (frame, _form(pattern))
    for frame, pattern in (
        ("use as", r"(?:as|als) THE <about> (?:we )?USE(?: wir)? <choice>"),
        ("use", r"FOR <about> (?:we )?USE(?: wir)? <choice>"),
        ("use as", r"USE(?: wir)? <choice> (?:as|als) THE <about>"),
        ("use", r"USE(?: wir)? <choice>(?: FOR <about>)?"),
        ("set to", r"(?:set|chang\w*) <about> to <choice>"),
        ("use", r"(?:switch|convert)\w* <about>(?: over)? to <choice>"),
        ("place", r"(?:mov|migrat|port|transfer)\w* <about>(?: over)? to <choice>"),
        ("", r"<about> (?:is|are|was|be|gets?|wird|werden) VERB PREPOSITION <choice>"),
        ("", r"<about> BARE PREPOSITION <choice>"),
        ("", r"VERB(?: (?!(?:is|are|was|ist|sind|uses?|runs?|goes)\b)<about>)? PREPOSITION <choice>"),
        ("use", r"<about> (?:uses?|using|nutzt|nutzen|verwendet|verwenden) <choice>(?: FOR <purpose>)?"),
        ("write in", r"(?!VERB\b)<about> (?:IS )?in (?P<choice>TONGUE)$"),
        ("hold in", r"<about> IS (?:in|on|auf) <choice>"),
        ("be many", r"<about> (?:are|sind) (?P<choice>[^,;()]{1,40}[^s\W]s)$"),
        ("be called", r"<about> (?:is|ist|heißt) (?:called|named) (?!(?:after|by|in|with)\b)<choice>"),
        ("be", r"<about> IS (?!\w+ed\b)<choice>"),
    )
)
#: A choice in so few words that it must be known by its name.
WITHOUT_VERB = _form(r"(?P<choice>[^,;() ]+(?: [^,;() ]+)?) FOR <about>")
