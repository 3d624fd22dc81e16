"""English, the moves of a talk: refusing, telling what to do, judging, putting off, waiting."""

from backstory.distil.phrases.phrase import Phrase

TALK: dict[str, tuple[Phrase, ...]] = {
    "opener": (
        Phrase(
            r"^(?:(?:ok(?:ay)?|yes|yeah|yep|yup|sure|right|fine|good|great|nice|cool|perfect|thanks|thx|and|so|"
            r"then|but|also|please|pls|just|actually|instead|well|ah+|oh|uh+|um+|hm+|no(?=[,.!;:])|nope|nah|nay|hi|hey|"
            r"hello|one more thing|for (?:the )?\S+|on (?:#|no\.? )?\d|re|as for \S+|in that case|i think|i guess|"
            r"i'd say|honestly|to be clear|for now|from now on|first|second(?:ly)?|finally|lastly)\b[\s,.:;!…-]+)+",
            "ok, so for 2 we want",
        ),
    ),
    "refusal": (
        Phrase(
            r"^(?:(?:uh+|um+|hm+|oh|ah|well|ok(?:ay)?|sorry|but)[\s,.]+)*(?:no+(?=[,.!;:–—…]|$)|nope|nah|nay|please don'?t|"
            r"absolutely not|not like that|wrong|forget)",
            "hm, no",
        ),
    ),
    "directive": (
        Phrase(
            r"^(?:always |never |only |not |don'?t |do not |rather |better |simply )*(?:use|keep|drop|avoid|store|"
            r"leave|take|pick|choose|prefer|go|stay|stick|switch|make|put|set|return|throw|raise|name|call|split|"
            r"merge|default|skip|ignore|allow|require|treat|hide|limit|cap|round|fail|crash|let|replace|remove|"
            r"delete|get rid|move|rename|add|do|have|turn|borrow|clone|copy|cache|retry|batch|inline|wrap|mock|"
            r"hardcode|hard-code|expose|reuse|target|support|pin|bump|vendor|enforce|disable|enable|validate|"
            r"write|build|render|sort|log|encode|parse|read|load|emit|send|cut|strip|kill|want)\b",
            "remove the old flag",
        ),
        Phrase(
            r"^(?:no|never|without|zero)\s+(?!(?:idea|problem|worries|way|one|luck|clue|rush|hurry|"
            r"longer|doubt|matter|sure|yet|now|today|bad|that|this|it|really|need|wonder|thanks|questions?|"
            r"much|too|so|more|less|because|if|when|what|why|how|i|we|you|in|on|at)\b)[\w`'\"]",
            "no new dependency",
        ),
        Phrase(r"^(?!.*\?).{3,70}\b(?:please|pls)\b", "sample sd please"),
        Phrase(
            r"^(?:(?:we|i|you|it|they|this|that|there|the \S+(?: \S+)?|\S+) )?(?:must(?:n'?t| not)?|"
            r"should(?:n'?t| not)|"
            r"need(?:s)?(?: to)?|has to|have to|wants?|don'?t want|do not want|(?:have|has) no (?:desire|"
            r"need|wish))\b",
            "it has to die",
        ),
    ),
    "negated": (
        Phrase(
            r"^(?:(?:i|we|you) )?(?:no|not|never|without|don'?t|do not|must ?n[o']t|should ?n[o']t|avoid|drop|"
            r"remove|skip|forget)\b",
            "no mkdir",
        ),
    ),
    "verdict": (
        Phrase(
            r"\b(?:is|are|it'?s|that'?s|sounds|seems|looks|feels|would be|wins?)\s+(?:\w+ ){0,2}?(?:better|best|"
            r"simpler|safer|cleaner|nicer|preferable|enough|overkill|important|the way to go|pointless|"
            r"unnecessary|nonsense|fine (?:for|with)|too (?:big|slow|heavy|much|wide|complex|complicated|risky|"
            r"expensive|fragile|clever|magic))\b",
            "option B is better",
        ),
    ),
    "merit": (
        Phrase(
            r"\b(?:not (?:\w+ )?(?:good|important|worth|needed|necessary|useful|ideal|great|helpful|safe)|needs?|"
            r"worth|better|best|simpler|easier|cleaner|faster|slower|slow|wide|heavy|huge|overkill|enough|"
            r"confusing|wrong|weird|odd|noisy?|ugly|expensive|cheap|cheaper|safe|safer|risky|dangerous|breaks?|"
            r"loses?|lost|locks?|locked|fills?|fails?|already|only|never|nobody|no one|everyone|everybody|too|"
            r"can'?t|cannot|doesn'?t|don'?t|won'?t|would|otherwise|again|trouble|hard|hate|fragile|"
            r"insists?|requires?|costs?|expects?|waste|wasted|pointless|useless|redundant|same|last (?:time|"
            r"year|week|month)|bites?|bit us|burn(?:ed|t)|legacy|deprecated|preferred|standard|readable|"
            r"maintain\w*|at least|at most|up to|per (?:second|minute|hour|day)|\d+ ?(?:k|m|mb|gb|kb|ms|%|"
            r"users|rows|lines|times|hours|minutes|seconds|days))\b",
            "that's not important",
        ),
    ),
    "chore": (
        Phrase(
            r"^(?:(?:can|could|would|will) you|don'?t|do not|never|only|just|go and|please|pls|now|then|first|"
            r"start(?: by| with)?|try(?: to)?|continue|let'?s|lets)?\s*\b(?:run|rerun|re-run|show|look|check|"
            r"explain|describe|tell|commit|push|pull|test|review|investigate|research|find|search|see|ask|wait|"
            r"stop|start|continue|proceed|touch|worry|bother|forget|summari[sz]e|verify|confirm|try|debug|fix|"
            r"address|open|close|deploy|release|restart|reboot|undo|redo|revert|update|implement|document|finish|complete|clean up|refactor|rerun|list|print|compare|analy[sz]e|"
            r"think|give|help|walk|draft|propose|suggest|plan|read through|go (?:ahead|on|through|over|back)|"
            r"take (?:a|another) (?:look|note|screenshot)|make (?:sure|a (?:pr|commit|plan|branch|note)|it (?:work|"
            r"pass|green|go|run|so|happen))|do (?:not |n'?t )?(?:anything|nothing|that again)|let me|have a look|"
            r"write (?:a |the |some |more |me )*(?:tests?|summary|commit|message|docs?|report|into|down|it)|"
            r"add (?:a |the |some |more )*(?:tests?|test cases?|docs?|comments?|logging|prose)|"
            r"update (?:the |all |our )*(?:docs?|readme|tests?|changelog)|leave (?:it|that|this|me)|"
            r"(?:use|spawn|launch|start) (?:an?|the|your|some|more|several|two|three)? ?(?:sub-?)?(?:agents?|"
            r"tools?|skills?|web ?search|gh|plan mode|mcp\w*|todo list))\b",
            "run the linter",
        ),
        Phrase(
            r"^.{0,60}?\b(?:(?:change|touch|edit|restructure|refactor|rename|commit|push|merge|apply|deploy|implement|do|"
            r"break) (?:anything|something|it|that|this)? ?(?:yet|else|now|for now)|keep me (?:posted|updated)|"
            r"use an? (?:sub-?)?agent|keep going|changes? yet|get (?:this|it|that) (?:committed|merged|done|running))\b",
            "don't restructure anything yet",
        ),
    ),
    "own_plan": (
        Phrase(
            r"^(?:and |so |but )?(?:i'?ll|i will|i'?m (?:going|off|out|on|in|at|not sure|sorry)|i have to|"
            r"i need to|i gotta|i want (?:you |to (?:see|know|keep|check|look|read|understand|have a look))|"
            r"i'?ve got|let me|brb|we'?ll see|i(?:'d| would) like (?:you|to see)|thanks?|thx|please|i (?:see|"
            r"got|get|keep|ran|tried|think|guess|believe|don'?t know|know|noticed|saw))\b",
            "I'll ask Petra",
        ),
    ),
    "reversal": (
        Phrase(
            r"\b(?:forget (?:what i said|about|that|the)|scrap (?:that|this|the)|on second thoughts?|"
            r"changed? my mind|never ?mind|after all|i take (?:that|it) back|not .{2,30} any ?more|"
            r"back to .{2,40} then)\b",
            "on second thought, SQLite",
        ),
    ),
    "delegate": (
        Phrase(
            r"\b(?:what(?:ever|'s) (?:you|do you) (?:think|prefer|like|recommend)|whatever(?:'s| is) (?:best|"
            r"easiest|simplest)|up to you|your call|you (?:decide|choose|pick)|you know (?:best|better)|"
            r"i(?:'ll)? (?:leave|trust) (?:it|that|you)|as you (?:like|see fit|prefer))\b",
            "whatever you think is best",
        ),
    ),
    "time": (
        Phrase(
            r"\b(?:tomorrow|tonight|next (?:time|session|week|month|sprint|year)|later|another (?:day|time|session|"
            r"pr)|some ?(?:day|time)|(?:on )?(?:monday|tuesday|wednesday|thursday|friday)|(?:after|over) (?:lunch|"
            r"the (?:release|freeze|weekend|holidays?|meeting|break))|not (?:today|now|yet)|when i(?:'m| am|"
            r" get) back|in (?:a|the) (?:separate|follow-?up|next|later|different|new|another) (?:pr|commit|"
            r"session|branch|change)|another round)\b",
            "tomorrow we add the index",
        ),
    ),
    "dated": (
        Phrase(
            r"\b(?:tomorrow'?s|tonight'?s|next (?:week|month|year|time|session)'s|(?:\d+|a few|two|three|four|five|"
            r"six|some|many|several) (?:\w+ )?(?:seconds?|minutes?|hours?|days?|weeks?|months?|years?|lines?|"
            r"versions?|commits?|turns?|steps?) later|sooner or later|later (?:versions?|releases?|stages?|"
            r"steps?|in the|than|when)|or later|and later|(?:since|until|by|from|before|last|every) (?:monday|"
            r"tuesday|wednesday|thursday|friday))\b",
            "six months later",
        ),
        Phrase(
            r"^(?:.{0,40}: )?(?!(?:that|this|it|those|these|we|i|you|let)\b)(?:(?:the|our|a|my|their|\w+) )?[\w'/-]+(?: [\w'/-]+)?"
            r" (?:is|are|was|were|starts?|begins?|launch(?:es)?|ships?|happens?|ends?|comes?|arrives?|expires?|"
            r"goes live|opens?|closes?|breaks?|bites?|fails?|returns?)\b",
            "launch is next week",
        ),
    ),
    "put_off": (
        Phrase(
            r"(?:^|[,;:.–—] |\band |\bbut |\bthen |\bso )(?:please )?(?:park|postpone|defer|shelve|hold off|"
            r"put (?:it|that|this|the .{2,30}) (?:off|aside)|remind me|do(?:n'?t| not) (?:let (?:me|us) )?forget|"
            r"come back to|pick (?:this|it|that) up|circle back|to-?dos?\b|still (?:to do|open|missing|todo)|"
            r"follow[- ]?up\b)",
            "park the rounding",
        ),
        Phrase(
            r"\b(?:still (?:needs?|have|has|need) to|still (?:missing|to do|todo|open|needs)|"
            r"that leaves|what'?s left is|left to do|one for (?:later|tomorrow|next)|(?:for|as) (?:a )?follow[- ]?up"
            r"|for (?:later|next time|another))\b",
            "the docs are still missing",
        ),
    ),
    "waiting": (
        Phrase(
            r"\b(?:i(?:'ll| will| have to| need to| must| gotta| should| want to)(?: first| have to| need to)? "
            r"(?:ask (?!(?:you|for|about|if|whether|a|some|more|clarifying|questions)\b)|check with|talk to|speak to|ping|find out|get back|come back to (?:you|this|that)|"
            r"let you know|clarify with|confirm with|discuss)|(?:am|'m|are|'re|is|be|still) waiting (?:for|on)\b|"
            r"(?:has|have|needs?|must) (?:to )?(?:decide|approve|confirm|sign (?:it |this |that )?off|answer|"
            r"get back)|until (?:i|we|they|he|she|you|\w+)(?:'ve| have| has|'s)? ?(?:hear|heard|know|knows|"
            r"asked|ask|decides?|decided|answers?|answered|confirms?|confirmed|gets? back|got|replied|"
            r"replies|approves?|approved|signed|signs|spoken)|"
            r"(?:legal|finance|ops|security|marketing|product|design|sales|accounting|management|my boss|"
            r"the (?:client|customer|team|boss)) (?:decides?|will decide|wants to|has to|must))\b",
            "legal has to decide",
        ),
    ),
}
