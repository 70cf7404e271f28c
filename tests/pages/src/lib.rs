//! Reads a page as its reader does: writes its files, runs its commands, and compares what they print.
//!
//! A block of Rust, TOML or TypeScript whose first line is a comment with a path is a file. A block of `console` holds
//! commands, one a line; a block of `text` after it is what they print. Other blocks are skipped.

use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What a reader of a page does.
#[derive(Debug, PartialEq, Eq)]
enum Step {
    /// Writes a file.
    File { path: String, text: String },
    /// Runs commands.
    Run(Vec<String>),
    /// Expects this of the commands before it.
    Expect(String),
}

/// A folder with a project that depends on this repository.
#[derive(Debug)]
pub struct Reader {
    folder: PathBuf,
    root: PathBuf,
    target: PathBuf,
    printed: String,
}

impl Reader {
    /// Creates a reader whose project is `folder/name`, and who has cloned the repository into `root`. What is built goes
    /// to `target`.
    ///
    /// # Errors
    ///
    /// If the folder cannot be written.
    pub fn new(folder: &Path, name: &str, root: &Path, target: &Path) -> io::Result<Self> {
        let project = folder.join(name);
        std::fs::create_dir_all(project.join("src"))?;
        // The versions that the repository is tested with.
        std::fs::copy(root.join("Cargo.lock"), project.join("Cargo.lock"))?;
        Ok(Self {
            folder: project,
            root: root.to_owned(),
            target: target.to_owned(),
            printed: String::new(),
        })
    }

    /// Reads a page to its end. Returns the number of files and commands.
    ///
    /// # Errors
    ///
    /// If a command fails or prints something else than the page says.
    pub fn read(&mut self, page: &str) -> io::Result<(usize, usize)> {
        let (mut files, mut commands) = (0, 0);
        for step in steps(page) {
            match step {
                Step::File { path, text } => {
                    let file = self.folder.join(path);
                    if let Some(parent) = file.parent() {
                        std::fs::create_dir_all(parent)?;
                    }
                    std::fs::write(file, self.located(&text))?;
                    files += 1;
                }
                Step::Run(lines) => {
                    self.printed.clear();
                    for line in lines {
                        self.run(&line)?;
                        commands += 1;
                    }
                }
                Step::Expect(text) if text == self.printed => {}
                Step::Expect(text) => {
                    let printed = &self.printed;
                    let message =
                        format!("the page expects\n{text}\nbut the commands print\n{printed}");
                    return Err(io::Error::other(message));
                }
            }
        }
        Ok((files, commands))
    }

    /// Returns the text of a file, with the repository at its own place: Cargo takes a crate at another path for
    /// another crate, and would build all of them anew for each page.
    fn located(&self, text: &str) -> String {
        text.replace(
            "path = \"../langgraph/",
            &format!("path = \"{}/", self.root.display()),
        )
    }

    /// Runs a command of the page in the project, as a shell does.
    fn run(&mut self, line: &str) -> io::Result<()> {
        let output = Command::new("sh")
            .args(["-c", line])
            .current_dir(&self.folder)
            .env("CARGO_TARGET_DIR", &self.target)
            .env("CARGO_INCREMENTAL", "0")
            // As the dependencies of the workspace, which are not built again.
            .env("CARGO_PROFILE_DEV_DEBUG", "false")
            .env("CARGO_TERM_QUIET", "true")
            .env_remove("RUSTFLAGS")
            .output()?;
        if !output.status.success() {
            let errors = String::from_utf8_lossy(&output.stderr);
            let printed = String::from_utf8_lossy(&output.stdout);
            return Err(io::Error::other(format!(
                "`{line}` failed:\n{printed}{errors}"
            )));
        }
        self.printed += &String::from_utf8_lossy(&output.stdout);
        Ok(())
    }
}

/// Returns what a reader of the page does, in order.
fn steps(page: &str) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        let Some(language) = line.strip_prefix("```") else {
            continue;
        };
        let block: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
        let text: String = block.iter().flat_map(|line| [*line, "\n"]).collect();
        match language {
            "console" => steps.push(Step::Run(
                block.iter().map(|line| (*line).to_owned()).collect(),
            )),
            "text" if matches!(steps.last(), Some(Step::Run(_))) => steps.push(Step::Expect(text)),
            _ => steps.extend(path(&block).map(|path| Step::File { path, text })),
        }
    }
    steps
}

/// Returns the path in the first line of a block.
fn path(block: &[&str]) -> Option<String> {
    let first = block.first()?;
    let path = first
        .strip_prefix("// ")
        .or_else(|| first.strip_prefix("# "))?;
    let ending = path.rsplit_once('.').map(|(_, ending)| ending);
    let is_path = matches!(ending, Some("rs" | "toml" | "ts"));
    (is_path && !path.contains(' ')).then(|| path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::{Step, steps};

    #[test]
    fn a_page_is_read_as_files_commands_and_what_they_print() {
        let page = "Text.\n\n```toml\n# Cargo.toml\n[package]\n```\n\n```rust\nlet a = 1;\n```\n\
                    ```console\ncargo run\ncargo test\n```\n\n```text\nhello\n```\n";
        let expected = [
            Step::File {
                path: "Cargo.toml".into(),
                text: "# Cargo.toml\n[package]\n".into(),
            },
            Step::Run(vec!["cargo run".into(), "cargo test".into()]),
            Step::Expect("hello\n".into()),
        ];
        assert_eq!(steps(page), expected);
    }
}
