# Sourced by the plugin's hooks: finds the home and goes on with the hook script that lies there. Where there
# is no Backstory it does nothing; the command around it ends in `exit 0`.

[ -z "${BACKSTORY_GUARD-}" ] || exit 0

# Hooks in the settings, which `backstory install` wrote, do the same: one of the two is enough. A repository
# may bring such a file as a link to a device, or as a pipe: then nobody reads it.
for settings in "${CLAUDE_CONFIG_DIR:-$HOME/.claude}/settings.json" \
    "${CLAUDE_PROJECT_DIR-}/.claude/settings.local.json" "${CLAUDE_PROJECT_DIR-}/.claude/settings.json"; do
    [ -f "$settings" ] && [ -r "$settings" ] || continue
    command -p head -c 1000000 "$settings" 2>/dev/null |
        command -p grep -qsF "BACKSTORY_AGENT=claude-code BACKSTORY_EVENT=$BACKSTORY_EVENT;" && exit 0
done

if [ -n "${BACKSTORY_HOME-}" ]; then
    home=$BACKSTORY_HOME
elif [ -d "$HOME/Library/Application Support" ]; then
    home="$HOME/Library/Application Support/backstory"
else
    home=${XDG_DATA_HOME:-$HOME/.local/share}/backstory
fi
case $home in /*) ;; *) exit 0 ;; esac # else each project could bring its own

# The repository around a folder, or the folder itself.
repository_around() {
    inner=$(cd -P "$1" 2>/dev/null && pwd -P) || return 1
    outer=$inner
    while [ "$outer" ] && [ ! -e "$outer/.git" ]; do outer=${outer%/*}; done
    printf '%s\n' "${outer:-$inner}"
}

# Whether a program was planted: it lies in the project, or everybody may write to its folder. The user's home
# is no project, though an agent may work there (`program_lookup.py` has the same rules).
is_planted() {
    own_home=$(cd -P "$HOME" 2>/dev/null && pwd -P)
    real=$(command -p readlink -f "$1" 2>/dev/null) || real=
    place=$(cd -P "${1%/*}/" 2>/dev/null && pwd -P) || return 0
    case $(LC_ALL=C command -p ls -Lld "$place" 2>/dev/null) in
        ????????w* | '') return 0 ;;
    esac
    for project in "$(repository_around .)" "$(repository_around "${CLAUDE_PROJECT_DIR:-.}")"; do
        case $own_home/ in "${project%/}"/*) continue ;; esac
        case $place/ in "$project"/*) return 0 ;; esac
        case $real in "$project"/*) return 0 ;; esac
    done
    return 1
}

# The first time, whoever has `backstory` writes what hooks run: that names the interpreter absolutely.
make_home() {
    set -f
    IFS=:
    for folder in $PATH "$HOME/.local/bin" /opt/homebrew/bin /usr/local/bin; do
        case $folder in /*) ;; *) continue ;; esac
        [ -f "$folder/backstory" ] && [ -x "$folder/backstory" ] || continue
        is_planted "$folder/backstory" && continue
        BACKSTORY_HOME=$home "$folder/backstory" install --home-only --yes
        return
    done
}

if [ ! -r "$home/hook/hook.sh" ] && [ "$BACKSTORY_EVENT" = SessionStart ]; then
    (make_home) </dev/null >/dev/null 2>&1
fi

[ -r "$home/hook/hook.sh" ] && . "$home/hook/hook.sh"
