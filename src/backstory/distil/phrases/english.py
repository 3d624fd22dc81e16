"""English: what remains, what went wrong; what people say when they choose is in `english_choices`."""

from backstory.distil.phrases.english_choices import CHOICES
from backstory.distil.phrases.english_later import LATER
from backstory.distil.phrases.english_talk import TALK
from backstory.distil.phrases.phrase import Phrase

TABLES: dict[str, tuple[Phrase, ...]] = {
    **CHOICES,
    **TALK,
    **LATER,
    "next_heading": (
        Phrase(
            r"^(?:suggested |recommended |possible |immediate |your |the |some |"
            r"what'?s )?(?:next(?: steps?| up| session| time| actions?)?|to-?dos?|remaining(?: \w+){0,3}|"
            r"still (?:to do|open|missing|needed|pending|outstanding)|what(?:'s| is) (?:left|next|missing|"
            r"still \w+)|left to do|pending(?: \w+){0,2}|outstanding(?: \w+){0,2}|follow[- ]?ups?|"
            r"not (?:yet )?(?:done|implemented|finished|covered)|open (?:questions|items|issues|points|"
            r"threads|tasks)|unfinished(?: \w+)?|action items|known (?:issues|gaps|limitations)|"
            r"future work|deferred)(?: (?:for|to|before|items?|work|tasks?)\b.*)?$",
            "Next steps",
        ),
    ),
    "next_sentence": (
        Phrase(
            r"^(?:the )?(?:next(?: steps?| up)?(?:,| is| are| would be|:| i'?ll| we)|remaining:|to-?do:|"
            r"(?:one|only|last) (?:thing|item|step) left\b|"
            r"not (?:yet )?done:|open:|missing:|"
            r"still (?:to do|open|missing|pending)\b|what'?s left|left to do|follow[- ]up:)",
            "Next: wire the CLI",
        ),
        Phrase(
            r"\b(?:still (?:needs?|have|has|need) to|still (?:remains?|open|pending|missing|outstanding|"
            r"to do|todo|"
            r"fails?|failing|broken)|remains? to be|(?:is|are|was|were)(?:n'?t|"
            r" not) (?:yet )?(?:implemented|done|wired|finished|migrated|covered|hooked up|deployed|"
            r"tested)(?: yet)?|not yet (?:implemented|done|wired|finished|tested|supported|migrated|"
            r"covered|started)|have(?:n'?t| not) (?:yet )?(?:run|tested|done|implemented|finished|updated|"
            r"migrated|verified|committed|pushed|touched|started)|(?:have|has|had|is|are|was|were)(?:n'?t|"
            r" not)\b.{1,60}\byet\b|left for (?:later|next|tomorrow|another|a follow)|"
            r"needs? to be (?:done|implemented|finished|migrated|wired|added|tested|fixed|updated)|"
            r"you(?:'ll| will) (?:still )?need to|i'?ll (?:need to )?(?:continue|pick (?:this|it) up)|"
            r"i(?:'ll| will) .{3,140}\b(?:next|afterwards|tomorrow|in the next (?:step|"
            r"session))(?=[.!,;]|$)|"
            r"stays? (?:red|open|broken|failing|for (?:next|later|now|another))|"
            r"(?:the|an?) .{3,60} remains?[.!]?$|"
            r"(?:will|'ll) (?:keep|continue|still) (?:to )?(?:fail\w*|be(?:ing)? red)\b|"
            r"(?:push|re-?run|retry|re-?deploy|try again)\b.{0,40} should (?:now )?(?:work|pass|succeed|"
            r"be green)|the last (?:step|thing|piece) (?:is|left))",
            "the migration still needs to be run",
        ),
    ),
    "filler": (
        Phrase(
            r"\b(?:anything else|further (?:changes|questions|help)|any (?:other|more|further|questions|"
            r"adjustments|changes|issues|problems)|more details?|explain|clarify|if you(?:'d|"
            r" would)? (?:like|need|want|have) (?:any|me to (?:explain|elaborate|adjust|change))|"
            r"help with anything|what would you like (?:me )?to (?:do|work on)|how can i help|sound good|"
            r"look good|make sense|something else|different)\b",
            "Is there anything else?",
        ),
    ),
    "dissent": (
        Phrase(
            r"\b(?:(?:still|it'?s|is|are) (?:not|n'?t) working|(?:does|do|did)(?:n'?t|"
            r" not) (?:\w+ ){0,2}(?:work|help|fix)|still (?:broken|failing|fails|doesn|don|isn|not|"
            r"the same|see(?:ing)?|get(?:ting)?|happen|wrong|crash)\w*|same (?:error|issue|problem|"
            r"result)|that (?:broke|breaks)|revert (?:that|this|it)|undo (?:that|this|it)|roll (?:that|it|"
            r"this) back|made it worse|that'?s (?:wrong|not right|not it|not what)|no luck)",
            "it still doesn't work",
        ),
    ),
    "vain": (
        Phrase(
            r"\bdid(?:n'?t| not) (?:\w+ )?(?:help|fix|solve|cure|suffice|change (?:anything|a thing)|"
            r"make (?:a|any) difference|cut it)\b",
            "raising the limit didn't help",
        ),
        Phrase(
            r"\b(?:\w{2,}ing|an?|my|that|this|it|(?:first|earlier|previous|initial|last|old) (?:attempt|try|"
            r"fix|idea|approach|guess|edit|change))\b(?:[^.;:?]|[.:](?=\w)){0,80}? "
            r"(?:did(?:n'?t| not) (?:\w+ )?work|failed as well|"
            r"(?:was|were|is)(?:n'?t| not) (?:\w+ )?(?:enough|it|right|the (?:fix|cause|problem|answer))|"
            r"was (?:wrong|a mistake|a dead end|a red herring|in vain))\b",
            "Retrying the call did not work",
        ),
        Phrase(
            r"\b(?:made no difference|had no effect|made (?:it|things) worse|to no avail|no luck with|"
            r"only (?:hid|masked|moved) (?:the|it))\b",
            "raising the limit made no difference",
        ),
    ),
    "trouble": (
        Phrase(
            r"\b(?:errors?|fail(?:s|ed|ing|ure)?|broke(?:n)?|bug|crash(?:es|ed|ing)?|(?:does|do|did|is|"
            r"are|was)(?:n'?t| not) (?:\w+ ){0,2}(?:work|start|load|show|run|build|compile|render|scroll|"
            r"appear|happen|found|being)\w*|exception|traceback|stuck|hangs?|freezes?|falls over|dies|"
            r"does nothing|nan|disappears?|"
            r"goes missing|(?:shows?|gives?|returns?|prints?) (?:the |an? )?(?:wrong|nothing|old|empty|"
            r"undefined)|"
            r"wrong|regression|why (?:is|"
            r"does|are|do)|not working|500|404)\b",
            "the build fails",
        ),
    ),
    "cause": (
        Phrase(
            r"\b(?:the (?:\w+ ){0,3}(?:issue|problem|bug|cause|culprit|error|failure|"
            r"reason)(?: here)? (?:is|was|seems|comes|came|occurs|happens)|root cause|(?:is|was|were|"
            r"are) caused by|this (?:is|was|happens|fails|failed|happened) because|(?:fail(?:s|ed|ing)?|"
            r"broke|breaks) because|found (?:it|the (?:issue|problem|bug|cause))|turns out|"
            r"i see the (?:issue|problem)|happens because|due to the fact)",
            "the issue is a stale lock",
        ),
    ),
}

