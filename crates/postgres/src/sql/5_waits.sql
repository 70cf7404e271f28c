-- When a thread is to be woken, in microseconds since 1970; null if it waits for no time. Zero for threads
-- that waited before there was this column: whoever wakes threads reads them and sets it.
ALTER TABLE thread_logs ADD COLUMN wake_at bigint;
UPDATE thread_logs SET wake_at = 0 WHERE status = 2 AND namespace = '[]';
CREATE INDEX thread_logs_wake_at ON thread_logs (wake_at) WHERE wake_at IS NOT NULL;
