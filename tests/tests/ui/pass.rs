//! Programs that compile without a warning, and run.
//!
//! They are a part of this test, which builds them once.

#[path = "../../ui/graph/pass/constructs.rs"]
mod constructs;
#[path = "../../ui/graph/pass/hygiene.rs"]
mod hygiene;
#[path = "../../ui/graph/pass/nodes_from_macros.rs"]
mod nodes_from_macros;
#[path = "../../ui/graph/pass/parallel_writes.rs"]
mod parallel_writes;

#[test]
fn right_programs_run() {
    constructs::main();
    hygiene::main();
    nodes_from_macros::main();
    parallel_writes::main();
}

/// A program that is not listed above is not tested.
#[test]
fn every_right_program_is_run() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("ui");
    let programs = walkdir::WalkDir::new(folder);
    let programs = programs.into_iter().map(|entry| entry.unwrap().into_path());
    let right = |path: &std::path::PathBuf| path.iter().any(|part| part == "pass");
    let mut count = 0;
    for path in programs.filter(|path| path.is_file()).filter(right) {
        let name = path.file_stem().unwrap().to_string_lossy();
        assert!(
            include_str!("pass.rs").contains(&format!("{name}::main();")),
            "{name}"
        );
        count += 1;
    }
    assert_eq!(count, 4);
}
