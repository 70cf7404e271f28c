//! What the program is asked to do: its arguments, which `cargo langgraph` writes.

use std::error::Error;
use std::path::PathBuf;

use crate::Language;
use crate::replay_options::ReplayOptions;

/// What the program is asked to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Command {
    /// Prints pictures, with subgraphs opened so many levels deep.
    Draw {
        format: Format,
        depth: usize,
        graph: Option<String>,
    },
    /// Checks the graphs against a lock, and against the threads of a database.
    Check {
        lock: PathBuf,
        file: Option<PathBuf>,
    },
    /// Runs stored threads again.
    Test(ReplayOptions),
    /// Prints the types of the graphs for programs in another language.
    Types(Language),
    /// Serves the graphs until standard input ends.
    Serve { address: String, file: PathBuf },
}

/// The form of a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    Terminal,
    Mermaid,
    Dot,
}

impl Command {
    /// Reads the arguments: `draw FORMAT DEPTH [GRAPH]`, `check LOCK [FILE]`,
    /// `test FILE [OPTION VALUE]..`, `types LANGUAGE` or `serve ADDRESS FILE`.
    pub(crate) fn read(arguments: &[String]) -> Result<Self, Box<dyn Error>> {
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        Ok(match arguments.as_slice() {
            ["draw", format, depth, graph @ ..] => Self::Draw {
                format: match *format {
                    "terminal" => Format::Terminal,
                    "mermaid" => Format::Mermaid,
                    "dot" => Format::Dot,
                    other => return Err(format!("no picture has the format `{other}`").into()),
                },
                depth: depth.parse()?,
                graph: graph.first().map(|&graph| graph.to_owned()),
            },
            ["check", lock, file @ ..] => Self::Check {
                lock: lock.into(),
                file: file.first().map(PathBuf::from),
            },
            ["test", file, options @ ..] => Self::Test(ReplayOptions::read(file, options)?),
            ["types", language] => Self::Types(match *language {
                "ts" => Language::TypeScript,
                "py" => Language::Python,
                other => return Err(format!("types are not written in `{other}`").into()),
            }),
            ["serve", address, file] => Self::Serve {
                address: (*address).to_owned(),
                file: file.into(),
            },
            other => {
                return Err(
                    format!("unknown arguments {other:?}: run this by `cargo langgraph`").into(),
                );
            }
        })
    }
}
