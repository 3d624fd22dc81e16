-- Two roles: one owns the tables, the server's own is bound by row-level security. Change both passwords.
CREATE ROLE backstory_owner LOGIN PASSWORD 'change-me-1';
CREATE ROLE backstory_server LOGIN PASSWORD 'change-me-2';
CREATE DATABASE backstory OWNER backstory_owner;
\connect backstory
-- What erasing from the disk needs beside being the owner.
GRANT pg_checkpoint TO backstory_owner;
GRANT EXECUTE ON FUNCTION pg_switch_wal() TO backstory_owner;
