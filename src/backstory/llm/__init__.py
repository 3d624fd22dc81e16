"""Asking a language model, if the user has configured one; without one nothing here is ever called.

- `model_provider`    the nouns (what is asked, what is replied, trouble), and who is asked, by the settings
- `json_post`         one POST with a deadline that holds for all of it
- `anthropic`         the Anthropic Messages protocol
- `openai`            OpenAI's chat completions, which Ollama, LM Studio, vLLM and OpenRouter speak too
- `ollama`            Ollama's own protocol, which takes the length of the context it needs
- `agent_programs`    `claude -p` and `codex exec`, guarded: no hooks, no servers, no settings, no tools
- `lenient_json`      JSON out of whatever came back, or what is wrong with it
- `prices`            what tokens cost, by the settings' table; estimates
- `spending_caps`     the limits of a call, a session, a day and a month
- `breaker`           when calls have gone wrong: how long nobody is asked
- `governor`          every call goes through it: estimate, caps, breaker, ledger
- `structured_answer` an answer of a fixed shape, mended once
- `prose_writer`      text for the wiki and for answers, through the governor
"""
