-- What logs belong to: a graph and the type of its state, as JSON. The key is a hash of it.
CREATE TABLE thread_owners (
    key   bigint PRIMARY KEY,
    owner text NOT NULL
);

-- The checksums (CRC-32) of the text, in the upper half, and of the value; null for a row that was stored
-- before there were checksums.
ALTER TABLE thread_rows ADD COLUMN sums bigint;

-- The key of the log's owner; null for a log that was stored before there were owners.
ALTER TABLE thread_logs ADD COLUMN owner bigint;
