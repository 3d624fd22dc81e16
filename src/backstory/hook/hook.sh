# Backstory's hook, sourced by the command that `backstory install` registers with an agent. It copies what
# the agent sent into the spool and lets the agent go on: no parsing, no database, no network.
#
# Only builtins and absolute paths: PATH may be empty, the working folder gone. Whatever happens, the shell
# ends in `exit 0`, because 2 would block the agent, and dash exits 2 for a bad redirect or a failed fork.
# stdout belongs to the answer alone.

[ -z "${BACKSTORY_GUARD-}" ] || exit 0
if [ -t 0 ]; then
    printf '%s\n' "This is Backstory's hook: a coding agent runs it and sends an event to its stdin." >&2
    exit 0
fi
set +eu -C # noclobber: two writers never share a file, though pids are reused
umask 077

home=@HOME@
python=@PYTHON@
name=$home/spool/$BACKSTORY_AGENT.$BACKSTORY_EVENT.$PPID.$$
file=$name
serial=0
lost=open # at which step the payload would be lost; empty when all of it is in the file
unended=  # all of it is there, and only the trailer is missing
answers=  # the agent waits for what we print
wakes=    # a worker should look at the spool
note=     # on what the memory may have a note: a prompt, before a tool, after its failure

case $BACKSTORY_EVENT in
    @ANSWERING@) answers=1 wakes=1 ;;
    @WAKING@) wakes=1 ;;
    @DELIVERING@) [ ! -e "$home/briefs/held/${GEMINI_SESSION_ID:-none}" ] || answers=1 ;;
esac

case $BACKSTORY_AGENT.$BACKSTORY_EVENT in
    @PROMPT@) note=prompt ;;
    @BEFORE@) note=before ;;
    @AFTER@) note=after ;;
esac

# Mostly there is nothing to say, and no Python starts: the worker leaves a flag for each folder that it has
# notes on. They hold for what lies below it too.
if [ "$answers" ]; then
    note=
elif [ "$note" = prompt ] && [ -e "$home/briefs/owed" ]; then
    answers=1 # a start could not give its brief in time
elif [ "$note" ]; then
    cd -P . >/dev/null 2>&1
    case ${PWD-} in /*) folder=$PWD ;; *) folder= ;; esac
    while [ "$folder" ] && [ ! -e "$home/briefs/at$folder/.$note" ]; do folder=${folder%/*}; done
    [ -z "$folder" ] || answers=1
fi

# A mark is an empty file whose name tells the reason: that much can be written on a full disk too. Where no
# inode is left, another file gets that name: as a link, or else a spare one is renamed.
mark() {
    { printf '' >"$file.$1.fail"; } 2>/dev/null || [ -e "$file.$1.fail" ] ||
        @LN@ "$home/hook/stamp" "$file.$1.fail" 2>/dev/null ||
        @MV@ "$home/hook/spare" "$file.$1.fail" 2>/dev/null
}

# The last thing this shell does, after a failed fork too, or where a list was cut off that `prepared` reads: then
# the payload still gets its trailer. In braces: where this file is cut off behind the word, a bare `trap` would print.
{ trap '[ -z "$lost" ] || mark "$lost"; [ -z "$unended" ] || { printf "\\036" >>"$file"; } 2>/dev/null; exit 0' EXIT; }

# The trailer byte says that the writer finished. An answering hook writes it later, see below.
spool() {
    { lost=write; LC_ALL=C @CAT@ && { [ "$answers" ] || printf '\036'; } && lost=; } 2>/dev/null >"$file"
}

answer() {
    [ -x "$python" ] || return 0
    "$python" -I -S "$home/hook/hook.pyc" answer "$home" \
        "$BACKSTORY_AGENT" "$BACKSTORY_EVENT" "$@" 2>/dev/null || {
        code=$?
        [ "$note" ] || mark "answer-$code" # a note that came too late is no loss
    }
}

# Each note on a call needs a literal in its payload, and most payloads have none of them. grep gives back the
# payload if there is one, with all lines around it, as nobody can read stdin twice; an error comes before it reads.
# Without the file of literals, or without grep, Python looks at every call.
filtered() {
    { payload=$(LC_ALL=C @GREP@ -aF -A99999 -B99999 -f "$1"); } 2>/dev/null
    case $? in
        0) printf '%s' "$payload" 2>/dev/null | answer ;;
        1) ;;
        *) answer ;;
    esac
}

# What lies in the spool besides this start tells nothing.
nothing_waits() {
    for each in "$home"/spool/*; do
        case ${each##*/} in
            "${file##*/}" | quarantine | @SILENT@) ;;
            *) return 1 ;;
        esac
    done
}

