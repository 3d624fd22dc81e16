"""English, what people say when they choose and wish: the widest table, because most sessions are in it."""

from backstory.distil.phrases.phrase import Phrase

#: Back to what was there before, and why: a choice. Back to a place in the work is none.
BACK_TO = (
    r" back (?:to|onto)\b(?! (?:you|me|us|it|this|that|work|sleep|bed|step|square|page|task|normal|what|"
    r"where|when|how|why|main|master|head|\d|the (?:\S+ ){0,2}?(?:start|beginning|top|plan|task|issue|"
    r"question|test|list|problem|bug|code|file|previous|last|first|earlier|board|page|error|failure|"
    r"ticket|pr|"
    r"review)s?)\b)"
    r"(?=.{2,400}?\b(?:instead|rather|because|since|cause|as (?:it|we|they|the)|so (?:that|we))\b"
    r"|.{2,400}?[,;:–—] ?\S{1,80} \S{1,80} \S)"
)

#: A quality is a reason only if it stands alone: "for performance", not "for performance tracing".
NO_PART_OF_A_NAME = (
    r"(?= *(?:$|[^\w\s`'-]|-(?= )|(?:reasons?|sakes?|purposes|and|or|with|of|in|on|at|across|between|over|"
    r"when|if|but|as|because|since|then|here|there|please|only|alone|too|everywhere|instead|rather)\b))"
)

#: Verbs that take or give up something for good. To add, fix, update, run or commit something is a task.
TAKING = (
    r"(?:us(?:e|ing)|go(?:ing)? (?:with|for)|keep(?:ing)?|stay(?:ing)?|stick(?:ing)?|remain|switch(?:ing)?|"
    r"migrat(?:e|ing)|mov(?:e|ing)(?: \S+){0,4}? (?:to|from)|drop(?:ping)?|ditch|scrap|remove|replace|"
    r"leave|avoid|support|target|"
    r"pin|prefer|default to|skip|stop(?:ping)? using|no longer use|take(?! (?:a|care|into)\b)|store|cap|"
    r"sign|hash|"
    r"retry|paginate|do(?= (?:that|this)\b)|(?:name|make)(?= (?:it|the|all|them|every|`)))\b"
)

