//! The cases of `tests/parity` answer as Python does, or as decided; and the comparison notices
//! when a single leaf of what is expected changes.

use std::path::{Path, PathBuf};

use langgraph_tests::parity::{Mode, Verdict, run};

fn cases() -> Vec<PathBuf> {
    vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("parity/cases")]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cases_answer_as_python_does_or_as_decided() {
    let report = run(&cases(), Mode::Check).await.unwrap();
    assert_eq!(report.failed(), 0, "{report}");
    assert!(report.passed() >= 380, "{report}");
    for (name, verdict) in &report.verdicts {
        if let Verdict::Differs(_) = verdict {
            let ours = format!("parity/ours/{name}.json");
            let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(&ours);
            assert!(path.exists(), "our answers are missing: {ours}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_changed_leaf_of_an_expectation_is_noticed() {
    for seed in [1, 2] {
        let report = run(&cases(), Mode::Mutate { seed }).await.unwrap();
        let survivors: Vec<_> = report.survivors().collect();
        assert_eq!(survivors, [""; 0], "seed {seed}");
        assert!(report.failed() >= 380);
    }
}
