-- How the last run of a log stands, as the code of a `RunStatus`. Before, 1 while a run had not come
-- to its end and else 0, which are the codes of `Running` and `Done`.
DROP INDEX thread_logs_running;
ALTER TABLE thread_logs RENAME COLUMN running TO status;
CREATE INDEX thread_logs_running ON thread_logs (thread) WHERE status = 1;

-- Who holds a thread: until when and for which term, in milliseconds (since 1970), and which process.
DROP TABLE thread_leases;
CREATE TABLE thread_leases (
    thread  TEXT PRIMARY KEY,
    holder  TEXT NOT NULL,
    until   INTEGER NOT NULL,
    term    INTEGER NOT NULL,
    process TEXT NOT NULL
) STRICT, WITHOUT ROWID;
