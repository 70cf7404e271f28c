//! Builds the program, and makes commands that run it.

use std::env;
use std::ffi::OsString;
use std::io::{self, BufReader, IsTerminal as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use cargo_metadata::diagnostic::Diagnostic;
use cargo_metadata::{Artifact, Message};

use super::{Driver, DriverError, NAME};

/// A program that was built.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Built {
    /// The program.
    pub executable: PathBuf,
    /// The folders of the shared libraries that it needs.
    pub libraries: Vec<PathBuf>,
    /// True if nothing had changed.
    pub fresh: bool,
}

impl Built {
    /// Returns a command that runs the program.
    pub fn command(&self) -> Command {
        let mut command = Command::new(&self.executable);
        if !self.libraries.is_empty() {
            command.env(search_path_variable(), self.search_path());
        }
        command
    }

    /// Returns where libraries are looked for: where the program has its own, and then as before.
    fn search_path(&self) -> OsString {
        let before = env::var_os(search_path_variable()).unwrap_or_default();
        let before = env::split_paths(&before).filter(|path| !path.as_os_str().is_empty());
        let own = self.libraries.iter().cloned();
        env::join_paths(own.chain(before)).unwrap_or_default()
    }
}

fn search_path_variable() -> &'static str {
    if cfg!(target_os = "macos") {
        "DYLD_FALLBACK_LIBRARY_PATH"
    } else {
        "LD_LIBRARY_PATH"
    }
}

/// What Cargo has built.
#[derive(Default)]
struct Build {
    succeeded: bool,
    program: Option<Artifact>,
    runtime: Option<Artifact>,
    /// Why the program could not be linked.
    unlinked: Vec<Diagnostic>,
}

impl Driver {
    /// Builds the program. What does not compile is printed.
    ///
    /// # Errors
    ///
    /// Fails if the code does not compile.
    pub fn build(&self) -> Result<Built, DriverError> {
        let mut build = self.run_cargo()?;
        if !build.unlinked.is_empty() && self.link_statically()? {
            eprintln!("the package has C code of its own: the program is linked into one file");
            build = self.run_cargo()?;
        }
        build.unlinked.iter().for_each(print);
        let (Some(program), true) = (build.program, build.succeeded) else {
            return Err(DriverError::Build);
        };
        let executable = program.executable.ok_or(DriverError::Build)?;
        Ok(Built {
            executable: executable.into_std_path_buf(),
            libraries: match build.runtime {
                Some(runtime) => self.libraries(&runtime)?,
                None => Vec::new(),
            },
            fresh: program.fresh,
        })
    }

    fn run_cargo(&self) -> Result<Build, DriverError> {
        let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let format = if io::stderr().is_terminal() {
            "--message-format=json-diagnostic-rendered-ansi"
        } else {
            "--message-format=json"
        };
        let mut child = Command::new(cargo)
            .args(["build", "--quiet", format])
            .arg("--manifest-path")
            .arg(self.folder.join("Cargo.toml"))
            .arg("--target-dir")
            .arg(&self.target)
            .current_dir(&self.package)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(DriverError::Cargo)?;
        let mut build = Build::default();
        if let Some(output) = child.stdout.take() {
            for message in Message::parse_stream(BufReader::new(output)) {
                match message.map_err(DriverError::Cargo)? {
                    Message::CompilerArtifact(artifact) if artifact.target.name == NAME => {
                        build.program = Some(artifact);
                    }
                    Message::CompilerArtifact(artifact) if artifact.target.name == self.runtime => {
                        build.runtime = Some(artifact);
                    }
                    Message::CompilerMessage(compiler) if is_unlinked(&compiler.message) => {
                        build.unlinked.push(compiler.message);
                    }
                    Message::CompilerMessage(compiler) => print(&compiler.message),
                    _ => {}
                }
            }
        }
        build.succeeded = child.wait().map_err(DriverError::Cargo)?.success();
        Ok(build)
    }

    /// Returns the folders of the shared library, and of the standard library that it needs.
    fn libraries(&self, runtime: &Artifact) -> Result<Vec<PathBuf>, DriverError> {
        let own = runtime.filenames.iter().filter_map(|file| file.parent());
        let mut folders: Vec<PathBuf> = own.map(|folder| folder.as_std_path().to_owned()).collect();
        let standard = if let Some(standard) = self.standard.get() {
            standard.clone()
        } else {
            let found = standard_library(&self.package).map_err(DriverError::Rustc)?;
            self.standard.get_or_init(|| found).clone()
        };
        folders.push(standard);
        Ok(folders)
    }
}

fn print(diagnostic: &Diagnostic) {
    eprint!(
        "{}",
        diagnostic
            .rendered
            .as_deref()
            .unwrap_or(&diagnostic.message)
    );
}

/// Returns true if an error is that of the linker.
fn is_unlinked(diagnostic: &Diagnostic) -> bool {
    diagnostic.message.starts_with("linking with ")
}

/// Asks the compiler of a folder where its libraries are.
fn standard_library(folder: &Path) -> io::Result<PathBuf> {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc)
        .args(["--print", "target-libdir"])
        .current_dir(folder)
        .output()?;
    if !output.status.success() {
        let error = String::from_utf8_lossy(&output.stderr);
        return Err(io::Error::other(error.trim().to_owned()));
    }
    Ok(PathBuf::from(
        String::from_utf8_lossy(&output.stdout).trim(),
    ))
}
