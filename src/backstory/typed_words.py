"""What of a prompt its user typed, told from what it quotes: only that is the user's word.

People paste output, pages and mails between their own words, with and without a fence. Quoted is what stands
in a fence or behind `>`; a line that is built like output (a shell prompt, a time, a tool's name and a colon,
columns, a long path); what stands between the tags of a document or between triple quotes; what follows a
line that announces it ("the README says:", "JIRA-12 description:"). Such a stretch goes on
over empty lines until a paragraph in which a person speaks ("please", "we", a question). Where a prompt hands
over what people wrote (a task on a text and a colon, "this thread:", "issue #12:", the heading of a ticket, a
line of a chat), persons speak in all of it: from there on nothing is the user's word. What a paste without
any such mark says cannot be told from typing.
"""

import re

from backstory.hook.normalize import INPUT_LIMIT, before_cut
from backstory.plain_prose import plain_prose

_OUTPUT = re.compile(
    r"\s*(?:"
    r"\[\d\d?[/:.]\d\d|\d\d:\d\d:\d\d|time=|\d{4}-\d\d-\d\d|"  # a time, a shell prompt with one
    r"[\w.@~/-]+[$%#❯] \S|\S{1,99}@\S{1,99}:\S{0,200}[$#] |"  # a shell prompt
    r"(?:go|npm|yarn|pnpm|pip|cargo|make|git|fatal|hint|warning|warn|error|info|debug|note|remote|panic|"
    r"fail|failed|usage|caused by|exception)(?:\[\S+\])?: \S|"  # a tool or a level
    r"(?:ERROR|WARN(?:ING)?|INFO|DEBUG|FATAL|FAIL|PASS|TRACE|OK)\b(?=[\s:\]]|$)|"
    r"[A-Z]\w*(?: \w+){0,3} (?:failed|error|warning): |"
    r"(?:Downloading|Extracting|Fetching|Compiling|Installing|Resolving) (?:\S*[/.]|[A-Z])\S*|"
    r"[•⨯✓✔✗✘×●⎿⏺] |(?:/[\w.@-]+){3,}|https?://\S+\s*$|"
    r"[\w./-]+\.\w{1,5}:\d+[:\s]|"  # file.go:12:
    r"[A-Z]\w*(?:Error|Exception)\b: )"
)
_COLUMNS = re.compile(r"\S {3,}\S.{0,300} {3,40}\S|\w=\S{1,200} \w{1,60}=\S{1,200} \w{1,60}=")


