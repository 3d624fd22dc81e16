// Backstory's plugin for opencode. `backstory install opencode` writes this file, `backstory uninstall opencode`
// removes it. It hands what happens in a session to Backstory's hook script, and gives each session the brief
// that the script answers with. Whatever goes wrong in here stays in here: opencode never notices.

import { spawnSync } from "node:child_process"

const COMMANDS = @COMMANDS@

const DEADLINE = 10_000 // milliseconds
const SIDE_CALL = /title generator|summari[sz]ation/i

function tell(event, payload) {
  try {
    const how = {
      input: JSON.stringify({ ...payload, hook_event_name: event }),
      encoding: "utf8",
      stdio: ["pipe", "pipe", "ignore"],
      timeout: DEADLINE,
      killSignal: "SIGKILL",
      windowsHide: true,
    }
    const command = COMMANDS[event]
    const done =
      process.platform === "win32"
        ? spawnSync(command, { ...how, shell: true })
        : spawnSync("/bin/sh", ["-c", command], how)
    return done.stdout || ""
  } catch {
    return ""
  }
}

function briefIn(answer) {
  try {
    return JSON.parse(answer).hookSpecificOutput.additionalContext || ""
  } catch {
    return ""
  }
}

const quietly =
  (handler) =>
  async (...given) => {
    try {
      await handler(...given)
    } catch {}
  }

// Installed for the user and for the project, this file is there twice: the first one speaks.
function second(directory) {
  const speakers = (globalThis[Symbol.for("backstory")] ??= new Map())
  if (!speakers.has(directory)) speakers.set(directory, import.meta.url)
  return speakers.get(directory) !== import.meta.url
}

export const Backstory = async ({ client, directory }) => {
  if (second(directory)) return {}
  const created = new Map() // sessions that began while we listened
  const sessions = new Map()
  const told = new Set() // ids of what was told already: opencode repeats itself
  const summaries = new Set() // messages that sum up a conversation
  const compacting = new Set() // sessions whose next call is that of the summary

  const once = (id) => id && !told.has(id) && told.add(id)

  async function lookUp(id) {
    const late = new Promise((resolve) => setTimeout(resolve, 1_000).unref?.())
    const asked = client.session.get({ path: { id } }).catch(() => undefined)
    return (await Promise.race([asked, late]))?.data
  }

  async function sessionOf(id) {
    if (!sessions.has(id)) {
      const info = created.get(id) ?? (await lookUp(id))
      const parent = info?.parentID ? await sessionOf(info.parentID) : undefined
      const session = { id, root: parent?.root ?? id, cwd: info?.directory || directory, agent: "", brief: "" }
      if (!sessions.has(id)) sessions.set(id, session)
    }
    return sessions.get(id)
  }

  function about(session) {
    const common = { session_id: session.root, cwd: session.cwd }
    return session.root === session.id
      ? common
      : { ...common, agent_id: session.id, agent_type: session.agent || "subagent" }
  }

  function begin(session, source, resumed) {
    session.brief = briefIn(tell("SessionStart", { ...about(session), source, resumed }))
    session.begun = true
  }

  async function messageUpdated(info) {
    if (info.role !== "assistant") return
    if (info.summary) summaries.add(info.id)
    if (info.summary || !(info.time?.completed || info.error)) return
    const session = await sessionOf(info.sessionID)
    session.agent = info.agent || session.agent
    const stopped = info.error?.name === "MessageAbortedError"
    if (info.error && !stopped) {
      if (!once(info.id)) return
      const details = info.error.data?.message || ""
      tell("StopFailure", { ...about(session), message_id: info.id, error: info.error.name, error_details: details })
    } else if (stopped || (info.finish && info.finish !== "tool-calls")) {
      if (!once(info.id)) return
      const event = session.root === session.id ? "Stop" : "SubagentStop"
      tell(event, { ...about(session), message_id: info.id, is_interrupt: stopped })
    }
  }

  async function toolEnded(part, { status, input, output, error, metadata }) {
    if ((status !== "completed" && status !== "error") || !once(part.callID)) return
    const call = {
      ...about(await sessionOf(part.sessionID)),
      tool_name: part.tool,
      tool_input: input,
      tool_use_id: part.callID,
    }
    const code = metadata?.exit
    if (status === "error")
      tell("PostToolUseFailure", { ...call, error, is_interrupt: metadata?.interrupted === true })
    else if (Number.isInteger(code) && code !== 0)
      tell("PostToolUseFailure", { ...call, error: `Exit code ${code}\n${output}` })
    else tell("PostToolUse", { ...call, tool_response: output })
  }

  // No hook tells of a tool that failed, of a command that the user ran, or of a thought.
  async function partUpdated(part) {
    if (part.type === "tool") await toolEnded(part, part.state)
    if (part.type !== "reasoning" || !part.time?.end || !part.text?.trim() || !once(part.id)) return
    tell("AssistantSaid", { ...about(await sessionOf(part.sessionID)), part_id: part.id, thinking: part.text })
  }

  const heard = {
    "session.created": ({ info }) => void created.set(info.id, info),
    "message.updated": ({ info }) => messageUpdated(info),
    "message.part.updated": ({ part }) => partUpdated(part),
    "session.compacted": async ({ sessionID }) => {
      const session = await sessionOf(sessionID)
      if (session.begun) begin(session, "compact")
    },
  }

  return {
    event: quietly(async ({ event }) => await heard[event.type]?.(event.properties)),

    "chat.message": quietly(async (input, output) => {
      const session = await sessionOf(input.sessionID)
      session.agent = output.message.agent || ""
      if (session.root !== session.id) return // a sub-agent's task stands in the call that started it
      const resumed = !created.has(session.id)
      if (!session.begun) begin(session, "startup", resumed)
      const typed = output.parts.filter((part) => part.type === "text" && !part.synthetic && !part.ignored)
      const prompt = typed.map((part) => part.text).join("\n")
      if (prompt.trim()) tell("UserPromptSubmit", { ...about(session), prompt, message_id: output.message.id })
    }),

    "tool.execute.after": quietly(async (input, output) => {
      await toolEnded(input, { status: "completed", input: input.args, ...output })
    }),

    "experimental.text.complete": quietly(async (input, output) => {
      const session = await sessionOf(input.sessionID)
      if (!output.text?.trim() || !once(input.partID)) return
      if (summaries.has(input.messageID))
        tell("PostCompact", { ...about(session), message_id: input.messageID, compact_summary: output.text })
      else tell("AssistantSaid", { ...about(session), part_id: input.partID, last_assistant_message: output.text })
    }),

    "experimental.chat.system.transform": quietly(async (input, output) => {
      const session = sessions.get(input.sessionID)
      if (compacting.delete(input.sessionID) || !session?.brief) return
      if (!output.system.some((text) => text.includes("<env>")) && SIDE_CALL.test(output.system[0] || "")) return
      output.system.push(session.brief)
    }),

    "experimental.session.compacting": quietly(async (input) => {
      const session = await sessionOf(input.sessionID)
      compacting.add(session.id)
      tell("PreCompact", about(session))
    }),

    dispose: quietly(async () => {
      for (const session of sessions.values())
        if (session.begun) tell("SessionEnd", { ...about(session), reason: "exit" })
      sessions.clear()
    }),
  }
}
