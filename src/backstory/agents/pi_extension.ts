// Backstory's extension for pi. `backstory install pi` writes this file, `backstory uninstall pi` removes it.
// It hands what happens in a session to Backstory's hook script, and gives each session the brief that the
// script answers with. Whatever goes wrong in here stays in here: pi never notices.

import { spawnSync } from "node:child_process"

const COMMANDS: Record<string, string> = @COMMANDS@

const DEADLINE = 10_000 // milliseconds
const SOURCES: Record<string, string> = { new: "clear", resume: "resume", fork: "fork" }

function tell(event: string, payload: object): string {
  try {
    const how = {
      input: JSON.stringify({ ...payload, hook_event_name: event }),
      encoding: "utf8" as const,
      stdio: ["pipe", "pipe", "ignore"] as any,
      timeout: DEADLINE,
      killSignal: "SIGKILL" as const,
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

function briefIn(answer: string): string {
  try {
    return JSON.parse(answer).hookSpecificOutput.additionalContext || ""
  } catch {
    return ""
  }
}

function words(content: any, kind = "text"): string {
  if (typeof content === "string") return kind === "text" ? content : ""
  const parts = (content || []).filter((part: any) => part.type === kind)
  return parts.map((part: any) => part[kind] || "").join("\n")
}

function about(ctx: any): object {
  const sessions = ctx.sessionManager
  return { session_id: sessions.getSessionId(), transcript_path: sessions.getSessionFile() || "", cwd: ctx.cwd }
}

// A compaction at the end of a run: no prompt came after it that could have carried a brief.
function lostItsBrief(branch: any[]): boolean {
  const compacted = branch.map((entry) => entry.type).lastIndexOf("compaction")
  return compacted >= 0 && !branch.slice(compacted).some((entry) => entry.customType === "backstory")
}

// Installed for the user and for the project, this file is there twice: the first one speaks.
function second(): boolean {
  const known = globalThis as any
  const mark = Symbol.for("backstory")
  known[mark] ??= import.meta.url
  return known[mark] !== import.meta.url
}

export default function (pi: any) {
  if (second()) return
  let brief = "" // waits for the next prompt
  let branched = false // the user went back to an earlier place of the session

  const on = (event: string, handler: (event: any, ctx: any) => any) => {
    try {
      pi.on(event, async (heard: any, ctx: any) => {
        try {
          return await handler(heard, ctx)
        } catch {
          return undefined
        }
      })
    } catch {}
  }

  const begin = (ctx: any, source: string) => {
    brief = briefIn(tell("SessionStart", { ...about(ctx), source })) || brief
  }

  on("session_start", ({ reason }, ctx) => {
    brief = ""
    if (reason === "reload") return
    const branch = ctx.sessionManager.getBranch()
    const spoken = branch.some((entry: any) => entry.type === "message")
    begin(ctx, lostItsBrief(branch) ? "compact" : SOURCES[reason] || (spoken ? "resume" : "startup"))
  })

  on("before_agent_start", () => {
    if (!brief) return undefined
    const content = brief
    brief = ""
    return { message: { customType: "backstory", content, display: false } }
  })

  on("message_end", ({ message }, ctx) => {
    const message_id = String(message.timestamp)
    if (message.role === "user") {
      const prompt = words(message.content)
      if (prompt.trim()) tell("UserPromptSubmit", { ...about(ctx), prompt, message_id, branched })
      branched = false
    } else if (message.role === "assistant" && message.stopReason === "error") {
      tell("StopFailure", { ...about(ctx), message_id, error: message.errorMessage || "error" })
    } else if (message.role === "assistant" && message.stopReason !== "toolUse") {
      const last_assistant_message = words(message.content)
      const thinking = words(message.content, "thinking")
      const is_interrupt = message.stopReason === "aborted"
      tell("Stop", { ...about(ctx), message_id, last_assistant_message, thinking, is_interrupt })
    }
  })

  on("tool_result", (result, ctx) => {
    const output = words(result.content)
    const call = {
      ...about(ctx),
      tool_name: result.toolName,
      tool_input: result.input,
      tool_use_id: result.toolCallId,
    }
    if (result.isError) tell("PostToolUseFailure", { ...call, error: output })
    else tell("PostToolUse", { ...call, tool_response: output })
  })

  on("session_before_compact", ({ reason }, ctx) => {
    tell("PreCompact", { ...about(ctx), trigger: reason === "manual" ? "manual" : "auto" })
  })

  on("session_compact", ({ compactionEntry, reason }, ctx) => {
    const trigger = reason === "manual" ? "manual" : "auto"
    const { id, summary } = compactionEntry
    tell("PostCompact", { ...about(ctx), message_id: id, compact_summary: summary, trigger })
    begin(ctx, "compact")
  })

  on("session_tree", ({ summaryEntry }, ctx) => {
    branched = true
    if (!summaryEntry) return
    const { id, summary } = summaryEntry
    tell("PostCompact", { ...about(ctx), message_id: id, compact_summary: summary, trigger: "branch" })
  })

  on("session_shutdown", ({ reason }, ctx) => {
    if (reason !== "reload") tell("SessionEnd", { ...about(ctx), reason })
  })
}
