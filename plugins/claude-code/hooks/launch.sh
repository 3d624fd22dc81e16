# Sourced by the plugin's hooks: finds the home and goes on with the hook script that lies there. Where there
# is no Backstory it does nothing; the command around it ends in `exit 0`.

[ -z "${BACKSTORY_GUARD-}" ] || exit 0

# Hooks in the settings, which `backstory install` wrote, do the same: one of the two is enough.
for settings in "${CLAUDE_CONFIG_DIR:-$HOME/.claude}/settings.json" \
    "${CLAUDE_PROJECT_DIR-}/.claude/settings.local.json" "${CLAUDE_PROJECT_DIR-}/.claude/settings.json"; do
    [ -r "$settings" ] || continue
    command -p grep -qsF "BACKSTORY_AGENT=claude-code BACKSTORY_EVENT=$BACKSTORY_EVENT;" "$settings" \
        </dev/null 2>/dev/null && exit 0
done

if [ -n "${BACKSTORY_HOME-}" ]; then
    home=$BACKSTORY_HOME
elif [ -d "$HOME/Library/Application Support" ]; then
    home="$HOME/Library/Application Support/backstory"
else
    home=${XDG_DATA_HOME:-$HOME/.local/share}/backstory
fi

# The first time, whoever has `backstory` writes what hooks run: that names the interpreter absolutely.
if [ ! -r "$home/hook/hook.sh" ] && [ "$BACKSTORY_EVENT" = SessionStart ]; then
    for program in "$(command -v backstory)" "$HOME/.local/bin/backstory" /opt/homebrew/bin/backstory \
        /usr/local/bin/backstory; do
        [ -x "$program" ] || continue
        BACKSTORY_HOME=$home "$program" install --home-only --yes </dev/null >/dev/null 2>&1
        break
    done
fi

[ -r "$home/hook/hook.sh" ] && . "$home/hook/hook.sh"
