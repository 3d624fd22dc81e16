"""English, what is put off: when, by whom, and what only sounds like it."""

from backstory.distil.phrases.phrase import Phrase

LATER: dict[str, tuple[Phrase, ...]] = {
    "time": (
        Phrase(
            r"\b(?:tomorrow|tonight|next (?:time|session|week|month|sprint|year)|later|another (?:day|"
            r"time|session|"
            r"pr)|some ?(?:day|time)|(?:on )?(?:monday|tuesday|wednesday|thursday|friday)|(?:after|"
            r"over) (?:lunch|"
            r"the (?:release|freeze|weekend|holidays?|meeting|break))|not (?:today|now|yet)|when i(?:'m|"
            r" am|"
            r" get) back|in (?:a|the) (?:separate|follow-?up|next|later|different|new|another) (?:pr|"
            r"commit|"
            r"session|branch|change)|another round)\b",
            "tomorrow we add the index",
        ),
    ),
    "dated": (
        Phrase(
            r"\b(?:see you|talk (?:to you )?(?:later|tomorrow)|until tomorrow|not later|now, not|"
            r"tomorrow'?s|tonight'?s|next (?:week|month|year|time|session)'s|(?:\d+|a few|two|three|"
            r"four|five|"
            r"six|some|many|several) (?:\w+ )?(?:seconds?|minutes?|hours?|days?|weeks?|months?|years?|"
            r"lines?|"
            r"versions?|commits?|turns?|steps?) later|sooner or later|later (?:versions?|releases?|stages?|"
            r"steps?|in the|than|when)|or later|and later|(?:since|until|by|from|before|last|"
            r"every) (?:monday|"
            r"tuesday|wednesday|thursday|friday))\b",
            "six months later",
        ),
        Phrase(r"\b(?:later|tomorrow|tonight|next)(?=[(=`_])", "later() is gone"),
        Phrase(
            r"^(?:.{0,40}: )?(?!(?:that|this|it|those|these|we|i|you|let)\b)(?:(?:the|our|a|my|their|"
            r"\w+) )?[\w'/-]+(?: [\w'/-]+)?"
            r" (?:is|are|was|were|starts?|begins?|launch(?:es)?|ships?|happens?|ends?|comes?|arrives?|"
            r"expires?|"
            r"goes live|opens?|closes?|breaks?|bites?|fails?|returns?)\b",
            "launch is next week",
        ),
        Phrase(
            r"^(?:schedule|run|start|set|trigger)\b.{0,40} (?:for|at|on|every)\b", "schedule it for monday"
        ),
    ),
    "put_off": (
        Phrase(
            r"(?:^|[,;:.–—] |\band |\bbut |\bthen |\bso )(?:please )?(?:remaining:|left(?: to do)?:|park|"
            r"postpone|defer|shelve|"
            r"hold off|"
            r"put (?:it|that|this|the .{2,30}) (?:off|aside)|remind me|do(?:n'?t| not) (?:let (?:me|"
            r"us) )?forget|"
            r"come back to|pick (?:this|it|that) up|circle back|to-?dos?\b|still (?:to do|open|missing|"
            r"todo)|"
            r"follow[- ]?up\b|next (?:is|up|comes?)\b|(?:skip|leave|drop) .{2,60} for now)",
            "park the rounding",
        ),
        Phrase(
            r"\b(?:still (?:needs?|have|has|need) to|still (?:missing|to do|todo|open|needs)|"
            r"that leaves|what'?s left is|left to do|one for (?:later|tomorrow|next)|(?:for|"
            r"as) (?:a )?follow[- ]?up"
            r"|for (?:later|next time|another))\b",
            "the docs are still missing",
        ),
    ),
    "waiting": (
        Phrase(
            r"\b(?:i(?:'ll| will| have to| need to| must| gotta| should| want to)(?: first| have to|"
            r" need to)? "
            r"(?:ask (?!(?:you|for|about|if|whether|a|some|more|clarifying|questions)\b)|check with|"
            r"talk to|speak to|ping|find out|get back|come back (?:to (?:you|this|that)|with)|"
            r"let you know|clarify with|confirm with|discuss)|(?:am |'m |are |'re |is |be |still |"
            r"^)waiting (?:for|on)\b|"
            r"(?:has|have|needs?|must|should) (?:to )?(?:first )?(?:decide|tell (?:me|us)|send (?:me|"
            r"us)|approve|confirm|sign (?:it |this |that )?off|"
            r"answer|"
            r"get back)|until (?:i|we|they|he|she|you|\w+)(?:'ve| have| has|'s)? ?(?:hear|heard|know|knows|"
            r"asked|ask|decides?|decided|answers?|answered|confirms?|confirmed|gets? back|got|replied|"
            r"replies|approves?|approved|signed|signs|spoken)|"
            r"(?:we|i) (?:still )?need (?:an?|the|their|his|her|your) (?:decision|answer|ok|approval|"
            r"sign-?off|feedback|"
            r"input|confirmation|go-ahead)|(?:legal|finance|ops|security|marketing|product|design|sales|"
            r"accounting|management|my boss|"
            r"the (?:client|customer|team|boss)) (?:decides?|will decide|wants to|has to|must))\b",
            "legal has to decide",
        ),
        Phrase(
            r"\b(?!(?:it|that|this|which|there|i|we|you|script|server|client|hook|job|app|"
            r"api)\b)[\w'-]{1,60} "
            r"(?:will|is going to|wants to) (?:still )?(?:send|give|get|tell|bring|provide|deliver|mail|"
            r"email|"
            r"forward|write) (?:it to )?(?:us|me)\b(?! a hand)",
            "legal will send us the text",
        ),
        Phrase(r"\b(?:still )?owes? (?:us|me)\b", "marketing still owes us the texts"),
        Phrase(
            r"\bi(?:'ve| have)? (?:already )?asked (?!(?:you|it|claude|that|this)\b)"
            r"[\w'-]+(?: [\w'-]+)? (?:for|to|whether|if|which|when)\b",
            "I asked Lena for the key",
        ),
        Phrase(
            r"\bonly .{2,60}\b(?:once|after) (?!(?:i|we|you|it)\b).{2,40} (?:has|have)\b",
            "we can only switch once the provider has moved the zone",
        ),
        Phrase(
            r"\b(?:should|will) (?:arrive|be here|come in)\b",
            "they should arrive next week",
        ),
        Phrase(
            r"\bi(?:'ve| have)? (?:already )?(?:written to|emailed|mailed|pinged|messaged|"
            r"contacted) (?!you\b)\w",
            "I have written to her",
        ),
        Phrase(
            r"\b(?:must ?n[o']t|can'?t|cannot|do(?:n'?t| not)|not to|wait|hold) .{0,40}(?:until|till|before|"
            r"unless) (?!(?:i|we|you|it|the test|tests)\b)(?:the )?[\w'-]+ (?:has|have|is|are|changes|"
            r"fixes|moves)\b",
            "we mustn't deploy until she has changed it",
        ),
        Phrase(
            r"\b(?!(?:it|that|this|which|code|i|we|you|claude|he|what|who|everything|nothing|still|is|"
            r"already)\b)"
            r"[\w'-]{1,60}(?:'s| is| are) (?:already |still |currently )?(?:working on|looking (?:at|into)|"
            r"taking care of|"
            r"on) (?:it|that|this|those|them)\b",
            "Meera is already working on it",
        ),
        Phrase(
            r"^(?:\W*+(?:k|ok|thx|thanks)\W++)*[\w .`'/-]{2,40} (?:is|are|comes?) next(?=\W*$|[,;.] | but|"
            r" then| and)",
            "resampler is next",
        ),
    ),
}