# The payload is one line of a new session in this folder. It is no parser: quotes within texts are escaped, so a
# key found once in an object without another one in it is that key.
starts_plainly() {
    IFS= read -r payload <"$file"
    [ "${#payload}" -le 20000 ] || return 1 # the patterns below take bash long for a text that is
    case $payload in
        ?*\{* | *'"session_id":'*'"session_id":'* | *'"cwd":'*'"cwd":'* | *'"source":'*'"source":'*) return 1 ;;
        \{*\}) ;;
        *) return 1 ;;
    esac
    case $payload in
        *'"source":"startup"'* | *'"source": "startup"'* | *'"source":"new"'* | *'"source": "new"'*) ;;
        *) return 1 ;;
    esac
    case $payload in
        *"\"cwd\":\"$PWD\""* | *"\"cwd\": \"$PWD\""*) ;;
        *) return 1 ;;
    esac
    session=${payload#*'"session_id":'}
    session=${session# }
    session=${session#\"}
    session=${session%%\"*}
    case $session in
        '' | *[!0-9A-Za-z-]*) return 1 ;;
    esac
    [ "${#session}" -le 100 ]
}

# Whether files are as the list found them, as far as times tell: it names them from the oldest to the newest, and
# its own time is that of the newest. After an empty name come those that were not there.
as_listed() {
    older=
    absent=
    for each; do
        if [ -z "$each" ]; then
            absent=1
        elif [ "$absent" ]; then
            [ ! -e "$each" ] || return 1
        elif [ ! -e "$each" ] || [ "$each" -nt "$list" ]; then
            return 1
        elif [ "$older" ] && [ "$older" -nt "$each" ]; then
            return 1
        else
            older=$each
        fi
    done
}

# What a plain start is told, the worker has mostly finished ahead (`recall/ready_answers.py`): then no Python
# starts. What is odd, or cannot be told, is left to Python.
prepared() {
    cd -P . >/dev/null 2>&1 && [ . -ef "$PWD" ] || return 1
    ready=$home/briefs/ready/at$PWD
    list=$ready/.$BACKSTORY_AGENT.$BACKSTORY_EVENT
    [ -f "$list" ] && nothing_waits && starts_plainly || return 1
    answer=
    unended=1
    . "$list" 2>/dev/null
    unended=
    [ "$answer" ] && [ "${TZ-}" = "$zone" ] || return 1
    answer=$home/briefs/ready/$answer # it is as old as its day will be, and then
    [ -s "$answer" ] && [ ! "$file" -nt "$answer" ] || return 1
    if [ "$repository" ]; then
        [ -e "$list.repository" ] && [ ! "$repository" -nt "$list.repository" ] || return 1
        [ ! "$list.repository" -nt "$repository" ] || return 1
    fi
    as_listed "$@" || return 1
    told=$home/spool/$BACKSTORY_AGENT.@RECEIPT@.$PPID.$$
    {
        printf '{"session_id":"%s",%s}\036' "$session" "$receipt" >"$told" && @CAT@ &&
            { printf '\036' >>"$file" || lost=write; }
    } 2>/dev/null <"$answer"
}

if [ "$note" = before ]; then # nothing to keep: what the tool did is told when it is done
    lost=
    if [ -z "$answers" ]; then
        @CAT@ >/dev/null 2>&1
    elif [ -x @GREP@ ] && [ -r "$home/briefs/before.literals" ]; then
        filtered "$home/briefs/before.literals"
    else
        answer
    fi
    exit 0
fi

spool
if [ "$lost" = open ] && [ ! -d "$home/spool" ]; then
    @MKDIR@ -p "$home/spool" 2>/dev/null
    spool
fi
while [ "$lost" = open ] && [ -e "$file" ] && [ "$serial" -lt 9999 ]; do
    serial=$((serial + 1))
    file=$name.$serial
    spool
done

if [ "$answers" ] && [ -z "$lost$note" ] && prepared; then
    :
elif [ "$answers" ] && [ -z "$lost" ]; then
    # Open it before the trailer shows it to the drain, which unlinks what it has stored.
    { { printf '\036' >>"$file" || lost=write; } 2>/dev/null; answer <&3 3<&-; } 3<"$file"
elif [ "$answers" ]; then
    answer lost # a full or read-only disk is no reason to start without memory
fi

if [ "$wakes" ] && [ -x "$python" ]; then
    # Ignored before the fork: set inside the child, it would still die with the agent's process group.
    [ -z "${ZSH_VERSION-}" ] || setopt posix_traps # else zsh undoes it in the child
    trap '' HUP INT TERM
    cd /
    BACKSTORY_GUARD=1 "$python" -I -m backstory.worker "$home" \
        </dev/null >/dev/null 2>&1 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&- &
elif [ "$wakes" ]; then
    { printf '%s\n' "$python" >"$home/spool/interpreter.fail"; } 2>/dev/null
fi
