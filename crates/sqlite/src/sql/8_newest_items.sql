-- A search orders the items of its namespaces by what this index holds, and reads the values of its page only.
CREATE INDEX store_items_newest ON store_items (namespace, updated_at, key, expires_at);
