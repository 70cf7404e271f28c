//! The cases of `tests/parity` answer as Python does, or as decided; and the comparison notices
//! when a single leaf of what is expected changes.
#![allow(clippy::unwrap_used)] // in what several tests share

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use langgraph_tests::open_saver;
use langgraph_tests::parity::{Mode, Report, Verdict, Workplace, run};
use tokio::sync::OnceCell;

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

/// The answers with a state in memory, and with one kept as bytes. Several tests compare with them.
static VALUES: OnceCell<Report> = OnceCell::const_new();
static BYTES: OnceCell<Report> = OnceCell::const_new();

async fn values() -> &'static Report {
    let run = || at("memory", Mode::Check, &Workplace::Parallel);
    VALUES.get_or_init(run).await
}

async fn bytes() -> &'static Report {
    let run = || at("bytes", Mode::Check, &Workplace::Parallel);
    BYTES.get_or_init(run).await
}

async fn at(saver: &str, mode: Mode, workplace: &Workplace) -> Report {
    let opened = open_saver(saver).await.unwrap();
    let cases = [parity("cases")];
    run(&cases, mode, &opened.saver, workplace, "")
        .await
        .unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cases_answer_alike_when_threads_are_kept_as_bytes() {
    let (values, bytes) = (values().await, bytes().await);
    assert_eq!(bytes.failed(), 0, "{bytes}");
    assert_eq!(bytes.verdicts, values.verdicts);
}

/// Compares the cases at a workplace with those whose tasks run in parallel.
async fn compare_tasks_at(workplace: &Workplace) {
    let report = at("bytes", Mode::Check, workplace).await;
    assert_eq!(report.failed(), 0, "{workplace:?}: {report}");
    assert_eq!(report.verdicts, bytes().await.verdicts);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cases_answer_alike_when_their_tasks_run_inline() {
    compare_tasks_at(&Workplace::Inline).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cases_answer_alike_when_their_tasks_run_over_a_wire() {
    compare_tasks_at(&Workplace::Loopback).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cases_answer_as_python_does_or_as_decided() {
    let report = values().await;
    assert_eq!(report.failed(), 0, "{report}");
    assert!(report.passed() >= 493, "{report}");
    let skipped = report
        .verdicts
        .iter()
        .filter_map(|(_, verdict)| match verdict {
            Verdict::Skip(why) => Some(why.as_str()),
            _ => None,
        });
    assert_eq!(
        skipped.collect::<BTreeSet<_>>(),
        BTreeSet::from(["python-only"])
    );
    let verdicts = report.verdicts.iter();
    let differ = verdicts.filter(|(_, verdict)| matches!(verdict, Verdict::Differs(_)));
    let differ = differ.map(|(name, _)| name.clone());
    assert_eq!(differ.collect::<BTreeSet<_>>(), answered());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_changed_leaf_of_an_expectation_is_noticed() {
    let report = at("memory", Mode::Mutate { seed: 1 }, &Workplace::Parallel).await;
    let survivors: Vec<_> = report.survivors().collect();
    assert_eq!(survivors, [""; 0]);
    assert!(report.failed() >= 537);
}
