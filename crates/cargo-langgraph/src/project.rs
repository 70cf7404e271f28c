//! The package whose graphs a command is for.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use cargo_metadata::{Metadata, MetadataCommand, Package, TargetKind};
use serde::Deserialize;

/// A package that names its graphs in its `Cargo.toml`:
///
/// ```toml
/// [package.metadata.langgraph.graphs]
/// chat = "agent"
/// ```
///
/// `agent` is the path of a function in the library of the package.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Project {
    /// The name of the package.
    pub name: String,
    /// The folder of the package.
    pub folder: PathBuf,
    /// The name of its library in code.
    pub library: String,
    /// The functions that make its graphs, by the graphs' names.
    pub graphs: BTreeMap<String, String>,
    /// Where the package gets `langgraph` from.
    pub source: Source,
    /// The folder of the workspace.
    pub workspace: PathBuf,
    /// The folder that Cargo builds into.
    pub target: PathBuf,
    /// The folders of the packages that may change: this one, and those that it depends on by path.
    pub sources: Vec<PathBuf>,
}

/// Where a package gets `langgraph` from.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Source {
    /// The folder of the library's repository.
    Path(PathBuf),
    /// A revision of a git repository.
    Git {
        /// The address of the repository.
        url: String,
        /// The revision.
        rev: String,
    },
    /// A version in a registry.
    Version(String),
}

/// Why there is no package with graphs.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum ProjectError {
    /// Cargo does not know the package.
    #[error("{0}")]
    Metadata(#[from] cargo_metadata::Error),
    /// The workspace has no such package.
    #[error("the workspace has no package `{0}`")]
    NoPackage(String),
    /// No package, or more than one, names graphs.
    #[error(
        "{found} packages here name graphs: choose one with `--package`, or add to its Cargo.toml\n\n\
         [package.metadata.langgraph.graphs]\nchat = \"agent\"    # the function of the library that \
         makes the graph `chat`"
    )]
    Packages {
        /// How many packages name graphs.
        found: usize,
    },
    /// The metadata of the package cannot be read.
    #[error("[package.metadata.langgraph] of `{package}`: {source}")]
    Invalid {
        /// The package.
        package: String,
        /// What is wrong.
        source: serde_json::Error,
    },
    /// The value of a graph is no path.
    #[error(
        "[package.metadata.langgraph.graphs] of `{package}`: `{path}` of `{graph}` is not the path of a \
         function in the library, such as `agent` or `graphs::agent`"
    )]
    Path {
        /// The package.
        package: String,
        /// The graph.
        graph: String,
        /// What was found.
        path: String,
    },
    /// The package has no library.
    #[error("`{0}` has no library: put the functions that make its graphs into src/lib.rs")]
    NoLibrary(String),
    /// The package does not depend on `langgraph`.
    #[error("`{0}` does not depend on `langgraph`")]
    NoLanggraph(String),
}

langgraph_topology::debug_is_message!(ProjectError);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Settings {
    graphs: BTreeMap<String, String>,
}

impl Project {
    /// Finds the package of the current folder, or the package of that name in its workspace.
    ///
    /// # Errors
    ///
    /// Fails if Cargo does not find a package there, if it names no graphs, or if its library or the
    /// dependency on `langgraph` is missing.
    pub fn find(folder: &Path, package: Option<&str>) -> Result<Self, ProjectError> {
        let metadata = MetadataCommand::new().current_dir(folder).exec()?;
        let package = choose(&metadata, package)?;
        let name = package.name.to_string();
        let graphs = graphs_of(package)?.unwrap_or_default();
        for (graph, path) in &graphs {
            if syn::parse_str::<syn::Path>(path).is_err() {
                return Err(ProjectError::Path {
                    package: name,
                    graph: graph.clone(),
                    path: path.clone(),
                });
            }
        }
        let library = package
            .targets
            .iter()
            .find(|target| {
                target
                    .kind
                    .iter()
                    .any(|kind| matches!(kind, TargetKind::Lib | TargetKind::RLib))
            })
            .ok_or_else(|| ProjectError::NoLibrary(name.clone()))?;
        let langgraph = metadata
            .packages
            .iter()
            .find(|package| package.name.as_str() == "langgraph")
            .ok_or_else(|| ProjectError::NoLanggraph(name.clone()))?;
        let source = source_of(langgraph);
        let is_own = |package: &&Package| {
            package.source.is_none()
                && !matches!(&source, Source::Path(root)
                    if package.manifest_path.starts_with(root) && !folder.starts_with(root))
        };
        Ok(Self {
            folder: folder_of(package),
            library: library.name.replace('-', "_"),
            graphs,
            sources: metadata
                .packages
                .iter()
                .filter(is_own)
                .map(folder_of)
                .collect(),
            source,
            workspace: metadata.workspace_root.into_std_path_buf(),
            target: metadata.target_directory.into_std_path_buf(),
            name,
        })
    }
}

/// Returns the package that is meant.
fn choose<'a>(metadata: &'a Metadata, name: Option<&str>) -> Result<&'a Package, ProjectError> {
    let members = metadata.workspace_packages();
    if let Some(name) = name {
        return members
            .into_iter()
            .find(|package| package.name.as_str() == name)
            .ok_or_else(|| ProjectError::NoPackage(name.to_owned()));
    }
    if let Some(root) = metadata.root_package()
        && graphs_of(root)?.is_some()
    {
        return Ok(root);
    }
    let mut found = Vec::new();
    for package in members {
        if graphs_of(package)?.is_some() {
            found.push(package);
        }
    }
    match found.as_slice() {
        [package] => Ok(package),
        several => Err(ProjectError::Packages {
            found: several.len(),
        }),
    }
}

fn graphs_of(package: &Package) -> Result<Option<BTreeMap<String, String>>, ProjectError> {
    let Some(settings) = package.metadata.get("langgraph") else {
        return Ok(None);
    };
    let settings = Settings::deserialize(settings).map_err(|source| ProjectError::Invalid {
        package: package.name.to_string(),
        source,
    })?;
    Ok(Some(settings.graphs))
}

fn folder_of(package: &Package) -> PathBuf {
    let manifest = package.manifest_path.as_std_path();
    manifest.parent().unwrap_or(manifest).to_owned()
}

/// Returns where a package comes from; a folder is that of the repository around it.
fn source_of(langgraph: &Package) -> Source {
    let Some(source) = &langgraph.source else {
        let folder = folder_of(langgraph);
        return Source::Path(folder.parent().unwrap_or(&folder).to_owned());
    };
    match source.repr.strip_prefix("git+") {
        Some(git) => {
            let (url, rev) = git.split_once('#').unwrap_or((git, "HEAD"));
            Source::Git {
                url: url.split('?').next().unwrap_or(url).to_owned(),
                rev: rev.to_owned(),
            }
        }
        None => Source::Version(langgraph.version.to_string()),
    }
}
