//! Pictures inside README files and doc comments, which a test keeps up to date.
//!
//! Write two marker lines where the picture belongs, in a Markdown file or in the doc comments of a
//! Rust file:
//!
//! ```text
//! //! <!-- graph:agent -->
//! //! <!-- /graph:agent -->
//! ```
//!
//! and a test that compares the text between them with the graph:
//!
//! ```no_run
//! use langgraph::graph::CompiledStateGraph;
//! use langgraph::graph::draw::embed::{self, EmbedError};
//! # fn agent() -> CompiledStateGraph<i32> {
//! #     let mut graph = langgraph::graph::StateGraph::new();
//! #     graph.add_node("a", |n: &i32| *n).add_sequence(&["a"]);
//! #     graph.compile().unwrap()
//! # }
//!
//! # /*
//! #[test]
//! # */
//! fn the_readme_shows_the_agent() -> Result<(), EmbedError> {
//!     embed::check("README.md", "agent", &agent().topology().draw())
//! }
//! # fn main() -> Result<(), EmbedError> { the_readme_shows_the_agent() }
//! ```
//!
//! Run the test once with `LANGGRAPH_BLESS=1` to write the picture. After that, it fails if the
//! graph has changed and the file has not; `LANGGRAPH_BLESS=1` writes the picture again.
//!
//! A new picture is a `mermaid` block, which GitHub and many other sites show as a drawing. rustdoc
//! shows text: change the first line of the block to `` ```text `` (or write such a block between
//! the markers) for the terminal picture. `` ```dot `` is GraphViz.

use std::fmt::{self, Write as _};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::Drawing;

/// The environment variable that makes [`check`] write pictures instead of comparing them.
pub const BLESS: &str = "LANGGRAPH_BLESS";

/// Tests run in parallel, and several of them may write to one file.
static FILES: Mutex<()> = Mutex::new(());

/// Compares the named picture in a file with a drawing.
///
/// The picture stands between the lines `<!-- graph:NAME -->` and `<!-- /graph:NAME -->`. If there
/// are several such places, all are compared. In a test, relative paths start from the directory of
/// the package. With `LANGGRAPH_BLESS=1` in the environment, the pictures are written instead.
///
/// # Errors
///
/// If the file cannot be read or written, has no such place, or shows another picture. In the last
/// case the error says what to run.
///
/// # Examples
///
/// ```
/// use langgraph::graph::{Topology, draw::embed};
///
/// let path = std::env::temp_dir().join("langgraph-embed-example.md");
/// std::fs::write(&path, "<!-- graph:agent -->\n<!-- /graph:agent -->\n")?;
///
/// let stale = embed::check(&path, "agent", &Topology::default().draw()).unwrap_err();
/// assert!(stale.to_string().ends_with(
///     "run the test again with `LANGGRAPH_BLESS=1` in the environment to write it anew"
/// ));
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn check(path: impl AsRef<Path>, name: &str, drawing: &Drawing<'_>) -> Result<(), EmbedError> {
    let bless = std::env::var_os(BLESS).is_some_and(|value| !value.is_empty() && value != "0");
    check_file(path.as_ref(), name, drawing, bless)
}

/// Why a picture in a file differs from the graph, or cannot be compared.
///
/// Its debug form is its message, so a test that returns it fails with readable output.
#[non_exhaustive]
pub enum EmbedError {
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
    /// The file has no markers of that name.
    NoPlace {
        /// The file.
        path: PathBuf,
        /// The picture's name.
        name: String,
    },
    /// The opening marker has no closing marker.
    NoEnd {
        /// The file.
        path: PathBuf,
        /// The picture's name.
        name: String,
        /// The line of the opening marker.
        line: usize,
    },
    /// The block between the markers has a language without a renderer.
    UnknownForm {
        /// The file.
        path: PathBuf,
        /// The picture's name.
        name: String,
        /// The language of the block.
        found: String,
        /// The block's first line.
        line: usize,
    },
    /// The picture differs from the graph.
    Stale {
        /// The file.
        path: PathBuf,
        /// The picture's name.
        name: String,
        /// The first line that differs.
        line: usize,
        /// The lines that differ, each beginning with `-` or `+`.
        diff: String,
    },
}

