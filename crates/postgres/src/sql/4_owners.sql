-- What logs belong to: a graph and the type of its state, as JSON. The key is a hash of it.
CREATE TABLE thread_owners (
    key   bigint PRIMARY KEY,
    owner text NOT NULL
);

-- The key of the log's owner; null for a log that was stored before there were owners.
ALTER TABLE thread_logs ADD COLUMN owner bigint;
