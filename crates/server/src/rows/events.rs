//! Events of resumable runs.

use rusqlite::params;

use super::Rows;
use crate::runs::Frame;

impl Rows {
    pub(crate) fn add_event(&self, run: &str, frame: &Frame) -> rusqlite::Result<()> {
        let connection = self.lock();
        let mut insert = connection.prepare_cached(
            "INSERT INTO served_events (run, seq, ms, mode, event, data) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        )?;
        insert.execute(params![
            run,
            frame.seq,
            frame.ms,
            frame.mode,
            frame.event,
            frame.data
        ])?;
        Ok(())
    }

    /// Returns at most `limit` events of a run after the one of number `after`.
    pub(crate) fn events(
        &self,
        run: &str,
        after: Option<i64>,
        limit: usize,
    ) -> rusqlite::Result<Vec<Frame>> {
        let connection = self.lock();
        let mut query = connection.prepare_cached(
            "SELECT seq, ms, mode, event, data FROM served_events \
             WHERE run = ?1 AND seq > ?2 ORDER BY seq LIMIT ?3",
        )?;
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let rows = query.query_map(params![run, after.unwrap_or(-1), limit], |row| {
            Ok(Frame {
                seq: row.get(0)?,
                ms: row.get(1)?,
                mode: row.get(2)?,
                event: row.get(3)?,
                data: row.get(4)?,
            })
        })?;
        rows.collect()
    }

    pub(crate) fn forget_events_before(&self, ms: i64) -> rusqlite::Result<()> {
        self.lock()
            .execute("DELETE FROM served_events WHERE ms < ?1", [ms])?;
        Ok(())
    }
}
