//! The operations of the store on its tables.

use langgraph_sql::store::{
    Found, Renewal, answer, certain_labels, namespace_text, read_namespace,
};
use langgraph_store::{Answer, Delete, ListNamespaces, Namespace, Prepared, Search, StoreError};
use rusqlite::{Connection, OptionalExtension, params, params_from_iter};

use super::filter::Conditions;
use super::found::{self, COLUMNS};
use super::{Fault, nearest};

/// Executes a batch, in a transaction for writing.
pub(super) fn run(
    connection: &Connection,
    ops: Vec<Prepared>,
    now: i64,
) -> Result<Vec<Answer>, Fault> {
    let mut answers = Vec::with_capacity(ops.len());
    for op in ops {
        answers.push(match op {
            Prepared::Put { .. } => put(connection, op, now)?,
            Prepared::Delete(delete) => remove(connection, &delete, now)?,
            op => {
                let mut renewals = Vec::new();
                let answer = ask(connection, op, now, &mut renewals)?;
                renew(connection, &renewals, now)?;
                answer
            }
        });
    }
    Ok(answers)
}

/// Executes the reading operations, and returns the items whose time to live restarts.
pub(super) fn read(
    connection: &Connection,
    ops: Vec<Prepared>,
    now: i64,
) -> Result<(Vec<Answer>, Vec<Renewal>), Fault> {
    let mut renewals = Vec::new();
    let answers = ops
        .into_iter()
        .map(|op| ask(connection, op, now, &mut renewals));
    let answers = answers.collect::<Result<_, _>>()?;
    Ok((answers, renewals))
}

pub(super) fn renew(connection: &Connection, renewals: &[Renewal], now: i64) -> Result<(), Fault> {
    let sql = "UPDATE store_items SET expires_at = ?1 WHERE id = ?2 AND updated_at = ?3";
    let mut update = connection.prepare_cached(sql)?;
    for renewal in renewals {
        let expires_at = now.saturating_add(renewal.ttl);
        update.execute([expires_at, renewal.id, renewal.updated_at])?;
    }
    Ok(())
}

/// Deletes expired items: all of them, or up to a limit.
pub(super) fn sweep(connection: &Connection, now: i64, limit: Option<i64>) -> Result<usize, Fault> {
    let sql = "DELETE FROM store_items WHERE id IN
               (SELECT id FROM store_items WHERE expires_at <= ?1 LIMIT ?2)";
    // A negative limit means no limit.
    let limit = limit.unwrap_or(-1);
    Ok(connection.prepare_cached(sql)?.execute([now, limit])?)
}

fn put(connection: &Connection, op: Prepared, now: i64) -> Result<Answer, Fault> {
    let Prepared::Put {
        namespace,
        key,
        value,
        ttl,
        vectors,
    } = op
    else {
        return Ok(Answer::Done);
    };
    let sql = "INSERT INTO store_items
                   (namespace, key, value, created_at, updated_at, expires_at, ttl)
               VALUES (?1, ?2, ?3, ?4, ?4, ?5, ?6)
               ON CONFLICT (namespace, key) DO UPDATE SET
                   value = excluded.value,
                   created_at = CASE WHEN store_items.expires_at <= ?4
                                THEN excluded.created_at ELSE store_items.created_at END,
                   updated_at = excluded.updated_at,
                   expires_at = excluded.expires_at,
                   ttl = excluded.ttl
               RETURNING id";
    let expires_at = ttl.map(|ttl| now.saturating_add(ttl));
    let (place, value) = (namespace_text(&namespace), value.to_string());
    let id: i64 = connection
        .prepare_cached(sql)?
        .query_row(params![place, key, value, now, expires_at, ttl], |row| {
            row.get(0)
        })?;
    let sql = "DELETE FROM store_vectors WHERE item = ?1";
    connection.prepare_cached(sql)?.execute([id])?;
    if !vectors.is_empty() {
        let sql = "INSERT INTO store_vectors (item, vector) VALUES (?1, ?2)";
        let mut insert = connection.prepare_cached(sql)?;
        for vector in &vectors {
            insert.execute(params![id, nearest::bytes(vector)])?;
        }
    }
    Ok(Answer::Done)
}

fn remove(connection: &Connection, delete: &Delete, now: i64) -> Result<Answer, Fault> {
    let sql = "DELETE FROM store_items WHERE namespace = ?1 AND key = ?2
               RETURNING expires_at IS NULL OR expires_at > ?3";
    let alive = connection
        .prepare_cached(sql)?
        .query_row(
            params![namespace_text(&delete.namespace), delete.key, now],
            |row| row.get(0),
        )
        .optional()?;
    Ok(Answer::Deleted(alive.unwrap_or(false)))
}

