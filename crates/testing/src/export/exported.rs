//! The files of an exported thread.

use std::fs;
use std::path::{Path, PathBuf};

use super::error::ExportError;
use crate::ReplayReport;

/// The files that an [export](crate::export()) makes: a test, the thread, and a cassette of the requests to
/// models.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Exported {
    /// The name of the test, which begins the names of the files.
    pub name: String,
    /// The code of the test.
    pub test: String,
    /// The thread, as JSON.
    pub thread: String,
    /// The requests to models, as JSON, in the form of a [`Cassette`](crate::Cassette).
    pub cassette: String,
    /// What a replay of the exported thread has found with the graph that it was exported with.
    pub report: ReplayReport,
}

impl Exported {
    /// Returns the names of the files, and what is in them.
    pub fn files(&self) -> [(String, &str); 3] {
        let name = &self.name;
        [
            (format!("{name}.rs"), &self.test),
            (thread_file(name), &self.thread),
            (cassette_file(name), &self.cassette),
        ]
    }

    /// Writes the files into a folder: `tests` of a package, whose Cargo then runs the test. Returns the file
    /// of the test.
    ///
    /// # Errors
    ///
    /// [`ExportError::Write`].
    pub fn write(&self, folder: impl AsRef<Path>) -> Result<PathBuf, ExportError> {
        let folder = folder.as_ref();
        let failed = |path: &Path| {
            let path = path.to_owned();
            move |source| ExportError::Write { path, source }
        };
        fs::create_dir_all(folder).map_err(failed(folder))?;
        for (name, content) in self.files() {
            let path = folder.join(name);
            fs::write(&path, content).map_err(failed(&path))?;
        }
        Ok(folder.join(format!("{}.rs", self.name)))
    }
}

/// Returns the name of a test: letters of ASCII, numbers, and single `_`.
pub(super) fn test_name(thread: &str) -> String {
    let name = thread.to_ascii_lowercase();
    let words = name.split(|c: char| !c.is_ascii_alphanumeric());
    let words = words.filter(|word| !word.is_empty());
    let name: Vec<&str> = std::iter::once("thread").chain(words).collect();
    name.join("_")
}

/// Returns the code of a test. `graph` is the expression that makes the graph.
pub(super) fn test_code(name: &str, thread: &str, graph: &str, mistake: Option<&str>) -> String {
    let thread = thread.replace(|c: char| c.is_control(), " ");
    let (what, passes) = match mistake {
        Some(mistake) => (
            format!("made a mistake: {mistake}"),
            "The test fails as long as it is made.",
        ),
        None => (
            "went right.".to_owned(),
            "The test fails if it would go another way.",
        ),
    };
    let (thread_file, cassette_file) = (thread_file(name), cassette_file(name));
    format!(
        r#"//! The thread `{thread}`, which {what}
//!
//! {passes}

use langgraph_testing::ExportedThread;

#[tokio::test]
async fn {name}() -> Result<(), Box<dyn std::error::Error>> {{
    let thread = include_str!("{thread_file}");
    let thread = ExportedThread::parse(thread, include_str!("{cassette_file}")).await?;
    let graph = {graph};
    let report = thread.replay(&graph).await?;
    thread.check(&report)?;
    Ok(())
}}
"#
    )
}

fn thread_file(name: &str) -> String {
    format!("{name}.thread.json")
}

fn cassette_file(name: &str) -> String {
    format!("{name}.cassette.json")
}
