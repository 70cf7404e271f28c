//! The files of a database, as long as they are in their place.

use std::path::{Path, PathBuf};

use crate::SqliteError;

/// A database's file and its write-ahead log, as they were when it was opened.
///
/// SQLite itself goes on with files that were deleted: everything written is lost with the last
/// handle. Another process that opens the path sees other files.
#[derive(Clone, Debug)]
pub(crate) struct Files(Vec<(PathBuf, Identity)>);

impl Files {
    /// Looks at the files of an open database.
    pub(crate) fn of(path: &Path) -> Self {
        let mut log = path.as_os_str().to_owned();
        log.push("-wal");
        let files = [path.to_owned(), log.into()];
        let known = files.into_iter().filter_map(|file| {
            let identity = Identity::of(&file)?;
            Some((file, identity))
        });
        Self(known.collect())
    }

    /// Returns the file that was deleted, or is another one now.
    pub(crate) fn moved(&self) -> Option<&Path> {
        let moved = |(file, known): &&(PathBuf, Identity)| Identity::of(file) != Some(*known);
        self.0.iter().find(moved).map(|(file, _)| file.as_path())
    }

    /// Fails if a file was deleted, or is another one now.
    ///
    /// # Errors
    ///
    /// [`SqliteError::Moved`], which names the file.
    pub(crate) fn check(&self) -> Result<(), SqliteError> {
        match self.moved() {
            Some(file) => Err(SqliteError::Moved(file.to_owned())),
            None => Ok(()),
        }
    }
}

/// What distinguishes a file from another one of its name: its device and its number there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Identity(u64, u64);

impl Identity {
    #[cfg(unix)]
    fn of(path: &Path) -> Option<Self> {
        use std::os::unix::fs::MetadataExt;
        let metadata = std::fs::metadata(path).ok()?;
        Some(Self(metadata.dev(), metadata.ino()))
    }

    /// Other systems do not delete files that are open.
    #[cfg(not(unix))]
    fn of(_: &Path) -> Option<Self> {
        None
    }
}
