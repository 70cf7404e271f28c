-- A log: the checkpoints of a thread, or of a graph inside one of its nodes.
CREATE TABLE thread_logs (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    thread     text COLLATE "C" NOT NULL,
    -- A JSON array of the nodes around the graph; `[]` for the root's.
    namespace  text COLLATE "C" NOT NULL,
    -- The newest checkpoint, and how many batches have been stored.
    head       uuid NOT NULL,
    version    bigint NOT NULL,
    -- True while a run has not come to its end.
    running    boolean NOT NULL,
    updated_at timestamptz NOT NULL,
    -- How many rows have ever been stored.
    rows       bigint NOT NULL,
    UNIQUE (thread, namespace)
) WITH (fillfactor = 50);

CREATE INDEX thread_logs_running ON thread_logs (thread) WHERE running;

-- What is asked of a checkpoint without reading it. The rest is in its rows.
CREATE TABLE thread_checkpoints (
    log       bigint NOT NULL,
    id        uuid NOT NULL,
    -- The checkpoint that its state is made from.
    base      uuid,
    -- True when its state stands in its first row, so that the base is not needed.
    snapshot  boolean NOT NULL,
    step      bigint NOT NULL,
    source    text NOT NULL,
    -- A JSON object; null when it is empty. Not `jsonb`, which does not keep numbers as they are.
    metadata  text,
    -- The numbers of its first row, and of the last one that belongs to it.
    first_row bigint NOT NULL,
    last_row  bigint NOT NULL,
    PRIMARY KEY (log, id)
);

-- Records, and parts of records, in the order in which they were stored.
CREATE TABLE thread_rows (
    log        bigint NOT NULL,
    number     bigint NOT NULL,
    -- The number of the first row of the checkpoint that it belongs to.
    checkpoint bigint NOT NULL,
    kind       smallint NOT NULL,
    -- JSON.
    text       text NOT NULL,
    -- A value of the graph: how it was written, by which version of its type, and the bytes.
    format     text,
    version    bigint,
    payload    bytea,
    PRIMARY KEY (log, number)
);

-- Who has a thread for itself, and until when, by the clock of the server.
CREATE TABLE thread_leases (
    thread text COLLATE "C" PRIMARY KEY,
    holder text NOT NULL,
    until  timestamptz NOT NULL
);
