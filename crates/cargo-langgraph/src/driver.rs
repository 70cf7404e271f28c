//! The program that is built around the graphs of a package.

use std::fmt::Write as _;
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fs};

use cargo_metadata::Message;
use toml::{Table, Value};

use crate::project::{Project, Source};

/// The name of the program.
const NAME: &str = "langgraph-driver";

/// A program in the target folder that depends on a package and on `langgraph-dev`, and has a target
/// folder of its own: builds of the package do not wait for it.
#[derive(Clone, Debug)]
pub struct Driver {
    folder: PathBuf,
    target: PathBuf,
    /// Where Cargo runs: the package's folder, whose `.cargo/config.toml` counts.
    package: PathBuf,
}

/// A program that was built.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Built {
    /// The program.
    pub executable: PathBuf,
    /// True if nothing had changed.
    pub fresh: bool,
}

/// Why the program could not be built.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum DriverError {
    /// A file could not be read or written.
    #[error("{}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What happened.
        source: io::Error,
    },
    /// The manifest of the workspace cannot be read.
    #[error("{}: {source}", path.display())]
    Manifest {
        /// The manifest.
        path: PathBuf,
        /// What is wrong.
        source: toml::de::Error,
    },
    /// Cargo could not be run.
    #[error("cannot run cargo: {0}")]
    Cargo(#[source] io::Error),
    /// The code does not compile; Cargo has printed why.
    #[error("the package does not build")]
    Build,
}

langgraph_topology::debug_is_message!(DriverError);

impl Driver {
    /// Writes the program of a package. Files that are as they should be are not touched.
    ///
    /// # Errors
    ///
    /// Fails if a file cannot be read or written.
    pub fn write(project: &Project, features: &[String]) -> Result<Self, DriverError> {
        let root = project.target.join("langgraph");
        let folder = root.join(&project.name);
        replace(&folder.join("Cargo.toml"), &manifest(project, features)?)?;
        replace(&folder.join("src/main.rs"), &program(project))?;
        let lock = project.workspace.join("Cargo.lock");
        if let Ok(text) = fs::read_to_string(&lock) {
            // The program's own file has what Cargo added to it: it begins anew with that of the package.
            if replace(&folder.join("package.lock"), &text)? {
                replace(&folder.join("Cargo.lock"), &text)?;
            }
        }
        Ok(Self {
            folder,
            target: root.join("target"),
            package: project.folder.clone(),
        })
    }

    /// Builds the program. Cargo prints what it does, and what does not compile.
    ///
    /// # Errors
    ///
    /// Fails if the code does not compile.
    pub fn build(&self) -> Result<Built, DriverError> {
        let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let mut child = Command::new(cargo)
            .args([
                "build",
                "--quiet",
                "--message-format=json-render-diagnostics",
            ])
            .arg("--manifest-path")
            .arg(self.folder.join("Cargo.toml"))
            .arg("--target-dir")
            .arg(&self.target)
            .current_dir(&self.package)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(DriverError::Cargo)?;
        let mut built = None;
        if let Some(output) = child.stdout.take() {
            for message in Message::parse_stream(BufReader::new(output)) {
                if let Message::CompilerArtifact(artifact) = message.map_err(DriverError::Cargo)?
                    && artifact.target.name == NAME
                    && let Some(executable) = artifact.executable
                {
                    built = Some(Built {
                        executable: executable.into_std_path_buf(),
                        fresh: artifact.fresh,
                    });
                }
            }
        }
        let status = child.wait().map_err(DriverError::Cargo)?;
        built.filter(|_| status.success()).ok_or(DriverError::Build)
    }
}

/// Returns the manifest of the program.
fn manifest(project: &Project, features: &[String]) -> Result<String, DriverError> {
    let mut package = Table::new();
    package.insert("package".to_owned(), project.name.clone().into());
    package.insert("path".to_owned(), text(&project.folder));
    if !features.is_empty() {
        package.insert("features".to_owned(), features.to_vec().into());
    }
    let mut dev = Table::new();
    match &project.source {
        Source::Path(root) => {
            dev.insert("path".to_owned(), text(&root.join("crates/dev")));
        }
        Source::Git { url, rev } => {
            dev.insert("git".to_owned(), url.clone().into());
            dev.insert("rev".to_owned(), rev.clone().into());
        }
        Source::Version(version) => {
            dev.insert("version".to_owned(), format!("={version}").into());
        }
    }
    let mut manifest = toml::toml! {
        [package]
        version = "0.0.0"
        edition = "2024"
        publish = false

        [workspace]

        [dependencies]

        [profile.dev]
        debug = "line-tables-only"

        [profile.dev.package."*"]
        debug = false
    };
    insert(&mut manifest, &["package"], "name", NAME.into());
    insert(&mut manifest, &["dependencies"], "package", package.into());
    insert(
        &mut manifest,
        &["dependencies"],
        "langgraph-dev",
        dev.into(),
    );
    // Panics of the package have lines.
    let lines = Table::from_iter([("debug".to_owned(), "line-tables-only".into())]);
    let profiles = ["profile", "dev", "package"];
    insert(&mut manifest, &profiles, &project.name, lines.into());
    if let Some(patch) = patches(&project.workspace)? {
        manifest.insert("patch".to_owned(), patch);
    }
    Ok(manifest.to_string())
}

fn insert(table: &mut Table, path: &[&str], key: &str, value: Value) {
    let mut table = table;
    for part in path {
        let inner = table
            .entry(*part)
            .or_insert_with(|| Table::new().into())
            .as_table_mut();
        match inner {
            Some(inner) => table = inner,
            None => return,
        }
    }
    table.insert(key.to_owned(), value);
}

/// Returns the patches of the workspace, with its paths from the root of the file system.
fn patches(workspace: &Path) -> Result<Option<Value>, DriverError> {
    let path = workspace.join("Cargo.toml");
    let text = fs::read_to_string(&path).map_err(|source| DriverError::File {
        path: path.clone(),
        source,
    })?;
    let mut manifest: Table =
        toml::from_str(&text).map_err(|source| DriverError::Manifest { path, source })?;
    let mut patch = manifest.remove("patch");
    let registries = patch.as_mut().and_then(Value::as_table_mut);
    for (_, registry) in registries.into_iter().flatten() {
        for (_, package) in registry.as_table_mut().into_iter().flatten() {
            if let Some(path) = package.get_mut("path")
                && let Some(relative) = path.as_str()
            {
                *path = self::text(&workspace.join(relative));
            }
        }
    }
    Ok(patch)
}

fn text(path: &Path) -> Value {
    path.display().to_string().into()
}

/// Returns the code of the program.
fn program(project: &Project) -> String {
    let mut code = "fn main() -> std::process::ExitCode {\n    \
                    langgraph_dev::main(async |graphs| {\n"
        .to_owned();
    for (name, path) in &project.graphs {
        let _ = writeln!(
            code,
            "        graphs.add({name:?}, package::{path}()).await?;"
        );
    }
    code.push_str("        Ok(())\n    })\n}\n");
    code
}

/// Writes a file whose text is another one, and returns whether it was.
fn replace(path: &Path, text: &str) -> Result<bool, DriverError> {
    if fs::read_to_string(path).is_ok_and(|old| old == text) {
        return Ok(false);
    }
    let failed = |source| DriverError::File {
        path: path.to_owned(),
        source,
    };
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(failed)?;
    }
    fs::write(path, text).map_err(failed)?;
    Ok(true)
}