fn ask(
    connection: &Connection,
    op: Prepared,
    now: i64,
    renewals: &mut Vec<Renewal>,
) -> Result<Answer, Fault> {
    let (found, refresh, many) = match op {
        Prepared::Get {
            namespace,
            key,
            refresh,
        } => (get(connection, &namespace, &key, now)?, refresh, false),
        Prepared::Search {
            search,
            refresh,
            vector: None,
            ..
        } => (newest(connection, &search, now)?, refresh, true),
        Prepared::Search {
            search,
            refresh,
            vector: Some(query),
            ..
        } => {
            let found = nearest::find(connection, &search, &query, now)?;
            (found, refresh, true)
        }
        Prepared::ListNamespaces(wanted) => {
            return Ok(Answer::Namespaces(list(connection, &wanted, now)?));
        }
        other => {
            let what = format!("the operation {other:?}");
            return Err(StoreError::Unsupported(what).into());
        }
    };
    Ok(answer(found, many, refresh, renewals))
}

fn get(
    connection: &Connection,
    namespace: &Namespace,
    key: &str,
    now: i64,
) -> Result<Vec<Found>, Fault> {
    let sql = format!(
        "SELECT {COLUMNS} FROM store_items AS i WHERE i.namespace = ?1 AND i.key = ?2
         AND (i.expires_at IS NULL OR i.expires_at > ?3)"
    );
    let mut select = connection.prepare_cached(&sql)?;
    let mut rows = select.query(params![namespace_text(namespace), key, now])?;
    let row = rows.next()?;
    row.into_iter().map(found::read).collect()
}

/// Returns the search for the newest items that meet the conditions, of which `page` limits the number. What
/// is ordered are the entries of an index: only the values of the page are read.
fn newest_sql(conditions: &str, page: &str) -> String {
    let order = "ORDER BY i.updated_at DESC, i.namespace, i.key";
    format!(
        "SELECT {COLUMNS} FROM
             (SELECT i.id AS found FROM store_items AS i WHERE {conditions} {order} {page})
         JOIN store_items AS i ON i.id = found {order}"
    )
}

fn newest(connection: &Connection, search: &Search, now: i64) -> Result<Vec<Found>, Fault> {
    let mut conditions = Conditions::of(search, now)?;
    let number = |n: usize| i64::try_from(n).unwrap_or(i64::MAX).into();
    let limit = conditions.bind(number(search.limit));
    let offset = conditions.bind(number(search.offset));
    let page = format!("LIMIT {limit} OFFSET {offset}");
    let mut select = connection.prepare_cached(&newest_sql(conditions.sql(), &page))?;
    let mut rows = select.query(params_from_iter(conditions.into_params()))?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push(found::read(row)?);
    }
    Ok(found)
}

fn list(
    connection: &Connection,
    wanted: &ListNamespaces,
    now: i64,
) -> Result<Vec<Namespace>, Fault> {
    let mut conditions = Conditions::alive(now);
    // The index gives the range of the fixed first labels; the rest is checked here.
    conditions.within(&certain_labels(wanted));
    let sql = format!(
        "SELECT DISTINCT i.namespace FROM store_items AS i WHERE {}",
        conditions.sql()
    );
    let mut select = connection.prepare_cached(&sql)?;
    let mut rows = select.query(params_from_iter(conditions.into_params()))?;
    let mut namespaces = Vec::new();
    while let Some(row) = rows.next()? {
        let text = row.get_ref(0)?.as_str().map_err(rusqlite::Error::from)?;
        namespaces.push(read_namespace(text)?);
    }
    Ok(wanted.answer(namespaces))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    /// Returns how SQLite finds the newest items of a search.
    fn plan(search: &Search) -> Vec<String> {
        let mut connection = Connection::open_in_memory().unwrap();
        crate::migrate::migrate(&mut connection, Path::new("x")).unwrap();
        let conditions = Conditions::of(search, 1).unwrap();
        let sql = newest_sql(conditions.sql(), "LIMIT 10");
        let mut plan = connection
            .prepare(&format!("EXPLAIN QUERY PLAN {sql}"))
            .unwrap();
        let steps = plan
            .query_map(params_from_iter(conditions.into_params()), |row| row.get(3))
            .unwrap();
        steps.map(Result::unwrap).collect()
    }

    #[test]
    fn a_search_reads_the_values_of_its_page_only() {
        for prefix in [vec![], vec!["docs".to_owned()]] {
            let plan = plan(&Search::new(Namespace::from(prefix)));
            let reads = plan
                .iter()
                .filter(|step| step.contains("SEARCH i") || step.contains("SCAN i"));
            let (ordered, read): (Vec<_>, Vec<_>) =
                reads.partition(|step| step.contains("COVERING INDEX store_items_newest"));
            assert!(!ordered.is_empty(), "{plan:?}");
            assert!(
                read.iter().all(|step| step.contains("INTEGER PRIMARY KEY")),
                "{plan:?}"
            );
        }
    }
}
