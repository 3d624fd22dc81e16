"""English, what people say when they choose and wish: the widest table, because most sessions are in it."""

from backstory.distil.phrases.phrase import Phrase

#: Back to what was there before, and why: a choice. Back to a place in the work is none.
BACK_TO = (
    r" back (?:to|onto)\b(?! (?:you|me|us|it|this|that|work|sleep|bed|step|square|page|task|normal|what|"
    r"where|when|how|why|main|master|head|\d|the (?:\S+ ){0,2}?(?:start|beginning|top|plan|task|issue|"
    r"question|test|list|problem|bug|code|file|previous|last|first|earlier|board|page|error|failure|ticket|pr|"
    r"review)s?)\b)"
    r"(?=.{2,400}?\b(?:instead|rather|because|since|cause|as (?:it|we|they|the)|so (?:that|we))\b"
    r"|.{2,400}?[,;:–—] ?\S{1,80} \S{1,80} \S)"
)

#: A quality is a reason only if it stands alone: "for performance", not "for performance tracing".
NO_PART_OF_A_NAME = (
    r"(?= *(?:$|[^\w\s`'-]|-(?= )|(?:reasons?|sakes?|purposes|and|or|with|of|in|on|at|across|between|over|"
    r"when|if|but|as|because|since|then|here|there|please|only|alone|too|everywhere|instead|rather)\b))"
)

CHOICES: dict[str, tuple[Phrase, ...]] = {
    "user_choice": (
        Phrase(
            r"\blet'?s\s+(?:just\s+|please\s+|not\s+|also\s+)*(?!(?:see|look|check|start|begin|understand|"
            r"talk|consider|discuss|review|try|run|test|continue|find|figure|first|take (?:a|another|"
            r"care|stock)|proceed|get|"
            r"go\s+(?:ahead|through|over|back)|work|commit|push|say|think|them|explore|read|investigate|"
            r"debug|fix|plan|verify|turn (?:our|your|to)|move (?:on|to)|capture|address|be sure|"
            r"wait|ask|skip to|jump|focus|finish)\b)\w+",
            "let's use RS256",
        ),
        Phrase(
            r"^(?:(?:ok(?:ay)?|no|yes|sorry|please|and|so|then|well|actually|hm+|just|instead|"
            r"on second thoughts?)[,. ]++)*(?:(?:let'?s|we(?:'ll|'re| will| should| want to| need to| are)?|"
            r"i(?:'d| would)? (?:want|like|rather|prefer)(?: to)?) )?(?:just )?(?:go|switch|move|change|roll|"
            r"return|revert)(?:ing)?" + BACK_TO,
            "go back to MySQL, nobody here runs Postgres",
        ),
        Phrase(
            r"\b(?:we|i)(?:'ll| will| should| want to| wanna| need to)\s+(?:use|go with|stick with|keep|"
            r"switch to|avoid|drop|support|target)\b",
            "we'll go with Postgres",
        ),
        Phrase(r"\bwe\s+(?:stay|remain|keep|take|go|never|always|only|explicitly)\b", "we stay on v1"),
        Phrase(
            r"\b(?:i|we)\s+(?:have |already )?(?:decided|chose|settled on|picked|opted)\b",
            "we decided on SQLite",
        ),
        Phrase(r"\b(?:i|we)(?:'d)?\s+(?:would\s+|should\s+)?(?:rather|prefer)\b", "I'd rather keep it flat"),
        Phrase(
            r"\b(?:i|we)(?:'d| would) (?!(?:like|love|need|want|say|guess|have|be|know|ask|see|hate|expect|"
            r"think|get|appreciate|assume|never|still|also|hope|wish)\b)\w+",
            "I'd keep the tests in one file",
        ),
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
        Phrase(
            r"\b(?:decisions?(?: (?:made|taken|locked in|confirmed|is|are))?|final|verdict)\s*:",
            "Decision: flat files",
        ),
        Phrase(
            r"\b(?!(?:what|how|as|like|that|because|which|where|who|one|since|whatever|way|think|say|know|"
            r"whether|if|when|than|but|and)\b)[\w.+#`-]{1,60} it is(?: (?:then|after all|"
            r"for now))?(?=[,.:;!–—-]|$)",
            "SQLite it is: two writers",
        ),
        Phrase(
            r"\b(?:go(?:ing)? (?:with|for)|i'd go (?:with|for)|opt for|settle on)\b",
            "I'm going with the second",
        ),
        Phrase(
            r"\b(?:should|must|(?:needs?|has|have) to)\s+(?!have (?:\w+ed|been|caught|done|known|seen|"
            r"made|said|"
            r"thought)\b)(?:always\s+|only\s+|not\s+|never\s+|"
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
        Phrase(r"\b(?:we|i) have no (?:desire|wish|intention)\b", "we have no desire to rate them"),
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
        Phrase(
            r"\b(?:decisions?(?: (?:made|taken|locked in|confirmed))?|decided|design choice)\s*:",
            "Decisions locked in: one queue",
        ),
        Phrase(
            r"\bi(?:'ve| have)?\s+(?:deliberately\s+|intentionally\s+)?(?:put|made|placed|wrote|built|"
            r"set|stored|"
            r"did(?:n'?t| not) \w+|implemented|named|returned|treated|moved)\b",
            "I put it into LDLIBS",
        ),
        Phrase(
            r"\bthe (?:simplest|cleanest|right|best|safest|minimal|smallest) (?:fix|approach|way|option|"
            r"solution|"
            r"move|place|choice)(?: here)? is to \w+",
            "the simplest fix is to treat both alike",
        ),
        Phrase(
            r"^(?:keeping|chose|choosing|kept|went with|going with|sticking with|opted for)\b",
            "Chose a lock file",
        ),
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
            r"in order to|otherwise|that way|this way|the reason|for now|for (?:consistency|simplicity|"
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
        Phrase(r"^(?:please )(?:don'?t|do not|stop)\s+\w", "please don't add emojis"),
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
