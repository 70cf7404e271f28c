-- Namespaces are arrays of labels as JSON text, in the order of its bytes: labels stay apart
-- whatever they hold, and a prefix is a range of the index.
CREATE TABLE store_items (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    namespace  text COLLATE "C" NOT NULL,
    key        text COLLATE "C" NOT NULL,
    -- Not `jsonb`, which makes a whole number of 1e16.
    value      json NOT NULL,
    -- Microseconds since 1970, by the clock of the program.
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    -- When the item expires, and how long it lives after a write; both are null for ever.
    expires_at bigint,
    ttl        bigint,
    UNIQUE (namespace, key)
);

CREATE INDEX store_items_expiry ON store_items (expires_at) WHERE expires_at IS NOT NULL;

CREATE TABLE store_vectors (
    item   bigint NOT NULL REFERENCES store_items (id) ON DELETE CASCADE,
    -- Of length 1.
    vector real[] NOT NULL
);

CREATE INDEX store_vectors_item ON store_vectors (item);
