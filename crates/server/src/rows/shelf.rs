//! The SQLite file: for its owner alone, and no larger than what it holds.

use std::path::Path;

use rusqlite::Connection;

use super::{Rows, RowsError, RowsResult};

/// How many free pages are given back in one transaction: others write between two of them.
const PAGES: u32 = 500;

/// Creates the file, if it does not exist, for the user of this process alone, and so that it can
/// give space back. The files beside it, which the database creates, get the same permissions.
pub(crate) fn create_file(path: &Path) -> RowsResult<()> {
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    match options.open(path) {
        Ok(_) => {
            let connection = Connection::open(path)?;
            connection.pragma_update(None, "auto_vacuum", "INCREMENTAL")?;
            // The mode is stored with the first page.
            connection.execute_batch("VACUUM")?;
            Ok(())
        }
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(()),
        // Opening it says what is wrong, with the path.
        Err(_) => Ok(()),
    }
}

fn is_busy(error: &rusqlite::Error) -> bool {
    use rusqlite::ErrorCode::{DatabaseBusy, DatabaseLocked};
    matches!(
        error.sqlite_error_code(),
        Some(DatabaseBusy | DatabaseLocked)
    )
}

/// Gives free pages back to the file system. It blocks.
fn vacuum(path: &Path) -> rusqlite::Result<()> {
    let connection = Connection::open(path)?;
    let free = || connection.pragma_query_value(None, "freelist_count", |row| row.get(0));
    let mut left: u32 = free()?;
    while left > PAGES {
        let mut statement = connection.prepare(&format!("PRAGMA incremental_vacuum({PAGES})"))?;
        let mut rows = statement.query([])?;
        while rows.next()?.is_some() {}
        let now = free()?;
        if now >= left {
            // A file of an earlier version, which keeps its pages for what comes.
            return Ok(());
        }
        left = now;
    }
    Ok(())
}

impl Rows {
    /// Gives the space of removed rows back to the file system. PostgreSQL does so itself.
    pub(crate) async fn give_space_back(&self) -> RowsResult<()> {
        let Some(file) = self.file.clone() else {
            return Ok(());
        };
        match super::blocking(move || vacuum(&file)).await {
            // Another process writes: a later round does it.
            Ok(Err(error)) if is_busy(&error) => Ok(()),
            Ok(done) => Ok(done.map_err(RowsError::from)?),
            Err(error) => {
                tracing::error!(%error, "failed to give space back");
                Ok(())
            }
        }
    }
}
