-- How many rows belong to a checkpoint, its half of a row of kind 5 included: one that is missing between the
-- first and the last is noticed. Null for a checkpoint that was stored before rows were counted.
ALTER TABLE thread_checkpoints ADD COLUMN row_count INTEGER;
