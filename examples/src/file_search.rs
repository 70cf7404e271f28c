//! A recursive search for files by extension or by name.

use std::path::{Path, PathBuf};
use walkdir::{DirEntry, WalkDir};

/// The files to find.
#[derive(Clone, Debug)]
pub enum Filter {
    /// Every file.
    Any,
    /// Files with this extension, without the dot, upper or lower case.
    Extension(String),
    /// Files whose name matches this pattern (`*.lock`, `test_?.rs`).
    Name(glob::Pattern),
}

/// Why a search failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SearchError {
    /// The folder does not exist.
    #[error("there is no folder `{}`", .0.display())]
    NoSuchFolder(PathBuf),
    /// The path leads to something else than a folder.
    #[error("`{}` is not a folder", .0.display())]
    NotAFolder(PathBuf),
    /// The pattern is malformed.
    #[error("`{pattern}` is not a file name pattern: {source}")]
    BadPattern {
        /// The pattern as given.
        pattern: String,
        /// What is wrong with it.
        source: glob::PatternError,
    },
    /// A folder could not be read.
    #[error("the search stopped: {0}")]
    Unreadable(#[from] walkdir::Error),
}

impl Filter {
    /// Files with an extension, given as `rs` or `.rs`.
    pub fn extension(extension: &str) -> Self {
        Filter::Extension(extension.trim_start_matches('.').to_owned())
    }

    /// Files whose name matches a pattern.
    ///
    /// # Errors
    ///
    /// [`SearchError::BadPattern`], for example for an unclosed `[`.
    pub fn name(pattern: &str) -> Result<Self, SearchError> {
        match glob::Pattern::new(pattern) {
            Ok(pattern) => Ok(Filter::Name(pattern)),
            Err(source) => Err(SearchError::BadPattern {
                pattern: pattern.to_owned(),
                source,
            }),
        }
    }

    fn accepts(&self, path: &Path) -> bool {
        match self {
            Filter::Any => true,
            Filter::Extension(wanted) => path
                .extension()
                .is_some_and(|found| found.eq_ignore_ascii_case(wanted)),
            Filter::Name(pattern) => path
                .file_name()
                .is_some_and(|name| pattern.matches(&name.to_string_lossy())),
        }
    }
}

/// Returns the files below `folder` that `filter` accepts, relative to it, sorted.
///
/// Hidden folders and folders named `target` are skipped. Links to folders are not followed, so a
/// link that leads back up can not make the search endless; a link to a file counts as a file.
///
/// # Errors
///
/// [`SearchError`] when the folder is missing, is none, or something below it can not be read.
pub fn find_files(folder: &Path, filter: &Filter) -> Result<Vec<PathBuf>, SearchError> {
    if !folder.exists() {
        return Err(SearchError::NoSuchFolder(folder.to_owned()));
    }
    if !folder.is_dir() {
        return Err(SearchError::NotAFolder(folder.to_owned()));
    }
    let mut found = Vec::new();
    for entry in WalkDir::new(folder).into_iter().filter_entry(is_searched) {
        let entry = entry?;
        let is_file =
            entry.file_type().is_file() || (entry.path_is_symlink() && entry.path().is_file());
        if is_file && filter.accepts(entry.path()) {
            let path = entry.path();
            found.push(path.strip_prefix(folder).unwrap_or(path).to_owned());
        }
    }
    found.sort();
    Ok(found)
}

fn is_searched(entry: &DirEntry) -> bool {
    // The folder that was asked for is searched whatever its name is.
    let is_root = entry.depth() == 0;
    let name = entry.file_name().to_string_lossy();
    is_root || !entry.file_type().is_dir() || !(name == "target" || name.starts_with('.'))
}