_FENCE = ("```", "~~~")
#: A line that announces what somebody or something else said.
_ANNOUNCES = re.compile(
    r"\b(?:says?|said|outputs?|errors?|logs?|messages?|trace(?:back)?|readme|docs?|documentation|page|prints?|"
    r"printed|shows?|gives?|wrote|writes|quot(?:es?|ed|ing)|pasted?|stack|terminal|console|responses?|"
    r"returns?|returned|answers?|replie[ds]|mail|issue|ticket|comment|sagt|schrieb|écrit|escribió|ausgabe|fehler|meldung|dit|erreur|"
    r"dice|salida|descriptions?|feedback|body|contents?|reviews?|reviewer|transcript|excerpt|snippet|slack|e-?mail|"
    r"changelog|beschreibung)\b[^\n:：]{0,40}[:：]\s*+$",
    re.IGNORECASE,
)
#: The same without a colon ("@README.md says"), and the head of a ticket.
_ANNOUNCES_PLAINLY = re.compile(
    r"\b(?:says?|said|reads|states|wrote|writes|sagt|schreibt|schrieb|dit|dice)[ \t]*+$|"
    r"^[ \t]*+[A-Z][A-Z0-9]{1,9}-\d{1,9}\b[^\n]{0,80}[:：][ \t]*+$",
    re.IGNORECASE,
)
_TAG = re.compile(r"<(/?)([A-Za-z][\w:.-]{0,60})(?:\s[^<>]{0,400})?>")
_EMPHASIS = frozenset(("b", "i", "u", "em", "strong", "br", "hr"))  # what people type themselves
_TRIPLE = ('"""', "'''")
_OWN_LIST = re.compile(
    r"\b(?:rules?|should|must|want|please|todos?|tasks?|steps?|for our|for the)\b", re.IGNORECASE
)
_TEXTS = (
    r"(?:threads?|tickets?|comments?|summar(?:y|ies)|recap|reviews?|discussions?|conversations?|chats?|"
    r"e-?mails?|mails?|messages?|posts?|articles?|proposals?|descriptions?|transcripts?|minutes|"
    r"hand-?(?:off|over)s?|paragraphs?|texts?|"
    r"excerpts?|quotes?|statements?|reports?|letters?|zusammenfassung|kommentare?|beschreibung|nachricht|"
    r"gespräch|absatz|résumé|commentaires?|texte|fil|resumen|comentarios?|mensaje|texto|hilo)"
)
_THIS = r"(?:this|these|that|following|below|attached|dies\w{0,2}|folgend\w{0,3}|cette|ce|este|esta)"
_TAKES_UP = r"(?:fix|implement|resolve|close|address|solve|do|start|finish|work on|pick up|behebe|corrige)"
_LEAD = r"[^\n:：]{0,60}"
_COLON = r"(?:：|:(?=\s|[\"'“„«\[]|$))"
#: Where a prompt hands over a text of other people.
_HANDS_OVER = re.compile(
    # "address this review comment from eve:", "comment by eve:"
    rf"\b{_THIS}\b{_LEAD}\b(?:{_TEXTS}|issue|story|(?:pull|merge) request|[pm]r)\b{_LEAD}{_COLON}|"
    rf"\b{_TEXTS}(?: (?:from|by|of|in|on|von|de|par) [^\n:：]{{1,40}})?[ \t]{{0,4}}{_COLON}|"
    # "fix issue #12:", "implement SHOP-7 (checkout):"
    rf"(?:#|\b(?:issue|ticket|bug|story|card|pr|mr) )\d{{1,7}}\b{_LEAD}{_COLON}|"
    # "README.md:"
    rf"\b[\w-]{{1,60}}\.(?:md|txt|rst|adoc|html|pdf|docx?)\b(?: says)?[ \t]{{0,4}}{_COLON}|"
    rf"^\W{{0,5}}(?:{_TAKES_UP}\s)?(?:(?:issue|ticket|story|bug)\s)?"
    rf"(?-i:[A-Z][A-Z0-9]{{1,9}}-\d{{1,7}})\b{_LEAD}{_COLON}",
    re.IGNORECASE | re.MULTILINE,
)
#: The same where the line cannot be a rule of the user's: tasks on a text, headings of a ticket or a mail.
_WORKS_ON_TEXT = re.compile(
    r"^\W{0,5}(?:(?:please|pls|can you|could you|now|bitte)\s)?"
    r"(?:(?:summari[sz]e|sum up|tl;?dr|translate|paraphrase|rephrase|reword|proof-?read|fasse?|übersetzen?|"
    r"traduis|traduire|traduce|résume[rz]?|zusammenfassen)\b|翻译|总结|翻訳|要約)"
    rf"{_LEAD}(?:{_COLON}|$(?=\n))|"
    r"^[ \t>#*]{0,8}(?:description|body|steps to reproduce|(?:expected|actual) (?:behaviou?r|results?)|"
    r"acceptance criteria|additional context|context|background|motivation|agenda|beschreibung|descripción)"
    r"\*{0,2}:?\*{0,2}[ \t]{0,4}$|"
    r"^[ \t#*]{0,8}(?:description|body|subject|from|reporter|reported by|original message|beschreibung|"
    r"betreff|objet|asunto)\*{0,2}[:：]",
    re.IGNORECASE | re.MULTILINE,
)
_TIME = r"\d{1,2}:\d\d(?: ?[AP]M)?"
_WHO = r"\*{0,2}@?[\w.-]{1,30}(?: [\w.-]{1,30})?\*{0,2}"
#: A line of a chat: a time and who speaks, in any order.
_CHAT = re.compile(
    rf"\[(?:[\d/.-]{{6,10}},? )?{_TIME}\] {{0,4}}(?-i:(?![A-Z]{{2,9}}:)){_WHO}:|"
    rf"^[ \t]{{0,8}}{_TIME}[ \t,-]{{1,4}}{_WHO}:|"
    rf"^[ \t]{{0,8}}{_WHO}[ \t,]{{1,4}}(?:\({_TIME}\)|\[{_TIME}\]|{_TIME})(?::|[ \t]{{0,4}}$)|"
    r"^[ \t]{0,8}<@?[\w.-]{1,30}> \S",
    re.IGNORECASE | re.MULTILINE,
)
_OWN_RULE = re.compile(
    r"\b(?:rules?|should|must|want|todos?|tasks?|steps?|for our|for the|use|always|never|prefer|"
    r"conventions?|format|style|write|keep)\b|"
    r"^\W{0,5}(?:in|for|on|when|with) (?!this|these|that|the following)",
    re.IGNORECASE | re.MULTILINE,
)
#: A clause that ends in a colon, from where its sentence begins, with the sign behind it.
_CLAUSE = re.compile(
    r"(?:^|[.!?。！？] )[ \t]{0,8}([^\n:：.!?。！？`]{3,120})(?:：|:(?=\s|$))[ \t]{0,4}(\S?)", re.MULTILINE
)
_POINTS = re.compile(
    r"\b(?:this|that|these|those|following|below|above|from|to|of|by|dies\w{0,2}|folgend\w{0,3})[ \t]{0,4}$",
    re.IGNORECASE,
)
#: What is to be written, and what stands somewhere: "add a section that says: …".
_SAYS = re.compile(r"\b(?:says?|saying|reads?|reading|states?|stating|titled)[ \t]{0,4}$", re.IGNORECASE)
_SELF = re.compile(
    r"\b(?:i|i'\w{1,4}|we|we'\w{1,4}|let'?s|our|us|decisions?|decided|remember|notes?|important|also|reminder|"
    r"ich|wir|unser\w{0,2}|nous|nosotros|one thing|things?|points?|wichtig|merke?|regeln?|entscheidung|"
    r"règles?|regla)\b",
    re.IGNORECASE,
)
#: What people hand around in writing: as a heading it announces the lines below it.
_RECORD = (
    r"(?:meetings?|minutes|notes|stand-?ups?|retros?|retrospective|agenda|transcripts?|interviews?|docs|changelog|"
    r"(?:system )?prompt|quotes?|guidelines|instructions|specs?|specification|design doc|proposal|rfc|faq|manual|"  # noqa: E501
    r"handbook|policy|survey|report|protokoll|besprechung|notizen|sitzung|anleitung|réunion|compte[- ]rendu|reunión|"  # noqa: E501
    r"acta|notas)"
)
_SPEAKS_OF_SELF = r"\b(?:i|i'\w{1,4}|we|we'\w{1,4}|my|our|us|you|please|ich|wir|bitte|nous|nosotros)\b"
_HEADING = re.compile(
    # "Meeting notes:", "Protokoll vom Montag:"; "update the docs:" is a task
    rf"^[ \t#*]{{0,8}}(?!\w{{1,20}} (?:the|a|an|all|these) )(?:[\w'-]{{1,20}} ){{0,3}}{_RECORD}\b[^\n:：]{{0,40}}[:：]\*{{0,2}}[ \t]*+$|"  # noqa: E501
    # the same without a colon, if the line begins with it: "Notes from the call with ACME"
    rf"^[ \t#*]{{0,8}}{_RECORD}\b(?! (?:the|a|an|all|this|it|for)\b)[^\n:：.!?]{{0,50}}$|"
    r"^[ \t]{0,8}(?:here(?:'s| is| are)|this is|hier (?:ist|sind)|das ist|voici|aquí está)\b[^\n:：.!?]{3,80}[:：]?[ \t]*+$|"  # noqa: E501
    # the name of a file
    r"^[ \t#*]{0,8}(?:[\w.-]{0,40}\.(?:md|mdc|txt|rst|adoc|\w{0,12}rules)|README|CONTRIBUTING|CHANGELOG|AGENTS|CLAUDE)"  # noqa: E501
    r"[:：]?[ \t]*+$",
    re.IGNORECASE,
)
_SELF_SPEAKS = re.compile(_SPEAKS_OF_SELF, re.IGNORECASE)
#: "The spec: Clients must …" on one line.
_LABELLED = re.compile(
    rf"^[ \t]{{0,8}}(?:(?:the|this) )?(?:\w{{1,20}} )?{_RECORD}[:：] (?=(?-i:[A-ZÀ-Þ\"“„«]))", re.IGNORECASE
)
#: "eve says we …", "my boss wrote: …"; what somebody else says is told by its verb, with or without a colon.
_REPORTS = re.compile(
    r"^[ \t]{0,8}(?!(?:i|we|you|as|like|please|never|always|it)\b)(?:(?:my|the|our|a) )?[@\w.'-]{1,30}(?: [\w.'-]{1,20}){0,2}? "  # noqa: E501
    r"(?:says?|said|told (?:me|us)|wrote|writes|claims?|suggests?|recommends?|insists?|mentioned|commented|announced|"  # noqa: E501
    r"sagt|schreibt|meint|dit|dice)(?: that| dass| que)?[,:：]? ",
    re.IGNORECASE,
)
_FIRST_PERSON = re.compile(r"\b(?:i|we|you|ich|wir|je|yo)\b", re.IGNORECASE)
_QUOTED_LINE = re.compile(r"^[ \t]{0,8}[\"“„«][^\"”“»\n]{12,400}[\"”“»]", re.MULTILINE)
#: A label and what is said: of a speaker, unless it names a matter of the user's.
_LINE_OF = re.compile(
    r"^[ \t*\[]{0,4}(@?[^\W\d][\w.'-]{0,24}(?: [^\W_][\w.'-]{0,24})?)[\]*]{0,3}[:：]\*{0,2}[ \t]{1,4}(\S[^\n]*)",  # noqa: E501
    re.MULTILINE,
)
_OWN_LABEL = re.compile(
    r"\b(?:decisions?|remember|reminder|rules?|notes?|important|fyi|btw|tl;?dr|dr|goals?|tasks?|plan|todos?|style|"
    r"update|edit|ps|also|question|answer|summary|context|preference|conventions?|requirements?|reason|why|example|"
    r"hint|tip|warning|fix|step|steps|idea|yes|no|ok|okay|so|actually|correction|"
    r"(?:front|back)-?end|db|database|sql|api|ui|ux|ci|cd|cli|tests?|testing|docs?|commits?|code|server|client|infra|"
    r"deploy\w{0,5}|auth|naming|formatting|language|branch\w{0,3}|git|python|typescript|javascript|css|html|rust|go|"
    r"regeln?|wichtig|merke|hinweis|entscheidung|frage|antwort|ziel|aufgabe|règles?|note|regla|first|second|third|"
    r"general|that|this|following|thing|mind|clear)\b",
    re.IGNORECASE,
)
_CONVERSES = re.compile(
    r"^(?:(?:we|i|i'\w{1,4}|we'\w{1,4}|me|hi|hey|hello|ok|okay|agreed|sure|yes|yeah|no|nope|thanks|lol|\+1|wir|ich|ja|"
    r"nein|on|nous|je|oui)\b|[^\n]{0,200}[?？][ \t]*+$)",
    re.IGNORECASE,
)
#: Where another's words begin: who speaks stands alone on a line, a mail is forwarded.
_BEGINS = re.compile(
    r"^[ \t]{0,8}-{3,}[ \t]{0,4}\w[^\n-]{2,60}-{3,}[ \t]*+$|"
    r"^[ \t]{0,8}\[[^\W\d][\w .'-]{0,30}\][ \t]*+$|"
    # the story of a ticket: "As an admin I want …"
    r"^[ \t*]{0,8}as an? [^\n,.:]{2,60}?,? i (?:want|need|would like|can|should)\b|"
    rf"^[^\n:：.!?]{{2,60}}\b(?:(?:yesterday|today|gestern|heute|hier) (?:at|um|à) {_TIME}|\d{{1,3}} (?:minutes?|hours?|days?|weeks?|months?) ago)[ \t]*+$|"  # noqa: E501
    rf"^[ \t]{{0,8}}{_TIME}[ \t]*+$",
    re.IGNORECASE | re.MULTILINE,
)
_ONE = (
    r"i|i'[a-z]+|me|my|let'?s|please|pls|thanks|can you|could you|ich|mir|mein\w*|bitte|je|mon|yo|por favor"
)
_MORE = r"we|we'[a-z]+|us|our|let us|wir|uns\w*|nous|notre|nosotros"  # documents speak so, too


