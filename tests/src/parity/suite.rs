//! Running many cases.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use fastrand::Rng;
use futures_util::{StreamExt as _, stream};
use langgraph::checkpoint::Checkpointer;
use serde_json::Value;

use super::action::answer;
use super::case::{Case, Expectation, Subject};
use super::compare::compare;
use super::mutate::mutate;
use super::workplace::Workplace;
use super::{functional, ours};

/// How many cases run at the same time.
const AT_ONCE: usize = 32;

/// The time limit of a case.
const TOO_LONG: Duration = Duration::from_secs(60);

/// What to do with the cases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Each is compared with its expectation.
    Check,
    /// Each is compared with an expectation in which one leaf was changed; all must fail.
    Mutate {
        /// Picks the leaves.
        seed: u64,
    },
    /// Our own answers are written where they may differ.
    Bless,
}

/// The verdict on a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It answers as Python does.
    Ok,
    /// It answers differently: the difference.
    Fail(String),
    /// It answers differently because of these decisions.
    Differs(Vec<String>),
    /// It needs a feature that only Python has.
    Skip(String),
}

/// The verdicts on all cases, in the order of their paths.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// The names of the cases, and what became of them.
    pub verdicts: Vec<(String, Verdict)>,
    /// How many of them spread tasks over the items of a list.
    pub fan_outs: usize,
    /// How many runs were calls of threads on Restate.
    #[cfg(feature = "restate")]
    pub on_restate: usize,
}

impl Report {
    fn count(&self, is: impl Fn(&Verdict) -> bool) -> usize {
        self.verdicts.iter().filter(|(_, v)| is(v)).count()
    }

    /// How many cases failed.
    pub fn failed(&self) -> usize {
        self.count(|verdict| matches!(verdict, Verdict::Fail(_)))
    }

    /// How many cases answered as expected.
    pub fn passed(&self) -> usize {
        self.count(|verdict| *verdict == Verdict::Ok)
    }

    /// The cases that answered as expected, or as decided.
    pub fn survivors(&self) -> impl Iterator<Item = &str> {
        let survived = |verdict: &Verdict| matches!(verdict, Verdict::Ok | Verdict::Differs(_));
        let verdicts = self.verdicts.iter();
        verdicts
            .filter(move |(_, verdict)| survived(verdict))
            .map(|(name, _)| name.as_str())
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, verdict) in &self.verdicts {
            match verdict {
                Verdict::Ok => writeln!(f, "ok {name}")?,
                Verdict::Fail(what) => writeln!(f, "FAIL {name}: {what}")?,
                Verdict::Differs(tags) => writeln!(f, "differs {name}: {}", tags.join(", "))?,
                Verdict::Skip(feature) => writeln!(f, "skip {name}: {feature}")?,
            }
        }
        let differ = self.count(|verdict| matches!(verdict, Verdict::Differs(_)));
        let skipped = self.count(|verdict| matches!(verdict, Verdict::Skip(_)));
        writeln!(
            f,
            "{} passed, {} failed, {differ} differ, {skipped} skipped; {} of them with fan-outs",
            self.passed(),
            self.failed(),
            self.fan_outs
        )?;
        #[cfg(feature = "restate")]
        if self.on_restate > 0 {
            writeln!(
                f,
                "{} runs were calls of threads on Restate",
                self.on_restate
            )?;
        }
        Ok(())
    }
}

