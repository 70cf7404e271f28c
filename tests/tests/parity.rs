//! The cases of `tests/parity` answer as Python does, or as decided; and the comparison notices
//! when a single leaf of what is expected changes.
#![allow(clippy::unwrap_used)] // in what several tests share

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use langgraph_tests::parity::{Mode, Verdict, run};

fn parity(part: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("parity")
        .join(part)
}

/// The names of the cases to which our own answers stand in the repository.
fn answered() -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for group in std::fs::read_dir(parity("ours")).unwrap() {
        let group = group.unwrap();
        for file in std::fs::read_dir(group.path()).unwrap() {
            let path = file.unwrap().path();
            let group = group.file_name().into_string().unwrap();
            names.insert(format!(
                "{group}/{}",
                path.file_stem().unwrap().to_str().unwrap()
            ));
        }
    }
    names
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cases_answer_as_python_does_or_as_decided() {
    let report = run(&[parity("cases")], Mode::Check).await.unwrap();
    assert_eq!(report.failed(), 0, "{report}");
    assert!(report.passed() >= 399, "{report}");
    let verdicts = report.verdicts.into_iter();
    let differ = verdicts.filter(|(_, verdict)| matches!(verdict, Verdict::Differs(_)));
    let differ = differ.map(|(name, _)| name);
    assert_eq!(differ.collect::<BTreeSet<_>>(), answered());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_changed_leaf_of_an_expectation_is_noticed() {
    let mutated = Mode::Mutate { seed: 1 };
    let report = run(&[parity("cases")], mutated).await.unwrap();
    let survivors: Vec<_> = report.survivors().collect();
    assert_eq!(survivors, [""; 0]);
    assert!(report.failed() >= 456);
}
