-- A log: the checkpoints of a thread, or of a graph inside one of its nodes.
CREATE TABLE thread_logs (
    id         INTEGER PRIMARY KEY,
    thread     TEXT NOT NULL,
    -- A JSON array of the nodes around the graph; `[]` for the root's.
    namespace  TEXT NOT NULL,
    -- The newest checkpoint, and how many batches have been stored.
    head       BLOB NOT NULL,
    version    INTEGER NOT NULL,
    -- 1 while a run has not come to its end.
    running    INTEGER NOT NULL,
    -- Microseconds since 1970.
    updated_at INTEGER NOT NULL,
    -- How many rows have ever been stored.
    rows       INTEGER NOT NULL,
    UNIQUE (thread, namespace)
) STRICT;

CREATE INDEX thread_logs_running ON thread_logs (thread) WHERE running = 1;

-- What is asked of a checkpoint without reading it. The rest is in its rows.
CREATE TABLE thread_checkpoints (
    log       INTEGER NOT NULL REFERENCES thread_logs (id),
    id        BLOB NOT NULL,
    -- The checkpoint that its state is made from.
    base      BLOB,
    -- 1 when its state stands in its first row, so that the base is not needed.
    snapshot  INTEGER NOT NULL,
    step      INTEGER NOT NULL,
    source    TEXT NOT NULL,
    -- A JSON object; null when it is empty.
    metadata  TEXT,
    -- The numbers of its first row, and of the last one that belongs to it.
    first_row INTEGER NOT NULL,
    last_row  INTEGER NOT NULL,
    PRIMARY KEY (log, id)
) STRICT, WITHOUT ROWID;

-- Records, and parts of records, in the order in which they were stored.
CREATE TABLE thread_rows (
    -- The log times 2^32, plus the number of the row in the log: what is read together is stored
    -- together.
    id         INTEGER PRIMARY KEY,
    -- The number of the first row of the checkpoint that it belongs to.
    checkpoint INTEGER NOT NULL,
    kind       INTEGER NOT NULL,
    -- JSON.
    text       TEXT NOT NULL,
    -- A value of the graph: how it was written, by which version of its type, and the bytes.
    format     TEXT,
    version    INTEGER,
    payload    BLOB
) STRICT;

-- Who has a thread for itself, and until when: milliseconds since 1970.
CREATE TABLE thread_leases (
    thread TEXT PRIMARY KEY,
    holder TEXT NOT NULL,
    until  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