#: Words without which a table cannot match: looking for them first is what keeps distilling quick.
ANCHORS: dict[str, str] = {
    "assistant_choice": (
        "decid|decision|chose|choosing|opted|picked|settled on|went with|going with|sticking with|"
        "switched|design choice|deliberately|intentionally"
    ),
    "cause": (
        "issue|problem|bug|cause|culprit|error|failure|reason|because|found it|turns out|due to the fact"
    ),
    "contrast": (
        "rather|instead|, never|and never|in favor of|in favour of|as opposed to|over using|, not|; not|"
        "and not|not the|not a|not in|not on|not with|not as|not per|not by|not from|, no |without |vs"
    ),
    "reason": (
        "cause|cuz|bc|else|since|so that|so we|so i|so it|so they|so the|so you|as it|as we|as they|as you|"
        "as i |as that|as this|as there|due to|to avoid|to keep|to prevent|to make sure|to ensure|"
        "to reduce|to save|to match|to minimi|to simplify|to allow|to stay|to be sure|in order to|"
        "otherwise|that way|this way|the reason|for consistency|for simplicity|for performance|"
        "for safety|for now|for compatibility|for security|for speed|for readability|given that|"
        "which avoids|which keeps|which means|which lets|which makes|which is"
    ),
    "standing": (
        "always|never|ever|from now on|going forward|future|rule|every time|whenever|next time|"
        "don't|dont|do not|stop|prefer|i like|i want|i'd like|i hate|i dislike|must|should|before |possible"
    ),
}
