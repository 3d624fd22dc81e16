"""Sentences out of Markdown."""

from backstory.distil.prose import gist, prompt_words, sentences, shorten

MESSAGE = """# Done

I changed `a.py`. It works now!
This line goes
on here.

```python
x = 1  # because
```

> quoted words

| a | b |
|---|---|

**Next steps:**
- [ ] rotate the *secret*
- [x] publish
  - nested point
1. first
"""


def test_sentences_with_their_heading_and_bullet() -> None:
    found = sentences(MESSAGE)
    assert [s.text for s in found] == [
        "I changed `a.py`.",
        "It works now!",
        "This line goes on here.",
        "rotate the secret",
        "publish",
        "nested point",
        "first",
    ]
    assert [s.heading for s in found[:4]] == ["Done", "Done", "Done", "Next steps"]
    assert [(s.bullet, s.box) for s in found[3:5]] == [(True, " "), (True, "x")]


def test_the_agents_own_machinery_is_no_prompt() -> None:
    assert prompt_words("<command-name>/model</command-name>\n<command-args></command-args>") == ""
    assert prompt_words("[Request interrupted by user for tool use]") == ""
    assert prompt_words("fix it <system-reminder>be nice</system-reminder>") == "fix it"


def test_shortening_cuts_between_words() -> None:
    assert shorten("one two three", 100) == "one two three"
    assert shorten("one two three four", 12) == "one two…"
    assert len(gist("word " * 1_000, 80)) <= 80
