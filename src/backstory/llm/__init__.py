"""Asking a language model, if the user has configured one; without one nothing here is ever called.

- `provider`   the nouns (what is asked, what is replied, trouble), and who is asked, by the settings
- `http`       one POST with a deadline that holds for all of it
- `anthropic`  the Anthropic Messages protocol
- `openai`     OpenAI's chat completions, which Ollama, LM Studio, vLLM and OpenRouter speak too
- `programs`   `claude -p` and `codex exec`, guarded: no hooks, no servers, no settings, no tools
- `parse`      JSON out of whatever came back, or what is wrong with it
- `prices`     what tokens cost, by the settings' table; estimates
- `caps`       the limits of a call, a session, a day and a month
- `breaker`    when calls have gone wrong: how long nobody is asked
- `governor`   every call goes through it: estimate, caps, breaker, ledger
- `objects`    an answer of a fixed shape, mended once
- `writer`     text for the wiki and for answers, through the governor
"""
