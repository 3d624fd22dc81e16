"""English, the moves of a talk: refusing, telling what to do, judging, putting off, waiting."""

from backstory.distil.phrases.english_choices import BACK_TO
from backstory.distil.phrases.phrase import Phrase

TALK: dict[str, tuple[Phrase, ...]] = {
    "opener": (
        Phrase(
            r"^(?:(?:ok(?:ay)?|yes|yeah|yep|yup|sure|right|fine|good|great|nice|cool|perfect|thanks|thx|"
            r"and|so|"
            r"then|but|also|please|pls|just|actually|instead|well|ah+|oh|uh+|um+|hm+|no(?=[,.!;:])|nope|"
            r"nah|nay|hi|hey|"
            r"hello|one more thing|for (?:the )?\S+|on (?:#|no\.? )?\d|re|as for \S+|in that case|i think|"
            r"i'd say|honestly|to be clear|remember(?: that)?|note(?: that)?|keep in mind(?: that)?|fyi|"
            r"for (?:your )?information|you (?:can|may|should)|agreed|on second thoughts?|after all|"
            r"in the end|for now|from now on|alright|all right|(?:you'?re|that'?s) right|"
            r"good point|true|exactly|"
            r"indeed|of course|yikes|ouch|first|second(?:ly)?|finally|lastly)\b[\s,.:;!…-]+)+",
            "ok, so for 2 we want",
        ),
    ),
    "refusal": (
        Phrase(
            r"^(?:(?:uh+|um+|hm+|oh|ah|well|ok(?:ay)?|sorry|but)[\s,.]+)*(?:no+(?=[,.!;:–—…]|$)|nope|"
            r"nah|nay|"
            r"absolutely not|not like that|wrong|forget)",
            "hm, no",
        ),
    ),
    "directive": (
        Phrase(
            r"^(?:always |never |only |don'?t |do not |rather |better |simply )*(?:use|keep|drop|avoid|"
            r"store|"
            r"leave|take|pick|choose|prefer|go|stay|stick|switch|make|put|set|return|throw|raise|name|"
            r"call|split|"
            r"merge|default|skip|ignore|allow|require|treat|hide|limit|cap|round|fail|crash|let|replace|"
            r"remove|"
            r"delete|get rid|move|rename|add|do|have|turn|borrow|clone|copy|cache|retry|batch|inline|"
            r"wrap|mock|"
            r"hardcode|hard-code|expose|reuse|target|support|pin|bump|vendor|enforce|disable|enable|"
            r"validate|"
            r"write|build|render|sort|log|encode|parse|load|emit|send|cut|strip|kill|want|scrap|ditch|"
            r"lose|bin|dump|swap|trim|flatten|"
            r"extract|bundle|freeze|lock|scope|restrict|accept|reject|deny|refuse|fall back|prefix|quote|"
            r"escape|hash|encrypt|normali[sz]e|convert|persist|model|represent|stop using|stream|index)\b",
            "remove the old flag",
        ),
        Phrase(
            r"^(?!\w+ \w+ \w+ed[.!]?$)(?:no|never|without|zero)\s+(?!(?:idea|problem|worries|way|one|"
            r"luck|clue|rush|hurry|"
            r"longer|doubt|matter|sure|yet|now|today|bad|that|this|it|really|need|wonder|thanks|questions?|"
            r"much|too|so|more|less|because|if|when|what|why|how|i|we|you|in|on|at|man|dude|mate|bro|sir|"
            r"reason|"
            r"concern|point|changes?)\b)[\w`'\"]",
            "no new dependency",
        ),
        Phrase(r"^(?!.*\?).{3,70}\b(?:please|pls)\b", "sample sd please"),
        Phrase(r"^(?!.*\?).{3,50}\bonly[.!]?$", "hard delete only"),
        Phrase(r"^(?:please |pls )not [\w`]", "please not regex"),
        Phrase(r"^(?:rather|better) (?:in|on|at|with|as|not|to|the|an?|by|via)\b", "rather in the bucket"),
        Phrase(
            r"^we (?!(?:ready|are|were|have|had|can|could|get|got|see|saw|know|knew|think|thought|did|do|"
            r"don'?t|use|used|"
            r"might|may|just|also|still|currently|already|normally|usually|often|sometimes|"
            r"\w+ed)\b)[a-z]+\b",
            "we ship without the animation",
        ),
        Phrase(
            r"^(?:all|every|each) (?:\S+ ){1,4}(?:is|are|has|have|gets?|"
            r"goes?)\b",
            "all amounts are in cents",
        ),
        Phrase(
            r"^(?!(?:i|you|he|she|it|they|we|this|that|there|the|a|an|my|your|our|these|those|some|all|"
            r"is|are|"
            r"was|were|do|does|did|can|could|will|would|should|has|have|had|what|why|how|when|where|who|"
            r"which|"
            r"if|thanks|and|or|but|because|since|as|after|before|with|in|on|at|for|from|to|not|nothing|"
            r"something|everything|cause|cuz|than|only|just|even|plus|except|same|such|like|still|also|"
            r"now|then|maybe|both|no|yes|of|about|by|into|over|between|next|last|first|got|hm+|one|see|y|"
            r"yup)\b)[a-z-]+(?<![^s]s)(?<!ed)(?<!ing)(?<!ly) "
            r"(?:the|an?|it|them|this|that|these|those|all|any|our|my|your|its|their|every|each|one|two|"
            r"`)\b",
            "cap the page size",
        ),
        Phrase(
            r"^(?:the|our|each|every|all) [\w`' -]{2,40}? (?:becomes?|gets? (?:its|their) own|"
            r"turns? into)\b",
            "the id column becomes bigint",
        ),
        Phrase(
            r"^(?:the |our |all |my )?[\w`'-]+(?: [\w`'-]+){0,2} (?:stays?|lives?|goes|go|belongs?|"
            r"remains?|"
            r"come|comes)(?: (?!live|wrong|down|up|away|back|from|missing|through)\w|[.!,;]?$|[,;:])",
            "money stays integer cents",
        ),
        Phrase(
            r"^(?:(?:we|i) )(?:wants?|don'?t want|do not want|(?:have|has) no (?:desire|need|wish))\b",
            "we don't want globals",
        ),
        Phrase(
            r"^(?:(?:we|i|you|it|they|this|that|there|the \S+(?: \S+)?|\S+) )?(?:must(?:n'?t| not)?|"
            r"should(?:n'?t| not)|"
            r"need(?:s)?(?: to)?|has to|have to|don'?t want|do not want)\b",
            "it has to die",
        ),
    ),
    "chore": (
        Phrase(
            r"^(?:(?:(?:can|could|would|will) you|don'?t|do not|never|only|just|go and|please|pls|now|then|"
            r"first|also|and|but|(?<!n't )(?<!nt )(?<!not )(?:we |i |you |they )?(?:still |really )?"
            r"(?:need|want|have|should|must)(?: to)?|"
            r"(?:we'?re|we are) (?:going|about) to|go ahead and|be sure to|make sure to|"
            r"start(?: by| with)?|try(?: to)?|continue|let'?s|lets)[\s.]*)*\b(?:run|rerun|re-run|show|look|"
            r"execute|publish|ship it|reread|re-read|audit|evaluate|assess|design|notice|move (?:on|"
            r"forward)|come back|talk|discuss|capture|be sure|an? (?:audit|review|"
            r"plan|look|summary)|redo|make (?:the|these|those|all) (?:\w+ )?(?:changes?|edits?)|"
            r"check|"
            r"explain|describe|tell|commit|push|pull|test|review|investigate|research|find|search|see|"
            r"ask|wait|"
            r"stop|start|continue|proceed|touch|worry|bother|forget|summari[sz]e|verify|confirm|try|"
            r"debug|fix|"
            r"address|open|close|read|know|consider|be aware|imagine|assume|mind|deploy|release|restart|"
            r"reboot|undo|redo|revert|update|implement|document|finish|complete|clean up|refactor|"
            r"translate|export|import the|generate|create|convert|install|download|apply|rerun|list|"
            r"print|compare|analy[sz]e|"
            r"think|give|help|walk|draft|propose|suggest|plan|read through|go(?!"
            + BACK_TO
            + r") (?:ahead|on|through|over|"
            r"back)|"
            r"take (?:a|another) (?:look|note|screenshot)|make (?:sure|a (?:pr|commit|plan|branch|note)|"
            r"it (?:work|"
            r"pass|green|go|run|so|happen))|do (?:not |n'?t )?(?:anything|nothing|that again)|let me|"
            r"have a look|"
            r"write (?:[\w-]+ ){0,3}?(?:tests?|summary|commit|message|docs?|report|into|down|it)|"
            r"add (?:[\w-]+ ){0,3}?(?:tests?|test cases?|docs?|comments?|logging|prose)|"
            r"update (?:the |all |our )*(?:docs?|readme|tests?|changelog)|leave (?:it|that|this|"
            r"me)(?= (?:there|to|with|alone)\b|[.!]?$)|"
            r"(?:use|spawn|launch|start) (?:an?|the|your|some|more|several|two|"
            r"three)? ?(?:sub-?)?(?:agents?|"
            r"tools?|skills?|web ?search|gh|plan mode|mcp\w*|todo list))\b",
            "run the linter",
        ),
        Phrase(
            r"^.{0,60}?\b(?:(?:change|touch|edit|restructure|refactor|rename|commit|push|merge|apply|"
            r"deploy|implement|do|"
            r"break) (?:anything|something|it|that|this)? ?(?:yet|else|now|for now)|keep me (?:posted|"
            r"updated)|"
            r"use an? (?:sub-?)?agent|keep going|and (?:then )?(?:run|rerun|commit|push|deploy)|"
            r"changes? yet|get (?:this|it|that) (?:committed|merged|"
            r"done|running))\b",
            "don't restructure anything yet",
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
}
