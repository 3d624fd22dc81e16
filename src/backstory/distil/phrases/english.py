"""English: the widest table, because most sessions are in it."""

from backstory.distil.phrases.phrase import Phrase

TABLES: dict[str, tuple[Phrase, ...]] = {
    "user_choice": (
        Phrase(
            r"\blet'?s\s+(?:just\s+|please\s+|not\s+|also\s+)*(?!(?:see|look|check|start|begin|understand|"
            r"talk|consider|discuss|review|try|run|test|continue|find|figure|first|take|proceed|get|"
            r"go\s+(?:ahead|through|over|back)|work|commit|push|say|think|them|explore|read|investigate|"
            r"debug|fix|plan|verify)\b)\w+",
            "let's use RS256",
        ),
        Phrase(
            r"\b(?:we|i)(?:'ll| will| should| want to| wanna| need to)\s+(?:use|go with|stick with|keep|"
            r"switch to|avoid|drop|support|target)\b",
            "we'll go with Postgres",
        ),
        Phrase(r"\bwe\s+(?:stay|remain|keep|go|never|always|only|explicitly)\b", "we stay on v1"),
        Phrase(r"\b(?:i|we)\s+(?:decided|chose|settled on|picked|opted)\b", "we decided on SQLite"),
        Phrase(r"\b(?:i|we)(?:'d)?\s+(?:would\s+)?(?:rather|prefer)\b", "I'd rather keep it flat"),
        Phrase(
            r"^(?:ok(?:ay)?[,. ]+|no[,. ]+|yes[,. ]+|please\s+|and\s+|so\s+|then\s+|actually[,. ]+|"
            r"hm+[,. ]+|just\s+|instead[,. ]+)*(?:use|go with|keep|switch to|stick with|drop|avoid|"
            r"don'?t use|do not use|make it|store|leave)\b",
            "ok, use RS256",
        ),
        Phrase(
            r"\b(?:i think )?we (?:(?:don'?t )?want(?! to (?:know|see|understand|be|check|make sure|find|"
            r"look|review|discuss|test|talk|ask))|should (?:use|go|keep|make|do|have|just|not))\b",
            "i think we want a container",
        ),
        Phrase(r"\bdecision\s*:", "Decision: flat files"),
        Phrase(
            r"\b(?:should|must|(?:needs?|has|have) to)\s+(?:always\s+|only\s+|not\s+|never\s+|"
            r"just\s+)*(?:be|have|use|go|live|stay|come|return|stop|show|keep)\b",
            "this should be DEBUG, not INFO",
        ),
        Phrase(
            r"\bbetter (?:that|to|if) (?:we|i|you|use|keep|not)\b",
            "better that we not collect them",
        ),
        Phrase(
            r"^(?:instead of|rather than)\b.{3,90}?\b(?:use|have|name|call|make|put|let'?s|we should|show|"
            r"store|keep|do)\b",
            "instead of globals use a context",
        ),
        Phrase(r"^do (?:it|this|that)\b", "Do it as a follow-up, not here"),
        Phrase(r"\bwe\s+(?:use|do|don'?t|do not)\b", "we do container-first, not local"),
    ),
    "assistant_choice": (
        Phrase(
            r"\b(?:i|we)(?:'ve| have)?\s+(?:deliberately\s+|intentionally\s+|therefore\s+|"
            r"also\s+)?(?:decided|chose|opted|picked|settled on|went with|kept|left|avoided|switched)\b",
            "I chose bcrypt",
        ),
        Phrase(
            r"\b(?:i|we)(?:'ll| will|'m|'re| am| are)\s+(?:go(?:ing)? with|us(?:e|ing)|keep(?:ing)?|"
            r"stick(?:ing)? with|switch(?:ing)? to|leav(?:e|ing)|avoid(?:ing)?)\b",
            "I'll go with bcrypt",
        ),
        Phrase(r"\bi used\b", "I used a queue"),
        Phrase(r"\b(?:decision|decided|design choice)\s*:", "Decision: one queue"),
        Phrase(
            r"^(?:keeping|chose|choosing|kept|went with|going with|sticking with|opted for)\b",
            "Chose a lock file",
        ),
    ),
    "contrast": (
        Phrase(r"\brather\b.{3,160}?\bthan\b", "I'd rather keep a prop than add a context"),
        Phrase(
            r"\b(?:instead of|rather than|in favou?r of|as opposed to|over using|, not|; not|and not|"
            r"not (?:the|a|an)\b|instead)",
            "RS256 instead of HS256",
        ),
    ),
    "reason": (
        Phrase(
            r"\b(?:because|since(?! (?:yesterday|last|then|the last|monday))|so that|so (?:we|i|it|they|"
            r"the|you) (?:can|do|don|does|won|will|are|is|only|never|have|get|keep|stay)|as (?:it|we|they|"
            r"you|i) (?:is|are|was|were|has|have|can|do|does|need|already|only|don|will|won)|as (?:it'?s|"
            r"that'?s|this is|there'?s)\b|due to|"
            r"(?<!want )(?<!need )(?<!like )(?<!going )(?<!have )(?<!has )(?<!try )"
            r"(?<!decided )(?<!chose )(?<!opted )(?<!prefer )(?<!important )to (?:avoid|keep|"
            r"prevent|make sure|ensure|reduce|save|match|minimi[sz]e|simplify|allow|stay|be sure)|"
            r"in order to|otherwise|that way|this way|the reason|for (?:consistency|simplicity|"
            r"performance|safety|now|compatibility|security|speed|readability)|given that|which (?:avoids|"
            r"keeps|means|lets|makes|is (?:simpler|faster|safer|cleaner|better)))",
            "because keys rotate",
        ),
    ),
    "tentative": (
        Phrase(
            r"\b(?:if (?:we|you|i|it|they|that|there)\b|what if|could (?:we|you|i|also)|might|maybe|"
            r"perhaps|should (?:we|i)|would (?:you|it|be|we)|wonder|not sure|consider(?:ing)?|"
            r"alternatively|option [a-d1-9]\b|one option|unless|do you|either|let me (?:check|see|look|"
            r"know|try))",
            "maybe we could use Redis",
        ),
    ),
    "standing": (
        Phrase(
            r"^(?:(?:ok(?:ay)?|and|also|but|so|oh|btw|by the way|please|remember|note)[,:. ]+)*(?:always|"
            r"never|don'?t ever|do not ever)\s+\w",
            "Always run the linter",
        ),
        Phrase(
            r"\b(?:from now on|going forward|in (?:the )?future(?:,| please| always| never| don)|"
            r"as a (?:general )?rule|every time you|whenever you|next time(?:,| you| please))\b",
            "from now on use tabs",
        ),
        Phrase(
            r"\b(?:you (?:should|must|need to) (?:always|never)|i (?:always|never) want|make sure (?:you|"
            r"to) (?:always|never)|please (?:always|never))\b",
            "you should never push to main",
        ),
        Phrase(
            r"\b(?:please )?(?:don'?t|do not|stop) (?:(?:ever )?(?:add|commit|push|use|put|write|create|"
            r"touch|run|ask|mention|include|change|edit|delete|skip|adding|committing|pushing|using|"
            r"putting|writing|creating|running|asking|mentioning))\b.{0,80}?\b(?:again|anymore|any more|"
            r"ever|unless|without|by default)\b",
            "don't commit without asking",
        ),
        Phrase(r"^(?:please )(?:don'?t|do not|stop)\s+\w", "please don't add emojis"),
        Phrase(
            r"\bi (?:prefer|like|want|'d like|hate|dislike) (?:it when |that )?(?:you (?:to )?(?:always |"
            r"never )|short|small|tabs|spaces|conventional|concise|plain|to (?:always|never)|when you)",
            "I prefer small commits",
        ),
    ),
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
            r"still (?:to do|open|missing|pending)\b|what'?s left|left to do|follow[- ]up:)",
            "Next: wire the CLI",
        ),
        Phrase(
            r"\b(?:still (?:needs?|have|has|need) to|still (?:remains?|missing|outstanding|to do|todo|"
            r"fails?|failing|broken)|remains? to be|(?:is|are|was|were)(?:n'?t|"
            r" not) (?:yet )?(?:implemented|done|wired|finished|migrated|covered|hooked up|deployed|"
            r"tested)(?: yet)?|not yet (?:implemented|done|wired|finished|tested|supported|migrated|"
            r"covered|started)|have(?:n'?t| not) (?:yet )?(?:run|tested|done|implemented|finished|updated|"
            r"migrated|verified|committed|pushed|touched|started)|(?:have|has|had|is|are|was|were)(?:n'?t|"
            r" not)\b.{1,60}\byet\b|left for (?:later|next|tomorrow|another|a follow)|"
            r"needs? to be (?:done|implemented|finished|migrated|wired|added|tested|fixed|updated)|"
            r"you(?:'ll| will) (?:still )?need to|i'?ll (?:need to )?(?:continue|pick (?:this|it) up)|"
            r"the last (?:step|thing|piece) (?:is|left))",
            "the migration still needs to be run",
        ),
    ),
    "user_later": (
        Phrase(
            r"\b(?:tomorrow|next (?:time|session|week)|later (?:on )?(?:we|i|you|today)|(?:we|i|"
            r"you)(?:'ll| will| can| should)? .{0,40}\blater\b|to-?do\b|for later|follow[- ]up|remind me|"
            r"don'?t forget|after that|come back to|another (?:day|session|pr))",
            "tomorrow we add the index",
        ),
    ),
    "offer": (
        Phrase(
            r"\b(?:(?:do|would) you (?:want|like|prefer)|want me to|should (?:i|we)|shall (?:i|we)|"
            r"ready to|may i|can i go ahead|how (?:would|do) you (?:want|like)|which (?:one|option|"
            r"approach|of)|what would you (?:like|prefer)|let me know (?:if|when|which|whether) you)\b",
            "Should I run the migration?",
        ),
    ),
    "filler": (
        Phrase(
            r"\b(?:anything else|further (?:changes|questions|help)|any (?:other|more|further|questions|"
            r"adjustments|changes|issues|problems)|more details?|explain|clarify|if you(?:'d|"
            r" would)? (?:like|need|want|have) (?:any|me to (?:explain|elaborate|adjust|change))|"
            r"help with anything|what would you like (?:me )?to (?:do|work on)|how can i help|sound good|"
            r"look good|make sense|something else|different|questions)\b",
            "Is there anything else?",
        ),
    ),
    "recommend": (
        Phrase(
            r"\b(?:i(?:'d| would)?\s+(?:strongly\s+|still\s+)?(?:recommend|suggest|propose|go with|"
            r"lean(?: towards?)?)|my (?:recommendation|suggestion|proposal|instinct)|(?:is|"
            r"seems(?: like)?|looks like) the (?:best|cleanest|simplest|right) (?:fit|approach|option|"
            r"choice|way|path))\b",
            "I'd recommend option 1",
        ),
    ),
    "approval": (
        Phrase(
            r"^\W*(?:(?:ok(?:ay)?|yes|yep|yup|yeah|sure|agreed|perfect|great|good|sounds good|makes sense|"
            r"go (?:ahead|for it)|do (?:it|that)|let'?s do (?:it|that|this)|i agree|please|"
            r"your way is fine|works for me|proceed with that|exactly|right)\W*){1,3}$",
            "ok, sounds good",
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
    "trouble": (
        Phrase(
            r"\b(?:errors?|fail(?:s|ed|ing|ure)?|broke(?:n)?|bug|crash(?:es|ed|ing)?|(?:does|do|did|is|"
            r"are|was)(?:n'?t| not) (?:\w+ ){0,2}(?:work|start|load|show|run|build|compile|render|scroll|"
            r"appear|happen|found|being)\w*|exception|traceback|stuck|hangs?|wrong|regression|why (?:is|"
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
    "decision_heading": (
        Phrase(
            r"^(?:key |main |important |architectur\w+ |technical |design )*(?:decisions?|design choices|"
            r"choices)(?: \w+){0,3}$",
            "Key decisions",
        ),
    ),
}

#: Words without which a table cannot match: looking for them first is what keeps distilling quick.
ANCHORS: dict[str, str] = {
    "assistant_choice": (
        "decid| chose|choosing| opted|opted for| picked|settled on|went with|go with|going with|"
        " kept |kept | left |ll leav|leaving| avoided|ll avoid|avoiding| switched|ll switch|"
        "switching|ll use|will use|m using|re using|ll keep|will keep|keeping|ll stick|sticking|"
        "will stick|i used|decision|design choice|will avoid|will leave|will switch|am using|"
        "are using|chose "
    ),
    "cause": (
        "issue|problem|bug|cause|culprit|error|failure|reason|because|found it|turns out|due to the fact"
    ),
    "contrast": (
        "rather|instead|in favor of|in favour of|as opposed to|over using|, not|; not|and not|not the|not a"
    ),
    "reason": (
        "because|since|so that|so we|so i|so it|so they|so the|so you|as it|as we|as they|as you|"
        "as i |as that|as this|as there|due to|to avoid|to keep|to prevent|to make sure|to ensure|"
        "to reduce|to save|to match|to minimi|to simplify|to allow|to stay|to be sure|in order to|"
        "otherwise|that way|this way|the reason|for consistency|for simplicity|for performance|"
        "for safety|for now|for compatibility|for security|for speed|for readability|given that|"
        "which avoids|which keeps|which means|which lets|which makes|which is"
    ),
    "standing": (
        "always|never|ever|from now on|going forward|future|rule|every time|whenever|next time|"
        "don't|dont|do not|stop|prefer|i like|i want|i'd like|i hate|i dislike"
    ),
}
