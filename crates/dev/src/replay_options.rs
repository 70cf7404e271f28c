//! What `cargo langgraph test` is asked to do.

use std::collections::BTreeSet;
use std::error::Error;
use std::path::PathBuf;

use langgraph::checkpoint::ThreadFilter;

/// Which threads run again, and what of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ReplayOptions {
    pub(crate) file: PathBuf,
    /// The graph; `None` for all.
    pub(crate) graph: Option<String>,
    /// The thread; `None` for all.
    pub(crate) thread: Option<String>,
    /// The nodes that do not run.
    pub(crate) keep: BTreeSet<String>,
    /// The fields that are not compared.
    pub(crate) ignore: BTreeSet<String>,
    /// The tools that run.
    pub(crate) run_tools: BTreeSet<String>,
}

impl ReplayOptions {
    /// Reads `FILE [NAME VALUE]..`, where a name is that of an option of the command.
    pub(crate) fn read(file: &str, options: &[&str]) -> Result<Self, Box<dyn Error>> {
        let mut read = Self {
            file: file.into(),
            ..Self::default()
        };
        for pair in options.chunks(2) {
            let &[name, value] = pair else {
                return Err(format!("`{}` has no value", pair.join(" ")).into());
            };
            let value = value.to_owned();
            match name {
                "graph" => read.graph = Some(value),
                "thread" => read.thread = Some(value),
                "keep" => drop(read.keep.insert(value)),
                "ignore" => drop(read.ignore.insert(value)),
                "run-tool" => drop(read.run_tools.insert(value)),
                other => return Err(format!("no option of a replay is called `{other}`").into()),
            }
        }
        Ok(read)
    }

    /// Returns the threads that run again.
    pub(crate) fn filter(&self) -> ThreadFilter {
        let mut filter = ThreadFilter::new();
        filter.thread.clone_from(&self.thread);
        filter
    }
}
