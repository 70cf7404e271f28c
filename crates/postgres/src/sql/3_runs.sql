-- How the last run of a log stands, as the code of a `RunStatus`. Before, true while a run had not
-- come to its end.
DROP INDEX thread_logs_running;
ALTER TABLE thread_logs ALTER COLUMN running TYPE smallint USING running::integer::smallint;
ALTER TABLE thread_logs RENAME COLUMN running TO status;
CREATE INDEX thread_logs_running ON thread_logs (thread) WHERE status = 1;

-- Who holds a thread: until when by the clock of the server, for which term, and which process.
DROP TABLE thread_leases;
CREATE TABLE thread_leases (
    thread  text COLLATE "C" PRIMARY KEY,
    holder  text NOT NULL,
    until   timestamptz NOT NULL,
    term    interval NOT NULL,
    process text NOT NULL
);
