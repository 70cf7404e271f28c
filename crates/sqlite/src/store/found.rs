//! Rows of `store_items`.

use langgraph_sql::store::{Found, read_namespace};
use langgraph_store::{Item, StoreError, StoreOptions};
use rusqlite::{Connection, Row};

use super::Fault;

/// The columns that [`read`] reads.
pub(super) const COLUMNS: &str =
    "i.id, i.namespace, i.key, i.value, i.created_at, i.updated_at, i.ttl";

pub(super) fn read(row: &Row<'_>) -> Result<Found, Fault> {
    let namespace = read_namespace(row.get_ref(1)?.as_str().map_err(rusqlite::Error::from)?)?;
    let value = row.get_ref(3)?.as_str().map_err(rusqlite::Error::from)?;
    let value = serde_json::from_str(value).map_err(StoreError::storage)?;
    let updated_at = row.get(5)?;
    let item = Item::new(
        namespace,
        row.get(2)?,
        value,
        StoreOptions::time(row.get(4)?),
        StoreOptions::time(updated_at),
    );
    Ok(Found {
        id: row.get(0)?,
        updated_at,
        ttl: row.get(6)?,
        item,
    })
}

/// Returns the item of a row.
pub(super) fn by_id(connection: &Connection, id: i64) -> Result<Option<Found>, Fault> {
    let sql = format!("SELECT {COLUMNS} FROM store_items AS i WHERE i.id = ?1");
    let mut select = connection.prepare_cached(&sql)?;
    let mut rows = select.query([id])?;
    rows.next()?.map(read).transpose()
}
