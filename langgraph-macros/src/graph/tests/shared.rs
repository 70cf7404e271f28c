//! What the runtime crate and this one must have in common.

#[test]
fn the_shared_files_are_the_same() {
    for (ours, theirs) in [
        (
            include_str!("../algo.rs"),
            include_str!("../../../../langgraph/src/graph/algo.rs"),
        ),
        (
            include_str!("../flow.rs"),
            include_str!("../../../../langgraph/src/graph/flow.rs"),
        ),
        (
            include_str!("../../similar.rs"),
            include_str!("../../../../langgraph/src/graph/similar.rs"),
        ),
    ] {
        assert!(
            ours == theirs,
            "copy the file that was changed to the other crate"
        );
    }
}
