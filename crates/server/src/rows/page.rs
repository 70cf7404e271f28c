//! Pages of what searches find. The documents of a page are read, and others only if a condition needs them.

use std::collections::HashMap;

use serde_json::json;

use super::{Line, Rows, RowsResult, read};

/// How many documents are read at once. They may be large.
pub(super) const PAGE: usize = 16;

/// A page of what a search has found.
#[derive(Debug)]
pub(crate) struct Found<T> {
    pub(crate) page: Vec<T>,
    /// How many there are. If the documents decide, at least as many.
    pub(crate) total: usize,
}

/// A row that is found by its id.
pub(crate) trait Listed: Sized {
    /// Selects the rows whose ids are in the list `$3`; `$1` and `$2` are 0.
    const BY_IDS: &'static str;

    fn read(line: &Line) -> RowsResult<Self>;

    fn id(&self) -> &str;
}

/// Selects the columns of the rows of a table whose ids are in the list `$3`.
macro_rules! by_ids {
    ($columns:literal, $table:literal) => {
        concat!(
            "SELECT ",
            $columns,
            " FROM ",
            $table,
            " WHERE $1 = 0 AND $2 = 0 AND id IN (SELECT e ->> 'i' FROM {EACH})"
        )
    };
}
pub(super) use by_ids;

pub(super) fn number(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// Returns a list as the parameter of `{EACH}`.
pub(super) fn list<'a>(ids: impl IntoIterator<Item = &'a str>) -> String {
    let list = ids.into_iter().map(|id| json!({"i": id}));
    list.collect::<serde_json::Value>().to_string()
}

impl Rows {
    /// Returns the rows of these ids, in their order.
    async fn by_ids<T: Listed>(&self, ids: &[String]) -> RowsResult<Vec<T>> {
        let list = list(ids.iter().map(String::as_str));
        let lines = self.db.rows(read!(T::BY_IDS, 0_i64, 0_i64, list)).await?;
        let mut found = HashMap::with_capacity(lines.len());
        for line in &lines {
            let row = T::read(line)?;
            found.insert(row.id().to_owned(), row);
        }
        Ok(ids.iter().filter_map(|id| found.remove(id)).collect())
    }

    /// Returns the rows of a page.
    pub(super) async fn page<T: Listed>(&self, ids: &[String]) -> RowsResult<Vec<T>> {
        let mut page = Vec::with_capacity(ids.len());
        for ids in ids.chunks(PAGE) {
            page.extend(self.by_ids(ids).await?);
        }
        Ok(page)
    }

    /// Returns a page of those of the rows of these ids that `wants` wants.
    pub(super) async fn wanted_of<T: Listed>(
        &self,
        ids: &[String],
        (offset, limit): (usize, usize),
        wants: impl Fn(&T) -> bool,
    ) -> RowsResult<Found<T>> {
        let enough = offset.saturating_add(limit);
        let (mut page, mut total) = (Vec::new(), 0_usize);
        for ids in ids.chunks(PAGE) {
            for row in self.by_ids(ids).await? {
                if !wants(&row) {
                    continue;
                }
                total += 1;
                if total > enough {
                    return Ok(Found { page, total });
                }
                if total > offset {
                    page.push(row);
                }
            }
            tokio::task::yield_now().await;
        }
        Ok(Found { page, total })
    }
}