def _speaks(words: str) -> re.Pattern[str]:
    """How a paragraph shows that a person speaks: of themselves, to the agent, or by asking."""
    flags = re.IGNORECASE | re.MULTILINE
    return re.compile(rf"(?:^|[^\w.])(?:{words})(?=[\s,.!?]|$)|[?？]\s*$", flags)


_PERSON, _WE = _speaks(_ONE), _speaks(f"{_ONE}|{_MORE}")


def typed_words(text: str) -> str:
    """A prompt without what it quotes; line by line, so that what is left stands where it stood.

    Of a long prompt capture keeps both ends: where a quotation began may be lost, so the tail is nobody's.
    """
    source = _without_blocks(before_cut(text, INPUT_LIMIT))
    if "\n" not in source and _OUTPUT.match(source):
        return ""
    kept = _unquoted(source)
    return plain_prose(source, kept[: _handed_over(kept)])


def _handed_over(text: str) -> int:
    """Where a prompt begins to hand over what others wrote; its length, if it does not."""
    places = [len(text)]
    for found in _HANDS_OVER.finditer(text):
        if not _OWN_RULE.search(text, text.rfind("\n", 0, found.end()) + 1, found.end()):
            places.append(found.end())
            break
    places += [found.end() for found in (_WORKS_ON_TEXT.search(text),) if found]
    places += [found.start() for found in (_CHAT.search(text), _BEGINS.search(text)) if found]
    places.append(_dialogue(text))
    return min(places)


