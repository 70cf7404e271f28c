-- Rows of kind 5 hold a checkpoint that is based on the one before, whose only task has finished,
-- and what that task wrote: `checkpoint` is the first row of the one before, and the number before
-- the row's own is left free, for the task's row when the two have to be kept apart.

-- From this row on the log holds nothing but what the state of the head is made of, checkpoint by
-- checkpoint; null when only the chain of bases tells.
ALTER TABLE thread_logs ADD COLUMN state_row INTEGER;
