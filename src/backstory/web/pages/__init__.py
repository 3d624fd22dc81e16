"""The pages, one module each: a function from the memory and what was asked to HTML.

- `frame`     what stands around every page
- `lines`     events, sessions and memories as rows; times, handles, buttons
- `now` · `sessions` · `story` (one session) · `event` · `search` · `memories` · `review` · `forget` ·
  `knowledge` · `brief` · `health` · `settings`
"""
