//! The commands that `examples/README.md` lists.

#![allow(dead_code, reason = "not every test needs all of it")]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};

/// A command of the list.
pub(crate) struct Listed {
    /// The package after `-p`.
    pub(crate) package: Option<String>,
    pub(crate) example: String,
    arguments: Vec<String>,
}

impl Listed {
    /// Runs the program as the command would, without any key of the user, but with these variables.
    ///
    /// It is built already: `cargo test -p PACKAGE` builds all examples before it runs a test.
    pub(crate) fn run(&self, variables: &[(&str, &str)]) -> String {
        let mut command = self.command(&self.arguments);
        let output = command.envs(variables.iter().copied()).output().unwrap();
        assert!(output.status.success(), "{}: {output:?}", self.example);
        let printed = String::from_utf8(output.stdout).unwrap();
        assert!(
            !printed.trim().is_empty(),
            "{} prints nothing",
            self.example
        );
        printed
    }

    /// The program with other arguments, for a test that talks to it.
    pub(crate) fn command(&self, arguments: &[impl AsRef<std::ffi::OsStr>]) -> Command {
        let test = std::env::current_exe().unwrap();
        let profile = test.parent().and_then(Path::parent).unwrap();
        let program = profile.join("examples").join(&self.example);
        let program = program.with_extension(std::env::consts::EXE_EXTENSION);
        let package = self.package.as_deref().unwrap_or("langgraph-examples");
        assert!(
            program.exists(),
            "`{}` is not built: run `cargo build -p {package} --examples`",
            self.example
        );
        let mut command = Command::new(program);
        command.args(arguments).current_dir(root());
        for key in [
            "OPENAI_API_KEY",
            "ANTHROPIC_API_KEY",
            "ANTHROPIC_BASE_URL",
            "GEMINI_API_KEY",
            "GOOGLE_GEMINI_BASE_URL",
            "OLLAMA_HOST",
            "OPENAI_BASE_URL",
            "MODEL",
            "ZHIPU_API_KEY",
            "MCP_COMMAND",
            "GITLAB_TOKEN",
            "EXA_API_KEY",
            "EXA_URL",
        ] {
            command.env_remove(key);
        }
        command
    }
}

/// Returns the program of a package.
pub(crate) fn program(package: &str, example: &str) -> Listed {
    let mut all = of_package(package);
    all.retain(|listed| listed.example == example);
    all.pop().unwrap()
}

/// A program that runs until the test ends.
pub(crate) struct Running(pub(crate) Child, pub(crate) BufReader<ChildStdout>);

impl Running {
    pub(crate) fn start(command: &mut Command) -> Self {
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        Self(child, output)
    }

    /// Returns the next line that it prints.
    pub(crate) fn line(&mut self) -> String {
        let mut line = String::new();
        self.1.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }

    /// Writes a line, and returns the next one that it prints.
    pub(crate) fn ask(&mut self, question: &str) -> String {
        writeln!(self.0.stdin.as_mut().unwrap(), "{question}").unwrap();
        self.line()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Where the list and the workspace are, for a test of any crate.
fn root() -> PathBuf {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let is_root = |folder: &&Path| folder.join("examples/README.md").exists();
    package.ancestors().find(is_root).unwrap().to_owned()
}

/// The commands that run examples of `package`.
pub(crate) fn of_package(package: &str) -> Vec<Listed> {
    let mut all = all();
    all.retain(|listed| listed.package.as_deref() == Some(package));
    assert!(!all.is_empty(), "no example of {package} is listed");
    all
}

/// The commands that need no `-p`, and whose programs stand beside the test.
pub(crate) fn beside() -> Vec<Listed> {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let mut all = all();
    all.retain(|listed| {
        listed.package.is_none() && examples.join(&listed.example).with_extension("rs").exists()
    });
    assert!(
        !all.is_empty(),
        "no example of {} is listed",
        examples.display()
    );
    all
}

/// Every command of the list.
pub(crate) fn all() -> Vec<Listed> {
    let list = std::fs::read_to_string(root().join("examples/README.md")).unwrap();
    let rows = list.lines().filter_map(|line| line.strip_prefix("| `"));
    rows.map(|row| read(row.split('`').next().unwrap()))
        .collect()
}

/// `cargo run [--release] [-p PACKAGE] --example NAME [-- ARGUMENTS]`, and nothing else.
fn read(command: &str) -> Listed {
    let words = words(command);
    let mut words = words.iter().map(String::as_str);
    assert_eq!(
        (words.next(), words.next()),
        (Some("cargo"), Some("run")),
        "{command}"
    );
    let mut listed = Listed {
        package: None,
        example: String::new(),
        arguments: Vec::new(),
    };
    while let Some(word) = words.next() {
        match word {
            "-p" => listed.package = words.next().map(str::to_owned),
            // For programs that measure; here they are built as they are.
            "--release" => {}
            "--example" => words.next().unwrap().clone_into(&mut listed.example),
            "--" => listed.arguments = words.by_ref().map(str::to_owned).collect(),
            other => panic!("`{other}` in {command}"),
        }
    }
    listed
}

/// The words of a command, as a shell reads them: text in double quotes is one.
fn words(command: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (number, part) in command.split('"').enumerate() {
        if number % 2 == 1 {
            words.push(part.to_owned());
        } else {
            words.extend(part.split_whitespace().map(str::to_owned));
        }
    }
    words
}

/// The examples of the workspace: package and name.
pub(crate) fn existing() -> BTreeSet<(Option<String>, String)> {
    let mut found = BTreeSet::new();
    let mut add = |folder: PathBuf, package: Option<String>| {
        let Ok(files) = std::fs::read_dir(folder.join("examples")) else {
            return;
        };
        let files = files.map(|file| file.unwrap().path());
        // A file, or a folder with a `main.rs`.
        let is_program = |file: &PathBuf| {
            file.extension().is_some_and(|end| end == "rs") || file.join("main.rs").exists()
        };
        for file in files.filter(is_program) {
            let name = file.file_stem().unwrap().to_string_lossy().into_owned();
            found.insert((package.clone(), name));
        }
    };
    add(root().join("examples"), None);
    add(root().join("examples/agents"), None);
    for folder in ["langgraph", "langgraph-macros", "tests"] {
        add(root().join(folder), Some(folder.to_owned()));
    }
    for folder in std::fs::read_dir(root().join("crates")).unwrap() {
        let folder = folder.unwrap();
        let package = format!("langgraph-{}", folder.file_name().to_string_lossy());
        add(folder.path(), Some(package));
    }
    found
}
