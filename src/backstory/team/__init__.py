"""The team's server: it orders, guards and forgets what laptops share, on PostgreSQL; extra `[team]`

- `migrations/`         the schema, numbered SQL: tables, then the policies of row-level security
- `migrator`            brings a database to the newest of them, and says what a server's role may do
- `embedded_postgres`   a PostgreSQL of our own in a folder, for trying, for tests and for small teams
- `database`            connections under a role that sees nothing by itself; one transaction of one member
- `refusal`             what a request may be refused with, as the protocol tells it
- `grave_journal`       every burial, in a file beside the database: a restored backup brings nothing back
- `admission`           invitations, tokens, devices, roles: who is let in, looked up at every request
- `project_access`      projects, their lanes, patterns and grants: what a member may see
- `pushed_row`          a pushed row as it may be stored: well-formed, and without what looks like a secret
- `burial`             ending ids for good, and again after a backup was restored
- `row_push`            rows and burials into a project, in the order of their commits
- `row_pull`            what is new in a project, and the proof of all of it
- `row_search`          finding rows of a project, for readers without a home
- `row_purge`           ending every row that holds a text, and the audit of who did
- `disk_erasure`        after a burial the text leaves heap, index and log, too
- `rate_limit`          how often a device may ask
- `team_site`           the requests of docs/team-protocol.md over all that
- `team_server`         the process: loopback or TLS, one invitation for the owner, an orderly end
"""
