//! Formats the bodies of `graph!`, which rustfmt leaves as they are.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::{fs, io};

use walkdir::{DirEntry, WalkDir};

mod layout;
mod parse;
mod source;
mod style;
mod syntax;
mod text;

pub use self::source::{Formatted, Graph, format_source};
pub use self::style::{Style, StyleError};

/// What [`format_paths`] found.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Report {
    /// The graphs whose layout was changed, or would be: a message for each, with its place.
    pub changed: Vec<String>,
    /// The graphs and files that were left as they are, and why.
    pub notes: Vec<String>,
}

/// The error of formatting files.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum FormatError {
    /// A file or a folder could not be read or written.
    #[error("{}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What happened.
        source: io::Error,
    },
    /// The settings of rustfmt could not be read.
    #[error(transparent)]
    Style(#[from] StyleError),
}

langgraph_topology::debug_is_message!(FormatError);

/// Formats the graphs in the `.rs` files of `paths`, or only compares them if `check` is set.
///
/// In folders, it skips hidden folders and build folders. Line width and indentation are those of
/// the `rustfmt.toml` that rustfmt would use.
///
/// # Errors
///
/// Fails if a file cannot be read or written. What does not parse is no error: it is left as it is,
/// with a note.
pub fn format_paths(paths: &[PathBuf], check: bool) -> Result<Report, FormatError> {
    let mut report = Report::default();
    for path in paths {
        let files = WalkDir::new(path)
            .sort_by_file_name()
            .into_iter()
            .filter_entry(is_source);
        for entry in files {
            let entry = entry.map_err(|error| FormatError::File {
                path: error.path().unwrap_or(path).to_owned(),
                source: error.into(),
            })?;
            if entry.file_type().is_file() && entry.path().extension() == Some(OsStr::new("rs")) {
                format_file(entry.path(), check, &mut report)?;
            }
        }
    }
    Ok(report)
}

/// Returns false for hidden folders and for build folders, which cargo marks.
fn is_source(entry: &DirEntry) -> bool {
    let hidden = entry.file_name().to_string_lossy().starts_with('.');
    entry.depth() == 0
        || !(entry.file_type().is_dir() && (hidden || entry.path().join("CACHEDIR.TAG").is_file()))
}

fn format_file(path: &Path, check: bool, report: &mut Report) -> Result<(), FormatError> {
    let failed = |source| FormatError::File {
        path: path.to_owned(),
        source,
    };
    let text = fs::read_to_string(path).map_err(failed)?;
    if !text.contains("graph!") {
        return Ok(());
    }
    let formatted = match format_source(&text, &Style::of(path)?) {
        Ok(formatted) => formatted,
        Err(reason) => {
            report
                .notes
                .push(format!("{}: left as it is: {reason}", path.display()));
            return Ok(());
        }
    };
    for graph in &formatted.graphs {
        let place = format!("{}:{}", path.display(), graph.line);
        match &graph.left {
            Some(reason) => report
                .notes
                .push(format!("{place}: left as it is: {reason}")),
            None if graph.changed => report.changed.push(if check {
                format!("{place}: not formatted")
            } else {
                format!("{place}: formatted")
            }),
            None => {}
        }
    }
    if formatted.text != text && !check {
        fs::write(path, &formatted.text).map_err(failed)?;
    }
    Ok(())
}