def _dialogue(text: str) -> int:
    """Where lines begin that name their speakers; the text's length, if none do.

    One line is enough if it speaks of itself ("eve: we …"), unless its label is a matter of the user's, or if
    the label is somebody's handle ("@eve: …").
    """
    lines = [
        line
        for line in _LINE_OF.finditer(text)
        if not _OWN_LABEL.search(line[1]) and not _SELF_SPEAKS.search(line[1])
    ]
    if any(line[1].startswith("@") or _CONVERSES.match(line[2]) for line in lines):
        return lines[0].start()
    return len(text)


def _unquoted(text: str) -> str:
    """A prompt without fences, quoted lines, output, and what is announced as such."""
    if "\n" not in text:
        return "" if text.lstrip().startswith(">") else text[: _announced(text)]
    lines = text.split("\n")
    kept: list[str] = []
    fence = ""
    until: re.Pattern[str] | None = None  # while it quotes: what the paragraph has that ends the quotation
    announced = False  # the paragraph after an announcement is quoted, whoever speaks in it
    for number, line in enumerate(lines):
        stripped = line.strip()
        if fence or stripped.startswith(_FENCE):
            mark = stripped[:3]
            fence = ("" if mark == fence else fence) if fence else mark
            line = ""
        elif not stripped:
            after = _paragraph(lines, number + 1)
            if until and not announced and after and until.search(after):
                until = None
        elif not until and _CHAT.search(line):
            kept.append(line)
            break  # from here on others speak
        elif _OUTPUT.match(line) or _COLUMNS.search(line) or stripped.startswith(">"):
            until, announced, line = until or _WE, False, ""
        elif until:
            announced, line = False, ""
        elif _announces(line):
            until, announced = _PERSON, True
        elif (end := _announced(f"{line}\n")) <= len(line):
            until, announced, line = _PERSON, not line[end:].strip(), line[:end]
        kept.append(line)
    return "\n".join(kept)


