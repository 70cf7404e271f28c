//! The package whose graphs a command is for, and the program that is built around it.

#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::{Path, PathBuf};

use cargo_langgraph::driver::Driver;
use cargo_langgraph::new::{self, Library};
use cargo_langgraph::project::{Project, Source};
use tempfile::TempDir;

fn repository() -> PathBuf {
    fs::canonicalize(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")).unwrap()
}

/// Makes a package from a template. Nothing is downloaded: the versions are those of this repository.
fn package(template: &str) -> (TempDir, PathBuf) {
    let parent = TempDir::new().unwrap();
    let folder = fs::canonicalize(parent.path()).unwrap().join("my-graphs");
    new::create(&folder, template, &Library::Path(repository())).unwrap();
    (parent, folder)
}

/// Changes the manifest of a package.
fn edit(folder: &Path, from: &str, to: &str) {
    let path = folder.join("Cargo.toml");
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.contains(from), "{text}");
    fs::write(path, text.replace(from, to)).unwrap();
}

/// Finds the package of a folder. Its program is built there, and not in a folder that `CARGO_TARGET_DIR` names and
/// the tests would share.
fn find(folder: &Path) -> Project {
    let mut project = Project::find(folder, None).unwrap();
    project.target = folder.join("target");
    project
}

fn error(folder: &Path, package: Option<&str>) -> String {
    Project::find(folder, package).unwrap_err().to_string()
}

#[test]
fn each_template_names_a_graph_of_its_library() {
    for (template, graph, function) in [
        ("agent", "agent", "agent"),
        ("workflow", "order", "order"),
        ("service", "chat", "chat_graph"),
    ] {
        let (_parent, folder) = package(template);
        let project = find(&folder);
        assert_eq!(project.name, "my-graphs");
        assert_eq!(project.library, "my_graphs");
        assert_eq!(project.folder, folder);
        assert_eq!(project.source, Source::Path(repository()));
        assert_eq!(project.graphs[graph], function);
        // The library is not watched.
        assert_eq!(project.sources, std::slice::from_ref(&folder));
    }
}

#[test]
fn the_program_depends_on_the_package_and_adds_its_graphs() {
    let (_parent, folder) = package("workflow");
    edit(
        &folder,
        "order = \"order\"",
        "order = \"order\"\nother = \"inner::other\"",
    );
    let patch = "\n[patch.crates-io]\nserde = { path = \"../serde\" }\n";
    let project = find(&folder);
    // Patches are read from the manifest of the workspace, whatever Cargo would say about this one.
    edit(
        &folder,
        "\n[dependencies]",
        &format!("{patch}\n[dependencies]"),
    );
    Driver::write(&project, &["extra".to_owned()]).unwrap();

    let written = folder.join("target/langgraph/my-graphs");
    let code = fs::read_to_string(written.join("src/main.rs")).unwrap();
    assert!(code.contains("graphs.add(\"order\", package::order()).await?;"));
    assert!(code.contains("graphs.add(\"other\", package::inner::other()).await?;"));
    let manifest = fs::read_to_string(written.join("Cargo.toml")).unwrap();
    let manifest: toml::Table = toml::from_str(&manifest).unwrap();
    let package = &manifest["dependencies"]["package"];
    assert_eq!(package["path"].as_str().unwrap(), folder.to_str().unwrap());
    assert_eq!(package["features"][0].as_str(), Some("extra"));
    let runtime = &manifest["dependencies"]["runtime"];
    if cfg!(windows) {
        assert_eq!(runtime["package"].as_str(), Some("langgraph-dev"));
    } else {
        assert_eq!(
            runtime["package"].as_str(),
            Some("langgraph-runtime-my-graphs")
        );
    }
    let library = fs::read_to_string(written.join("runtime/Cargo.toml")).unwrap();
    let library: toml::Table = toml::from_str(&library).unwrap();
    assert_eq!(library["lib"]["crate-type"][0].as_str(), Some("dylib"));
    let dev = library["dependencies"]["langgraph-dev"]["path"].as_str();
    assert_eq!(dev, repository().join("crates/dev").to_str());
    let serde = manifest["patch"]["crates-io"]["serde"]["path"].as_str();
    assert_eq!(serde, folder.join("../serde").to_str());
}

#[test]
fn files_are_not_touched_without_a_change() {
    let (_parent, folder) = package("workflow");
    let project = find(&folder);
    let lock = folder.join("target/langgraph/my-graphs/Cargo.lock");
    Driver::write(&project, &[]).unwrap();
    // Cargo adds the other dependencies of the program.
    fs::write(&lock, "changed by cargo").unwrap();
    Driver::write(&project, &[]).unwrap();
    assert_eq!(fs::read_to_string(&lock).unwrap(), "changed by cargo");
    fs::write(folder.join("Cargo.lock"), "# another one").unwrap();
    Driver::write(&project, &[]).unwrap();
    assert_eq!(fs::read_to_string(&lock).unwrap(), "# another one");
}

#[test]
fn a_package_that_cannot_be_linked_with_a_shared_library_is_linked_into_one_file() {
    let (_parent, folder) = package("workflow");
    let project = find(&folder);
    let written = folder.join("target/langgraph/my-graphs");
    fs::create_dir_all(&written).unwrap();
    // What the build leaves when the linker has failed.
    fs::write(written.join("static"), "").unwrap();
    Driver::write(&project, &[]).unwrap();
    let manifest = fs::read_to_string(written.join("Cargo.toml")).unwrap();
    let manifest: toml::Table = toml::from_str(&manifest).unwrap();
    let runtime = &manifest["dependencies"]["runtime"];
    assert_eq!(runtime["package"].as_str(), Some("langgraph-dev"));
}

#[test]
fn what_is_missing_is_said() {
    let (_parent, folder) = package("workflow");
    assert_eq!(
        error(&folder, Some("other")),
        "the workspace has no package `other`"
    );
    edit(&folder, "order = \"order\"", "order = \"order()\"");
    assert_eq!(
        error(&folder, None),
        "[package.metadata.langgraph.graphs] of `my-graphs`: `order()` of `order` is not the path of a \
         function in the library, such as `agent` or `graphs::agent`"
    );
    edit(
        &folder,
        "[package.metadata.langgraph.graphs]",
        "[package.metadata.langgraph.graph]",
    );
    let message = error(&folder, None);
    assert!(message.contains("unknown field `graph`"), "{message}");
    edit(
        &folder,
        "[package.metadata.langgraph.graph]",
        "[package.metadata.other]",
    );
    let message = error(&folder, None);
    assert!(
        message.starts_with("0 packages here name graphs"),
        "{message}"
    );
}

#[test]
fn a_package_without_a_library_is_refused() {
    let (_parent, folder) = package("workflow");
    fs::remove_file(folder.join("src/lib.rs")).unwrap();
    let message = error(&folder, None);
    assert!(message.contains("has no library"), "{message}");
}
