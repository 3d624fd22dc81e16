"""The pages, one module each: a function from the memory and what was asked to HTML.

- `layout`        what stands around every page
- `components`    events, sessions and memories as rows; times, handles, buttons
- `handle_page`   handles that somebody typed, and what they stand for
- `pictures`      the last weeks as drawings, for the first page
- `spending_page` what models took, against their caps
- `home_page` · `sessions_page` · `session_page` (one session) · `event_page` · `search_page` ·
  `memories_page` · `review_page` · `forget_page` · `knowledge_page` · `brief_page` · `health_page` ·
  `settings_page`
"""
