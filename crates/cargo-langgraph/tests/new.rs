//! `cargo langgraph new`. `tests/templates.sh` builds, tests and runs what it makes.

use std::fs;
use std::path::Path;

use cargo_langgraph::fmt::{Style, format_source};
use cargo_langgraph::new::{Library, NewError, create, templates};

#[test]
fn a_package_has_its_name_its_library_and_formatted_graphs() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()
        .unwrap();
    let folder = tempfile::tempdir().unwrap();
    for template in templates() {
        let package = folder.path().join(format!("my-{template}"));
        create(&package, template, &Library::Path(root.clone())).unwrap();
        let manifest = fs::read_to_string(package.join("Cargo.toml")).unwrap();
        let manifest: toml::Table = manifest.parse().unwrap();
        assert_eq!(
            manifest["package"]["name"].as_str(),
            Some(&*format!("my-{template}"))
        );
        let path = manifest["dependencies"]["langgraph"]["path"]
            .as_str()
            .unwrap();
        assert_eq!(Path::new(path), root.join("langgraph"));
        let profile = &manifest["profile"]["dev"];
        let debug = &profile["package"]["*"]["debug"];
        assert_eq!(debug.as_str(), Some("line-tables-only"), "{template}");
        assert!(profile.get("debug").is_none(), "{template}");
        let split = &profile["split-debuginfo"];
        assert_eq!(split.as_str(), Some("unpacked"), "{template}");
        let main = fs::read_to_string(package.join("src/main.rs")).unwrap();
        assert!(main.contains(&format!("use my_{template}::")));
        let graph = fs::read_to_string(package.join("src/lib.rs")).unwrap();
        let formatted = format_source(&graph, &Style::default()).unwrap();
        let graphs = usize::from(template != "functional");
        assert_eq!((formatted.text, formatted.graphs.len()), (graph, graphs));
        assert!(package.join("Cargo.lock").is_file());
    }
    let package = folder.path().join("by_git");
    create(
        &package,
        "agent",
        &Library::Git("https://example.com/\"x".to_owned()),
    )
    .unwrap();
    let manifest = fs::read_to_string(package.join("Cargo.toml")).unwrap();
    let manifest: toml::Table = manifest.parse().unwrap();
    let git = &manifest["dependencies"]["langgraph-agent"]["git"];
    assert_eq!(git.as_str(), Some("https://example.com/\"x"));
    assert!(!package.join("Cargo.lock").exists());
}

#[test]
fn a_package_in_a_workspace_leaves_the_profile_to_it() {
    let folder = tempfile::tempdir().unwrap();
    let git = Library::Git("https://example.com".to_owned());
    let root = folder.path().join("Cargo.toml");
    let workspace = "[workspace]\nmembers = [\"crates/*\"]\nexclude = [\"scratch\"]\n";
    fs::write(&root, workspace).unwrap();
    for template in templates() {
        let is_part = folder.path().join("crates").join(template).join("mine");
        assert_eq!(
            create(&is_part, template, &git).unwrap().as_ref(),
            Some(&root)
        );
        let manifest = fs::read_to_string(is_part.join("Cargo.toml")).unwrap();
        let manifest: toml::Table = manifest.parse().unwrap();
        assert!(!manifest.contains_key("profile"), "{template}");

        let excluded = folder.path().join("scratch").join(template).join("mine");
        assert_eq!(create(&excluded, template, &git).unwrap(), None);
        let manifest = fs::read_to_string(excluded.join("Cargo.toml")).unwrap();
        assert!(manifest.contains("[profile.dev"), "{template}");
    }
}

#[test]
fn a_key_of_the_profile_is_no_dependency_and_can_be_the_name_of_a_package() {
    let folder = tempfile::tempdir().unwrap();
    let git = Library::Git("https://example.com".to_owned());
    for template in templates() {
        let package = folder.path().join(template).join("debug");
        create(&package, template, &git).unwrap();
    }
}

#[test]
fn what_cannot_be_a_package_is_refused_and_nothing_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let git = Library::Git("https://example.com".to_owned());
    for name in [
        "langgraph",
        "langgraph-agent",
        "tokio",
        "match",
        "a b",
        "7up",
        "test",
        "..",
    ] {
        let error = create(&folder.path().join(name), "agent", &git);
        assert!(matches!(error, Err(NewError::Name(_))), "{name}: {error:?}");
        let error = error.unwrap_err();
        assert_eq!(format!("{error:?}"), error.to_string());
    }
    let package = folder.path().join("mine");
    fs::create_dir(&package).unwrap();
    let exists = create(&package, "agent", &git);
    assert!(matches!(exists, Err(NewError::Exists(_))));
    fs::remove_dir(&package).unwrap();
    let unknown = create(&package, "poem", &git);
    assert!(matches!(unknown, Err(NewError::Template(_))));
    let library = create(&package, "agent", &Library::Path(folder.path().to_owned()));
    let message = library.unwrap_err().to_string();
    assert!(message.contains("is not the repository of langgraph: it has no langgraph/Cargo.toml"));
    let wrong = create(&package, "agent", &Library::Path("wrong".into()));
    let message = wrong.unwrap_err().to_string();
    assert!(
        message.starts_with("cannot find the repository of langgraph at wrong: "),
        "{message}"
    );
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}
