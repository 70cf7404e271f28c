//! The program that is built around the graphs of a package.

mod build;
mod files;

use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::{fs, io};

pub use build::Built;

use crate::project::Project;

/// The name of the program.
const NAME: &str = "langgraph-driver";

/// A file that exists if the package cannot be linked with the shared library.
const STATIC: &str = "static";

/// How the program gets what it does not share with the package: the server, the replay, SQLite.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Linkage {
    /// From a shared library, which is not linked anew when the package changes.
    Shared,
    /// From its own file.
    Static,
}

/// A program in the target folder that depends on a package and on `langgraph-dev`, and has a target
/// folder of its own: builds of the package do not wait for it.
///
/// All that is not the package's is in a shared library, so that a change of the package links little. A package whose
/// code calls a C library that is also in the shared one cannot be linked so: then the program has all in one file.
#[derive(Clone, Debug)]
pub struct Driver {
    folder: PathBuf,
    target: PathBuf,
    /// Where Cargo runs: the package's folder, whose `.cargo/config.toml` counts.
    package: PathBuf,
    /// The name of the shared library in code.
    runtime: String,
    /// The manifest without the shared library; `None` if it is in use.
    fallback: Option<String>,
    /// The folder of the standard library.
    standard: OnceLock<PathBuf>,
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
    /// The compiler does not say where its libraries are.
    #[error("cannot run `rustc --print target-libdir`: {0}")]
    Rustc(#[source] io::Error),
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
        let linkage = if cfg!(windows) || folder.join(STATIC).exists() {
            Linkage::Static
        } else {
            Linkage::Shared
        };
        let manifest = |linkage| files::manifest(project, features, linkage);
        replace(&folder.join("Cargo.toml"), &manifest(linkage)?)?;
        replace(&folder.join("src/main.rs"), &files::program(project))?;
        let runtime = folder.join("runtime");
        replace(
            &runtime.join("Cargo.toml"),
            &files::runtime_manifest(project),
        )?;
        replace(&runtime.join("src/lib.rs"), files::RUNTIME)?;
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
            runtime: files::runtime_library(project),
            fallback: match linkage {
                Linkage::Shared => Some(manifest(Linkage::Static)?),
                Linkage::Static => None,
            },
            standard: OnceLock::new(),
        })
    }

    /// Links all into one file from now on, and returns whether that is new.
    fn link_statically(&self) -> Result<bool, DriverError> {
        match &self.fallback {
            Some(manifest) => {
                replace(&self.folder.join(STATIC), "")?;
                replace(&self.folder.join("Cargo.toml"), manifest)
            }
            None => Ok(false),
        }
    }
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
