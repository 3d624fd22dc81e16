"""How much a passage that was looked up is worth telling, though nobody asked for it.

A weighted sum: how well it fits what is being done, what kind of text it is, and what it is made of. Names
and rules speak for a passage, announcements and states of the moment against it.
`bench/work/fit_notes.py` fits the weights on labelled projects and prints the table below; each project is
judged with weights that were fitted without it. Hooks use this, so it imports little.
"""

import re

_RULE = re.compile(
    r"\b(?:never|always|must|not|needs?|requires?|only|cannot|instead|rather|without|unless|until|before|first)\b",
    re.IGNORECASE,
)
_MOMENT = re.compile(
    r"\b(?:still|now|currently|pending|running|waiting|so far|next|in progress|already|yet|done"
    r"|completed?)\b",
    re.IGNORECASE,
)
_ANNOUNCED = re.compile(r"\b(?:i['’]m|i['’]ll|let me|i am|i will|going to)\b", re.IGNORECASE)
_NAME = re.compile(
    r"`[^`]{1,200}`|(?<![\w.-])[\w.-]{1,100}/[\w./-]+|\b\w+_\w+\b|\b[a-z]+[A-Z]\w*|\b[A-Z]{2,}\b|#\d+"
    r"|\b\w+\.\w{1,4}\b|--\w+"
)
_FAILED = "→ failed"
_SHORT, _LONG = 120, 300  # characters

#: What is worth less is not told at work, unless it belongs to a short session that is told as a whole.
FLOOR = 0.2
WEIGHTS: dict[str, float] = {
    "announced": -0.081,
    "code": 0.061,
    "command": -0.171,
    "cosine": 0.177,
    "failed": -0.144,
    "form_answer": 0.022,
    "form_closing": -0.045,
    "form_commit": 0.100,
    "form_prompt": 0.043,
    "form_record": -0.059,
    "form_refusal": -0.002,
    "form_report": -0.221,
    "form_said": -0.055,
    "form_step": 0.051,
    "form_summary": 0.188,
    "long": 0.069,
    "moment": -0.155,
    "names": 0.119,
    "one": 0.023,
    "rule": 0.079,
    "score": 0.126,
    "short": 0.192,
}


def features(form: str, text: str, score: float, cosine: float) -> dict[str, float]:
    """What is known of a passage, most of it between 0 and 1; what is 0 is left out."""
    values = {
        "one": 1.0,
        f"form_{form}": 1.0,
        "score": score,
        "cosine": cosine,
        "rule": min(len(_RULE.findall(text)), 3) / 3,
        "moment": min(len(_MOMENT.findall(text)), 3) / 3,
        "announced": bool(_ANNOUNCED.search(text)),
        "names": min(len(_NAME.findall(text)), 6) / 6,
        "code": "`" in text,
        "command": form == "step" and text.startswith("`"),
        "failed": _FAILED in text,
        "short": max(0.0, 1 - len(text) / _SHORT),
        "long": min(len(text) / _LONG, 2.0),
    }
    return {name: float(value) for name, value in values.items() if value}


def note_worth(form: str, text: str, score: float, cosine: float) -> float:
    """What telling it is worth, about from 0 to 1."""
    return sum(WEIGHTS.get(name, 0.0) * value for name, value in features(form, text, score, cosine).items())