def _announced(line: str) -> int:
    """Where a line begins to quote, behind a colon; its length, if it does not.

    A longer clause before a colon announces the sentence that follows, unless it is about the speaker's own
    rules. A short one is a label, and small letters behind it give a reason; but not if it points there.
    """
    reported = _REPORTS.match(line)
    if reported and not _FIRST_PERSON.search(reported[0]):
        return reported.end()
    if labelled := _LABELLED.match(line):
        return labelled.end()
    if quoted := _QUOTED_LINE.match(line):
        return quoted.start()
    for clause in _CLAUSE.finditer(line):
        lead, sign = clause.groups()
        own = _SELF.search(lead) or _OWN_RULE.search(lead)
        if _SAYS.search(lead) and not _FIRST_PERSON.search(lead):
            return clause.end() - len(sign)
        if not own and (
            _POINTS.search(lead)
            or (len(lead.split()) > 2 and sign and not sign.islower() and not sign.isdigit())
        ):
            return clause.end() - len(sign)
    return len(line)


def _announces(line: str) -> bool:
    if _ANNOUNCES_PLAINLY.search(line):
        return True
    if _HEADING.search(line) and not _SELF_SPEAKS.search(line):
        return True
    return bool(_ANNOUNCES.search(line)) and not _OWN_LIST.search(line)


