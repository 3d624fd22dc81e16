"""The viewer: a small server on loopback where people look at the memory, correct it, and remove from it.

- `server`         binding, being the only one, doing the worker's work meanwhile, ending
- `spool_watcher`  watching the spool, and calling a worker when something arrives
- `connection`     a connection before its first request: whose it is, how long it may take to ask
- `browser`        opening the user's browser without telling anybody else the key
- `server_record`  who serves this home, on which port; what proves that a program may ask
- `auth`           who may come in: host, origin, token or cookie, how many writes; and the headers of safety
- `request_limits` how much a request may send, and how long it may take
- `routes`         the routes
- `request`        a request as pages see it
- `markup`         HTML that cannot forget to escape
- `wiki_html`      pages of the wiki, as such HTML
- `pages/`         one module a page, each a function from memory and request to HTML
- `charts`         drawings for people who would rather look, as SVG
- `actions`        what the forms of pages do; each has a twin on the command line
- `undo`           what was just done, and the way back
- `json_api`       the same for programs, as JSON; a table that is also its description
- `openapi`        that description
- `http_hooks`     hook payloads over HTTP, into the same spool
- `live_feed`      what happens right now, as a stream
- `static/`        one style sheet, one script
"""
