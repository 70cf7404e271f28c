//! Rows of `store_items`.

use deadpool_postgres::GenericClient;
use langgraph_sql::store::{Found, read_namespace};
use langgraph_store::{Item, StoreOptions};
use tokio_postgres::Row;

use super::Fault;

/// The columns that [`read`] reads.
pub(super) const COLUMNS: &str =
    "i.id, i.namespace, i.key, i.value, i.created_at, i.updated_at, i.ttl";

pub(super) fn read(row: &Row) -> Result<Found, Fault> {
    let updated_at = row.try_get(5)?;
    let item = Item::new(
        read_namespace(row.try_get(1)?)?,
        row.try_get(2)?,
        row.try_get(3)?,
        StoreOptions::time(row.try_get(4)?),
        StoreOptions::time(updated_at),
    );
    Ok(Found {
        id: row.try_get(0)?,
        updated_at,
        ttl: row.try_get(6)?,
        item,
    })
}

/// Returns the items of rows, in no particular order.
pub(super) async fn by_ids(client: &impl GenericClient, ids: &[i64]) -> Result<Vec<Found>, Fault> {
    let sql = format!("SELECT {COLUMNS} FROM store_items AS i WHERE i.id = ANY ($1)");
    let statement = client.prepare_cached(&sql).await?;
    let rows = client.query(&statement, &[&ids]).await?;
    rows.iter().map(read).collect()
}