impl fmt::Display for EmbedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Read { path, source } => write!(f, "cannot read `{}`: {source}", path.display()),
            Self::Write { path, source } => {
                write!(f, "cannot write `{}`: {source}", path.display())
            }
            Self::NoPlace { path, name } => write!(
                f,
                "`{}` has no place for the picture `{name}`: expected a line \
                 `<!-- graph:{name} -->` and below it a line `<!-- /graph:{name} -->`",
                path.display()
            ),
            Self::NoEnd { path, name, line } => write!(
                f,
                "`{}`, line {line}: the place of the picture `{name}` has no end: expected a line \
                 `<!-- /graph:{name} -->` below",
                path.display()
            ),
            Self::UnknownForm {
                path,
                name,
                found,
                line,
            } => write!(
                f,
                "`{}`, line {line}: cannot draw the graph `{name}` as `{found}`: expected a block \
                 of `mermaid`, `dot` or `text`",
                path.display()
            ),
            Self::Stale {
                path,
                name,
                line,
                diff,
            } => write!(
                f,
                "`{}`, line {line}: the picture `{name}` is out of date (`-` is the file, `+` the \
                 graph):\n{diff}run the test again with `{BLESS}=1` in the environment to write it \
                 anew",
                path.display()
            ),
        }
    }
}

impl std::error::Error for EmbedError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Read { source, .. } | Self::Write { source, .. } => Some(source),
            _ => None,
        }
    }
}

crate::debug_is_message!(EmbedError);

pub(super) fn check_file(
    path: &Path,
    name: &str,
    drawing: &Drawing<'_>,
    bless: bool,
) -> Result<(), EmbedError> {
    // The lock guards files, not data, so a test that panicked has left nothing inconsistent.
    let _guard = FILES.lock().unwrap_or_else(PoisonError::into_inner);
    let text = fs::read_to_string(path).map_err(|source| EmbedError::Read {
        path: path.to_owned(),
        source,
    })?;
    let Renewed {
        text: renewed,
        stale,
    } = renew(path, &text, name, drawing)?;
    match stale {
        None => Ok(()),
        Some(_) if bless => fs::write(path, renewed).map_err(|source| EmbedError::Write {
            path: path.to_owned(),
            source,
        }),
        Some(stale) => Err(stale),
    }
}

/// A file with updated pictures, and the first that differed.
struct Renewed {
    text: String,
    stale: Option<EmbedError>,
}

fn renew(
    path: &Path,
    text: &str,
    name: &str,
    drawing: &Drawing<'_>,
) -> Result<Renewed, EmbedError> {
    let (open, close) = (
        format!("<!-- graph:{name} -->"),
        format!("<!-- /graph:{name} -->"),
    );
    let named = || (path.to_owned(), name.to_owned());
    let mut renewed = Renewed {
        text: String::with_capacity(text.len()),
        stale: None,
    };
    let mut places = 0_usize;
    let mut lines = (1_usize..).zip(text.split_inclusive('\n'));
    while let Some((number, line)) = lines.next() {
        renewed.text.push_str(line);
        let Some(margin) = line.trim_end().strip_suffix(&*open).and_then(Margin::of) else {
            continue;
        };
        places += 1;
        let mut old = Vec::new();
        let end = loop {
            match lines.next() {
                Some((_, line)) if line.trim_end().ends_with(&*close) => break line,
                Some((_, line)) => old.push(margin.strip(line)),
                None => {
                    let ((path, name), line) = (named(), number);
                    return Err(EmbedError::NoEnd { path, name, line });
                }
            }
        };
        let new = block(drawing, &old, margin).map_err(|(found, at)| {
            let ((path, name), line) = (named(), number + 1 + at);
            EmbedError::UnknownForm {
                path,
                name,
                found,
                line,
            }
        })?;
        if let Some((at, diff)) = difference(&old, &new) {
            let ((path, name), line) = (named(), number + 1 + at);
            renewed.stale.get_or_insert(EmbedError::Stale {
                path,
                name,
                line,
                diff,
            });
        }
        renewed.push(&new, margin, line);
        renewed.text.push_str(end);
    }
    if places == 0 {
        let (path, name) = named();
        return Err(EmbedError::NoPlace { path, name });
    }
    Ok(renewed)
}

