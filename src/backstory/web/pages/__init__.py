"""The pages, one module each: a function from the memory and what was asked to HTML.

- `frame`     what stands around every page
- `lines`     events, sessions and memories as rows; times, handles, buttons
- `handles`   handles that somebody typed, and what they stand for
- `spending`  what models took, against their caps
- `now` · `sessions` · `story` (one session) · `event` · `search` · `memories` · `review` · `forget` ·
  `knowledge` · `brief` · `health` · `settings`
"""
