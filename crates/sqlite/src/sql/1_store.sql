-- Namespaces are written as a JSON array of labels: labels stay apart whatever they hold.
CREATE TABLE store_items (
    id         INTEGER PRIMARY KEY,
    namespace  TEXT NOT NULL,
    key        TEXT NOT NULL,
    value      TEXT NOT NULL,
    -- Microseconds since 1970.
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    -- When the item expires, and how long it lives after a write; both are null for ever.
    expires_at INTEGER,
    ttl        INTEGER,
    UNIQUE (namespace, key)
) STRICT;

CREATE INDEX store_items_expiry ON store_items (expires_at) WHERE expires_at IS NOT NULL;

CREATE TABLE store_vectors (
    item   INTEGER NOT NULL REFERENCES store_items (id) ON DELETE CASCADE,
    -- 32-bit floats, little endian, of length 1.
    vector BLOB NOT NULL
) STRICT;

CREATE INDEX store_vectors_item ON store_vectors (item);