def _without_blocks(text: str) -> str:
    """A prompt without what stands between tags or triple quotes; its lines stay where they are."""
    kept, done = [], 0
    for start, end in sorted([*_tagged(text), *_triple_quoted(text)]):
        if start >= done:
            kept += [text[done:start], "\n" * text.count("\n", start, end)]
        elif end > done:
            kept.append("\n" * text.count("\n", done, end))
        done = max(done, end)
    return "".join(kept) + text[done:]


def _tagged(text: str) -> list[tuple[int, int]]:
    """From each outermost opening tag to the tag that closes it."""
    if "</" not in text:
        return []
    tags = [(tag[2].lower(), bool(tag[1]), *tag.span()) for tag in _TAG.finditer(text)]
    last = {name: end for name, closes, _, end in tags if closes}
    spans: list[tuple[int, int]] = []
    inside, depth, begun = "", 0, 0
    for name, closes, start, end in tags:
        if inside:
            depth += (-1 if closes else 1) if name == inside else 0
            if depth == 0 or (name == inside and end == last[name]):
                spans.append((begun, end))
                inside = ""
        elif not closes and name not in _EMPHASIS and last.get(name, 0) > end:
            inside, depth, begun = name, 1, start
    return spans


def _triple_quoted(text: str) -> list[tuple[int, int]]:
    """Between triple quotes; what is not closed is quoted to its end."""
    spans = []
    for mark in _TRIPLE:
        at = text.find(mark)
        while at >= 0:
            close = text.find(mark, at + len(mark))
            end = close + len(mark) if close >= 0 else len(text)
            spans.append((at, end))
            at = text.find(mark, end)
    return spans


def _paragraph(lines: list[str], first: int) -> str:
    """The lines from here to the next empty one."""
    end = first
    while end < len(lines) and lines[end].strip():
        end += 1
    return "\n".join(lines[first:end])