CHOICES: dict[str, tuple[Phrase, ...]] = {
    "user_choice": (
        Phrase(
            r"\b(?:let'?s|let us) (?:just |please |not |also |always |rather |really )*" + TAKING,
            "let's use RS256",
        ),
        Phrase(
            r"\b(?:we|i|you)(?:'ll| will| should| want to| wanna| need to| must| have to|'d| would|'re| can) "
            r"(?:rather |only |always |never |just |please |not |explicitly )*" + TAKING,
            "we'll go with Postgres",
        ),
        Phrase(
            r"\bwe (?:also |only |always |never |explicitly )*(?:use|stop using|no longer use|stay|keep|"
            r"stick|drop|ditch|go with|take|"
            r"don'?t (?:use|want|support|pull in)|ship)\b",
            "we stay on v1",
        ),
        Phrase(
            r"^(?:[^,;:]{3,50}[,;:] )?(?:please |just |rather |better |simply |always |only |instead )*"
            r"(?:don'?t |do not |never )*" + TAKING,
            "use RS256",
        ),
        Phrase(
            r"\b(?:i|we|team)(?:'ve| have| has)? (?:just |already |finally |all )?(?:decided|chose|chosen|"
            r"settled "
            r"on|picked|opted|agreed|standardi[sz]ed)\b",
            "we decided on SQLite",
        ),
        Phrase(r"^(?:ok so )?(?:decisions?|final|verdict)\s*:", "Decision: flat files"),
        Phrase(r"\b(?:i|we)(?:'d)? (?:would |should )?(?:rather|prefer)\b", "I'd rather keep it flat"),
        Phrase(
            r"\b(?!(?:what|how|as|like|that|because|which|where|who|one|since|whatever|way|think|say|know|"
            r"whether|if|when|than|but|and)\b)[\w.+#`-]{1,60} it is(?: (?:then|after all))?(?=[,.:;!–—-]|$)",
            "SQLite it is: two writers",
        ),
        Phrase(
            r"^(?:[\w`'-]+ ){1,5}?(?:should|must|(?:needs?|has|have) to) (?!have\b)(?:always |only |not |"
            r"never |"
            r"just |first )*(?:be|have|use|go|live|stay|come|return|show|keep|handle|create|run)\b",
            "this should be DEBUG, not INFO",
        ),
        Phrase(
            r"^(?:the |our |all |my |every )?[\w`'-]+(?: [\w`'-]+){0,2} (?:stays?|lives?|belongs?|goes|"
            r"becomes?|"
            r"gets? (?:its|their) own)\b(?! (?:live|wrong|down|up|away|back|from|missing|through)\b)",
            "money stays integer cents",
        ),
        Phrase(
            r"^(?:instead of|rather than)\b.{3,90}?\b(?:use|have|name|call|make|put|show|store|keep)\b",
            "instead of globals use a context",
        ),
        Phrase(
            r"^(?:(?:let'?s|we(?:'ll|'re| will| should| want to| need to| are)?|i(?:'d| would)? (?:want|"
            r"like|rather|"
            r"prefer)(?: to)?) )?(?:just )?(?:go|switch|move|change|roll|return|revert)(?:ing)?" + BACK_TO,
            "go back to MySQL, nobody here runs Postgres",
        ),
    ),
    "assistant_choice": (
        Phrase(
            r"\b(?:i|we)(?:'ve| have)? (?:therefore |also )?(?:decided|chose|opted|picked|settled on|"
            r"went with|"
            r"(?:deliberately|intentionally) \w+)\b",
            "I chose bcrypt",
        ),
        Phrase(
            r"\b(?:decisions?(?: (?:made|taken|locked in|confirmed))?|decided|design choice)\s*:",
            "Decisions locked in: one queue",
        ),
        Phrase(r"^(?:chose|choosing|went with|going with|sticking with|opted for)\b", "Chose a lock file"),
    ),
    "contrast": (
        Phrase(r"\brather\b.{3,160}?\bthan\b", "I'd rather keep a prop than add a context"),
        Phrase(
            r"\b(?:instead of|rather than|in favou?r of|as opposed to|over using|, not|; not|and not|"
            r"not (?:the|a|an|in|on|with|as|per|by|from)\b|instead|, no \w|, never\b|and never|"
            r"without (?:a|an|any)\b|vs\.? )",
            "RS256 instead of HS256",
        ),
    ),
    "reason": (
        Phrase(
            r"\b(?:because|'?cause (?:we|it|i|they|the|you|there|that|our|this|of)|cuz|bc\b|(?:or|"
            r"and) else|since(?! (?:yesterday|last|then|the (?:last|update|"
            r"upgrade|merge|release|deploy)|monday|tuesday|wednesday|thursday|friday|this (?:morning|"
            r"week)|today|"
            r"(?:i|we|you|they|he|she|somebody|someone)(?:'ve| have)? (?!(?:need|want|decid|agre|"
            r"promis)\w*)"
            r"(?:\w+ed|made|did|put|set|ran|went|took|wrote|built|began|got)\b))|so that|so (?:we|i|it|"
            r"they|"
            r"the|you) (?:can|do|don|does|won|will|are|is|only|never|have|get|keep|stay|must|has)|"
            r"as (?:it|we|they|"
            r"you|i) (?:is|are|was|were|has|have|can|do|does|need|already|only|don|will|won)|"
            r"as (?:it's|its (?=(?:an?|the|not|too|so|only|already|just|"
            r"\w+er)\b)|that'?s|this is|there'?s)\b|due to|"
            r"(?<!want )(?<!need )(?<!like )(?<!going )(?<!have )(?<!has )(?<!try )"
            r"(?<!decided )(?<!chose )(?<!opted )(?<!prefer )(?<!important )to (?:avoid|keep|"
            r"prevent|make sure|ensure|reduce|save|match|minimi[sz]e|simplify|allow|stay|be sure)|"
            r"in order to|otherwise|that way|this way|the reason|for (?:consistency|simplicity|"
            r"performance|safety|compatibility|security|speed|readability)" + NO_PART_OF_A_NAME + r"|"
            r"given that|which (?:avoids|"
            r"keeps|means|lets|makes|is (?:simpler|faster|safer|cleaner|better)))",
            "because keys rotate",
        ),
    ),
    "tentative": (
        Phrase(
            r"\b(?:if (?:we|you|i|it|they|that|there)\b|what if|could (?:we|you|i|also)|might|maybe|"
            r"i bet|i guess|likely|probably|presumably|i assume|i suppose|"
            r"perhaps|should(?:n'?t)? (?:we|i)|shouldn'?t it|don'?t we|would (?:you|it|be|we)|wonder|"
            r"not sure|consider(?:ing)?|"
            r"alternatively|one option|unless|do you|"
            r"(?:it|that|this) must (?:be (?:the|a|an|some|because|in)\b|have been)|either|"
            r"let me (?:check|see|look|"
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
            r"^(?:(?:ok(?:ay)?|and|also|but|so|oh|btw|by the way|please|remember|note|no)[,:. ]+)*"
            r"(?:don'?t|do not|never|no|stop|avoid|use|keep|write|put|make|run|start|prefer)\b[^?]{2,80}?"
            r"(?:[,;:.–—-]|\b(?:and|but))\s+(?:please |instead |but |and )*(?:always|never)\s+"
            r"(?!(?:mind|ever|again|the|been|was|did|had|\w+(?:ed|s))\b)\w",
            "Don't use tabs, always use spaces",
        ),
        Phrase(
            r"^(?:please )?(?:no|use|avoid|prefer) (?!(?:idea|clue|luck|problem|way|one|more|need)\b)\S+"
            r"(?: \S+){0,2}?[,;] (?:but |and )?(?:always|never) (?!(?:mind|ever|again|the|been|was|did|had|"
            r"fails?|works?|worked)\b)\w",
            "no tabs, always spaces",
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
        Phrase(
            r"^(?:please )(?:don'?t|do not|stop)\s+\w(?!.*\b(?:yet|right now|for now|this time|today)\b)",
            "please don't add emojis",
        ),
        Phrase(
            r"\b(?:(?:should|must) (?:never|always)|must not|(?:should|must)(?: not|n'?t) .{3,80} ever)\b",
            "full schema should not be updated ever",
        ),
        Phrase(
            r"^(?:always )?before (?:making|you|doing|any|each|every|committing|pushing|"
            r"opening)\b.{3,80}\b(?:don'?t "
            r"forget|make sure|always|first)\b",
            "before making changes, don't forget to switch to main",
        ),
        Phrase(
            r"\bi(?:'d| would) (?:much |strongly |really )?prefer (?:that|if|not to|to (?!see|know))",
            "I would prefer that the flows are tested",
        ),
        Phrase(
            r"\b(?:keep|keeping|make|should be|must be) (?:[\w'-]+ ){1,3}as \W?\w+\W? as possible\b",
            "keep this as serverless as possible",
        ),
        Phrase(
            r"\bi (?:prefer|like|want|'d like|hate|dislike) (?:it when |that )?(?:you (?:to )?(?:always |"
            r"never )|short|small|tabs|spaces|conventional|concise|plain|to (?:always|never)|when you)",
            "I prefer small commits",
        ),
    ),
    "recommend": (
        Phrase(
            r"\b(?:i(?:'d| would)?\s+(?:strongly\s+|still\s+)?(?:recommend|suggest|propose|go with|"
            r"lean(?: towards?)?)|i'd (?!(?:like|love|need|be|say|guess|have|know|expect|think|"
            r"appreciate|also|still|want|assume|ask|happily|note|imagine|prefer to (?:see|know))\b)\w+|"
            r"my (?:recommendation|suggestion|proposal|instinct)|(?:is|"
            r"seems(?: like)?|looks like) (?:clearly |probably |definitely )?the (?:best|cleanest|simplest|"
            r"right|safest|natural|obvious|better) (?:fit|fix|approach|option|choice|way|path|one|call)|"
            r"i think .{3,80}(?:belongs?|should|"
            r"is (?:better|simpler|safer))|is (?:sufficient|all (?:we|"
            r"you) need))\b",
            "I'd recommend option 1",
        ),
    ),
    "approval": (
        Phrase(
            r"^\W*(?:(?:y|ok(?:ay)?|all ?right|yes|yep|yup|yeah|sure|agreed|perfect|great|good|sounds good|"
            r"makes sense|"
            r"go (?:ahead|for it)|do (?:it|that)|let'?s do (?:it|that|this)|i agree|please|"
            r"your way is fine|works for me|fine by me|fine with me|agree|proceed with that|exactly|"
            r"right)\W*){1,3}$",
            "ok, sounds good",
        ),
    ),
    "decision_heading": (
        Phrase(
            r"^(?:key |main |important |architectur\w+ |technical |design )*(?:(?:decisions|design choices|"
            r"choices)(?: \w+){0,3}|decision)$",
            "Key decisions",
        ),
    ),
}