impl Renewed {
    /// Adds the lines of a picture, with the line ending of its marker.
    fn push(&mut self, lines: &[String], margin: Margin<'_>, marker: &str) {
        let ending = if marker.ends_with("\r\n") {
            "\r\n"
        } else {
            "\n"
        };
        for line in lines {
            let line = format!("{}{line}", margin.0);
            self.text.push_str(line.trim_end());
            self.text.push_str(ending);
        }
    }
}

/// The prefix of each line of a picture: spaces, and in Rust files `//!` or `///`.
#[derive(Clone, Copy)]
struct Margin<'t>(&'t str);

impl<'t> Margin<'t> {
    fn of(before_marker: &'t str) -> Option<Self> {
        let is_margin = matches!(before_marker.trim(), "" | "//!" | "///" | ">" | "*");
        is_margin.then_some(Self(before_marker))
    }

    /// Returns true in Rust files, which should not have tabs.
    fn is_comment(self) -> bool {
        self.0.trim().starts_with("//")
    }

    fn strip(self, line: &str) -> &str {
        let line = line.trim_end();
        line.strip_prefix(self.0)
            .or_else(|| line.strip_prefix(self.0.trim_end()))
            .unwrap_or(line)
    }
}

/// Returns the lines of a picture, in the language of the existing block.
fn block(
    drawing: &Drawing<'_>,
    old: &[&str],
    margin: Margin<'_>,
) -> Result<Vec<String>, (String, usize)> {
    let fence = old.iter().enumerate().find_map(|(at, line)| {
        let language = line.strip_prefix("```")?.trim_start_matches('`').trim();
        Some((at, language))
    });
    let (at, language) = fence.unwrap_or((0, "mermaid"));
    let picture = match language {
        "mermaid" => drawing.mermaid(),
        "dot" | "graphviz" => drawing.dot(),
        "text" | "txt" => drawing.terminal(),
        other => return Err((other.to_owned(), at)),
    };
    // A name that contains backticks must not end the block.
    let mut ticks = "```".to_owned();
    while picture.contains(&ticks) {
        ticks.push('`');
    }
    let mut lines = vec![format!("{ticks}{language}")];
    lines.extend(picture.lines().map(|line| {
        let line = line.trim_end();
        if margin.is_comment() {
            line.replace('\t', "    ")
        } else {
            line.to_owned()
        }
    }));
    lines.push(ticks);
    Ok(lines)
}

/// Returns the lines between the common beginning and the common end.
fn difference(old: &[&str], new: &[String]) -> Option<(usize, String)> {
    let (mut old, mut new, mut head) = (old, new, 0);
    while let ([old_line, old_rest @ ..], [new_line, new_rest @ ..]) = (old, new)
        && *old_line == new_line
    {
        (old, new, head) = (old_rest, new_rest, head + 1);
    }
    while let ([old_rest @ .., old_line], [new_rest @ .., new_line]) = (old, new)
        && *old_line == new_line
    {
        (old, new) = (old_rest, new_rest);
    }
    if old.is_empty() && new.is_empty() {
        return None;
    }
    let mut lines = String::new();
    for line in old {
        let _ = writeln!(lines, "-{line}");
    }
    for line in new {
        let _ = writeln!(lines, "+{line}");
    }
    Some((head, lines))
}
