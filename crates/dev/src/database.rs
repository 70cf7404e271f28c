//! The database of the threads.

use std::error::Error;
use std::path::Path;

use langgraph_sqlite::Database;

/// Opens a database that exists: a wrong path must not look like a database without threads.
pub(crate) fn open(file: &Path) -> Result<Database, Box<dyn Error>> {
    if !file.is_file() {
        return Err(format!("there is no database `{}`", file.display()).into());
    }
    Ok(Database::open(file)?)
}
