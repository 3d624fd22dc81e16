"""The words of a decision that tell something, as two decisions are compared."""

import re

_UNIT = (
    r"(?:ms|s|secs?|seconds?|mins?|minutes?|h|hours?|days?|weeks?|months?|years?|kb|mb|gb|px|percent|times|spaces|"
    r"characters|lines|sekunden?|minuten?|stunden?|tagen?|wochen?|mal)"
)
_TOKEN = re.compile(
    rf"\d{{1,12}}:\d+|\d[\d.]{{0,20}}(?:%|\s?{_UNIT}\b)|[\w#@][\w.+#@/-]{{0,240}}[\w+#]|\w",
    re.IGNORECASE,
)
_SHORTENED = re.compile(r"['’](?:s|t|ll|ve|re|m|d)\b")
_ENDING = re.compile(r"(?:ing|es|ed|s|e)$")
#: Says nothing of the matter: little words, words of choosing, of time, of denial.
_EMPTY = frozenset(
    {
        "a", "adopt", "adopted", "agree", "agreed", "all", "also", "always", "an", "and", "any",
        "anymore", "are", "as", "at", "auf", "be", "because", "been", "both", "but", "by", "choose",
        "chose", "chosen", "das", "decide", "decided", "decision", "dem", "den", "der", "des", "die",
        "do", "doesn", "don", "ein", "eine", "einen", "einer", "er", "es", "for", "from", "für", "go",
        "has", "have", "i", "im", "in", "instead", "into", "is", "isn", "ist", "it", "its", "just",
        "kein", "keine", "keinen", "let", "longer", "me", "mehr", "mir", "mit", "more", "must", "my",
        "never", "nicht", "nie", "no", "not", "now", "nur", "nutzen", "of", "on", "one", "only", "or",
        "our", "over", "own", "pick", "picked", "please", "rather", "shall", "should", "since", "sind",
        "so", "statt", "stop", "stopped", "than", "that", "the", "their", "them", "then", "there",
        "these", "they", "this", "those", "to", "und", "uns", "us", "use", "used", "uses", "using",
        "verwenden", "von", "want", "wants", "was", "we", "will", "wir", "with", "won", "you", "zu",
        "zum", "zur",
    }
)  # fmt: skip
#: Names that are little words in another language, if they stand in capitals.
_NAMES = frozenset({"MIT"})


def telling(text: str) -> tuple[str, ...]:
    """The telling words of a text without their endings, in their order."""
    found = (word.strip(".-") for word in _TOKEN.findall(_SHORTENED.sub("", text)))
    kept = (word.lower() for word in found if word and (word.lower() not in _EMPTY or word in _NAMES))
    return tuple(_ENDING.sub("", word) if len(word) > 3 and not word[0].isdigit() else word for word in kept)