/// Runs every case under `directories`, with its threads in `saver` and its tasks at `workplace`. If
/// `feature` is not empty, only the cases that need it run.
///
/// # Errors
///
/// When a directory cannot be read, or holds no case.
pub async fn run(
    directories: &[PathBuf],
    mode: Mode,
    saver: &Arc<dyn Checkpointer>,
    workplace: &Workplace,
    feature: &str,
) -> Result<Report, String> {
    let mut paths = Vec::new();
    for directory in directories {
        let before = paths.len();
        collect(directory, &mut paths)?;
        if paths.len() == before {
            return Err(format!("{}: no cases", directory.display()));
        }
    }
    let mut report = Report::default();
    let mut cases = Vec::new();
    for path in &paths {
        let case = Case::read(path);
        if let Ok(case) = &case {
            if !feature.is_empty() && !case.needs(feature) {
                continue;
            }
            report.fan_outs += usize::from(case.needs("send"));
        }
        cases.push(async move {
            match case {
                Ok(case) => {
                    let name = case.name.clone();
                    (name, verdict(path, case, mode, saver, workplace).await)
                }
                Err(error) => (path.display().to_string(), Verdict::Fail(error)),
            }
        });
    }
    // Some cases do little but wait.
    let cases = stream::iter(cases).buffered(AT_ONCE);
    report.verdicts = cases.collect().await;
    #[cfg(feature = "restate")]
    {
        report.on_restate = super::action::DRIVEN.load(std::sync::atomic::Ordering::Relaxed);
    }
    Ok(report)
}

fn collect(path: &Path, found: &mut Vec<PathBuf>) -> Result<(), String> {
    if path.is_file() {
        found.push(path.to_owned());
        return Ok(());
    }
    let entries = std::fs::read_dir(path).map_err(|e| format!("{}: {e}", path.display()))?;
    let mut entries: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    entries.sort();
    for entry in entries {
        if entry.is_dir() || entry.extension().is_some_and(|ending| ending == "json") {
            collect(&entry, found)?;
        }
    }
    Ok(())
}

async fn verdict(
    path: &Path,
    case: Case,
    mode: Mode,
    saver: &Arc<dyn Checkpointer>,
    workplace: &Workplace,
) -> Verdict {
    if case.differs.iter().any(|tag| tag == ours::PYTHON_ONLY) {
        return Verdict::Skip(ours::PYTHON_ONLY.to_owned());
    }
    let case = Arc::new(case);
    // A separate task, so that a panic counts for the case.
    let running = tokio::spawn({
        let (case, saver) = (Arc::clone(&case), Arc::clone(saver));
        let site = Arc::new(workplace.site());
        async move {
            let answers = async {
                match &case.subject {
                    Subject::Graph(graph) => answer(&case, graph, saver, site).await,
                    Subject::Function(function) => {
                        functional::answer(&case.name, function, &case.runs, &saver, &site).await
                    }
                }
            };
            tokio::time::timeout(TOO_LONG, answers).await
        }
    });
    let answers = match running.await {
        Ok(Ok(Ok(answers))) => answers,
        Ok(Ok(Err(why))) => return Verdict::Fail(why),
        Ok(Err(_)) => return Verdict::Fail(format!("took longer than {TOO_LONG:?}")),
        Err(error) => return Verdict::Fail(error.to_string()),
    };
    judge(path, &case, &answers, mode).unwrap_or_else(Verdict::Fail)
}

fn judge(path: &Path, case: &Case, answers: &Value, mode: Mode) -> Result<Verdict, String> {
    let expectation = Expectation::read(path)?.expect;
    let tagged = !case.differs.is_empty();
    let ours = if tagged {
        ours::read(&case.name)?
    } else {
        None
    };
    let decided = Verdict::Differs(case.differs.clone());
    match mode {
        Mode::Check => match compare(&expectation, answers) {
            Ok(()) => Ok(Verdict::Ok),
            Err(what) if !tagged => Err(what),
            Err(_) => match ours {
                Some(ours) => compare(&ours, answers).map(|()| decided),
                None => Ok(decided),
            },
        },
        Mode::Mutate { seed } => {
            let mut rng = Rng::with_seed(seed ^ hash(&case.name));
            let mutated = mutate(ours.as_ref().unwrap_or(&expectation), &mut rng);
            compare(&mutated, answers).map(|()| Verdict::Ok)
        }
        Mode::Bless => match (compare(&expectation, answers), ours) {
            (Ok(()), _) => ours::forget(&case.name).map(|()| Verdict::Ok),
            (Err(what), _) if !tagged => Err(what),
            (Err(_), Some(ours)) if compare(&ours, answers).is_ok() => Ok(decided),
            (Err(_), _) => ours::bless(&case.name, &case.differs, answers).map(|()| decided),
        },
    }
}

/// FNV-1a: the same on every machine.
fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
