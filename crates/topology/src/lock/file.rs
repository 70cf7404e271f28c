//! The lock as a file.

use std::fmt;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use super::change::BreakingChange;
use super::read::{SyntaxError, read};
use super::rules::breaking_changes;
use super::write::write;
use crate::Topology;
use crate::draw::embed::BLESS;
use crate::similar::did_you_mean;

/// The name of graphs that have none.
const UNNAMED: &str = "LangGraph";

/// Compares a graph with the file that holds what its threads depend on.
///
/// In a test, relative paths start from the directory of the package. With `LANGGRAPH_BLESS=1` in the
/// environment, the graph is written to the file, unless a change breaks waiting threads;
/// `LANGGRAPH_BLESS=unsafe` writes it in any case. Other graphs in the file stay as they are.
///
/// # Errors
///
/// [`LockError::Breaking`] with all changes that waiting threads do not survive. The others are about
/// the file, and say what to do.
///
/// # Examples
///
/// ```
/// use langgraph::graph::lock::{self, LockError};
/// use langgraph::prelude::*;
///
/// let mut graph = StateGraph::<i64>::new();
/// graph.set_name("sums").add_node("add", |n: &i64| n + 1).add_sequence(&["add"]);
/// let before = graph.compile()?;
/// let path = std::env::temp_dir().join("langgraph-lock-example.lock");
/// std::fs::write(&path, lock::write([before.topology()]))?;
/// lock::check(&path, before.topology())?;
///
/// let mut graph = StateGraph::<i64>::new();
/// graph.set_name("sums").add_node("sum", |n: &i64| n + 1).add_sequence(&["sum"]);
/// let error = lock::check(&path, graph.compile()?.topology()).unwrap_err();
/// assert!(matches!(error, LockError::Breaking { changes, .. } if changes.len() == 1));
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn check(path: impl AsRef<Path>, graph: &Topology) -> Result<(), LockError> {
    let bless = match std::env::var_os(BLESS) {
        None => Bless::Nothing,
        Some(value) if value.is_empty() || value == "0" => Bless::Nothing,
        Some(value) if value == "unsafe" => Bless::All,
        Some(_) => Bless::Safe,
    };
    check_file(path.as_ref(), graph, bless)
}

/// Which changes are written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Bless {
    Nothing,
    Safe,
    All,
}

/// Why a graph differs from the lock, or cannot be compared.
///
/// Its debug form is its message, so a test that returns it fails with readable output.
#[non_exhaustive]
pub enum LockError {
    /// The file cannot be read.
    Read {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// The file cannot be written.
    Write {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// The file is no lock.
    Syntax {
        /// The file.
        path: PathBuf,
        /// The line.
        source: SyntaxError,
    },
    /// The graph has no name of its own.
    Unnamed,
    /// The file does not have the graph.
    NotLocked {
        /// The file.
        path: PathBuf,
        /// The graph.
        graph: String,
        /// A graph in the file with a similar name.
        did_you_mean: Option<String>,
    },
    /// Threads that wait do not survive the changes.
    Breaking {
        /// The file.
        path: PathBuf,
        /// The graph.
        graph: String,
        /// The changes.
        changes: Vec<BreakingChange>,
    },
}

impl fmt::Display for LockError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Read { path, source } => {
                write!(f, "cannot read `{}`: {source}", path.display())?;
                if source.kind() == io::ErrorKind::NotFound {
                    write!(
                        f,
                        "; run the test with `{BLESS}=1` in the environment to create it"
                    )?;
                }
                Ok(())
            }
            Self::Write { path, source } => {
                write!(f, "cannot write `{}`: {source}", path.display())
            }
            Self::Syntax { path, source } => write!(f, "`{}`, {source}", path.display()),
            Self::Unnamed => write!(
                f,
                "the graph has no name: give it one by `set_name`, by which its threads and the lock know it"
            ),
            Self::NotLocked {
                path,
                graph,
                did_you_mean,
            } => {
                let path = path.display();
                write!(f, "`{path}` does not have the graph `{graph}`: ")?;
                if let Some(other) = did_you_mean {
                    write!(
                        f,
                        "if it was called `{other}`, give it that name again, because its threads belong to the name; if it is new, "
                    )?;
                }
                write!(
                    f,
                    "run the test with `{BLESS}=1` in the environment to add it"
                )
            }
            Self::Breaking {
                path,
                graph,
                changes,
            } => {
                let path = path.display();
                writeln!(
                    f,
                    "threads of graph `{graph}` that wait do not survive its changes since `{path}`:"
                )?;
                for change in changes {
                    writeln!(f, "- {change}")?;
                }
                write!(
                    f,
                    "when no thread depends on this any more, run the test with `{BLESS}=unsafe` in the environment to accept it"
                )
            }
        }
    }
}

impl std::error::Error for LockError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Read { source, .. } | Self::Write { source, .. } => Some(source),
            Self::Syntax { source, .. } => Some(source),
            _ => None,
        }
    }
}

crate::debug_is_message!(LockError);

pub(super) fn check_file(path: &Path, graph: &Topology, bless: Bless) -> Result<(), LockError> {
    if graph.name == UNNAMED || graph.name.is_empty() {
        return Err(LockError::Unnamed);
    }
    let unread = |source| LockError::Read {
        path: path.to_owned(),
        source,
    };
    let unwritten = |source| LockError::Write {
        path: path.to_owned(),
        source,
    };
    let mut file = open(path, bless).map_err(unread)?;
    let mut text = String::new();
    file.read_to_string(&mut text).map_err(unread)?;
    let mut locked = read(&text).map_err(|source| LockError::Syntax {
        path: path.to_owned(),
        source,
    })?;
    let known = locked.iter().position(|one| one.name == graph.name);
    let changes = match known.and_then(|known| locked.get(known)) {
        Some(before) => breaking_changes(before, graph),
        None if bless == Bless::Nothing => {
            let names = locked.iter().map(|one| one.name.as_str());
            return Err(LockError::NotLocked {
                path: path.to_owned(),
                graph: graph.name.clone(),
                did_you_mean: did_you_mean(&graph.name, names).map(str::to_owned),
            });
        }
        None => Vec::new(),
    };
    if !changes.is_empty() && bless != Bless::All {
        return Err(LockError::Breaking {
            path: path.to_owned(),
            graph: graph.name.clone(),
            changes,
        });
    }
    if bless == Bless::Nothing {
        return Ok(());
    }
    locked.retain(|one| one.name != graph.name);
    let renewed = write(locked.iter().chain([graph]));
    if renewed != text {
        replace(&mut file, &renewed).map_err(unwritten)?;
    }
    Ok(())
}

/// Opens the file and locks it: tests of other processes may write to it at the same time.
fn open(path: &Path, bless: Bless) -> io::Result<File> {
    if bless == Bless::Nothing {
        let file = File::open(path)?;
        file.lock_shared()?;
        return Ok(file);
    }
    let mut options = File::options();
    options.read(true).write(true).create(true).truncate(false);
    let file = options.open(path)?;
    file.lock()?;
    Ok(file)
}

fn replace(file: &mut File, text: &str) -> io::Result<()> {
    file.seek(SeekFrom::Start(0))?;
    file.set_len(0)?;
    file.write_all(text.as_bytes())
}
