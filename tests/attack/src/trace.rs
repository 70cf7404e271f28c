//! What a process did, written down so that it survives the process.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

/// Where a process is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Phase {
    Node,
    Put,
    Routing,
    Between,
    /// In the midst of a streamed answer of a model.
    Answer,
}

impl Phase {
    pub(crate) const ALL: [Self; 5] = [
        Self::Node,
        Self::Put,
        Self::Routing,
        Self::Between,
        Self::Answer,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Node => "node",
            Self::Put => "put",
            Self::Routing => "routing",
            Self::Between => "between",
            Self::Answer => "answer",
        }
    }

    pub(crate) fn of(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|phase| phase.name() == name)
    }
}

/// Writes down what happens, line by line.
#[derive(Debug, Default)]
pub(crate) struct Trace {
    /// None without a reader.
    file: Option<File>,
    path: Option<PathBuf>,
    /// Where the process is to be killed: a phase, and how often it has to be entered before.
    aim: Mutex<Option<(Phase, usize)>>,
}

impl Trace {
    pub(crate) fn to(path: &Path, aim: Option<(Phase, usize)>) -> Self {
        let file = OpenOptions::new().append(true).create(true).open(path);
        Self {
            file: Some(file.expect("the trace opens")),
            path: Some(path.to_owned()),
            aim: Mutex::new(aim),
        }
    }

    /// One line, in one write.
    pub(crate) fn line(&self, line: &str) {
        if let Some(mut file) = self.file.as_ref() {
            let line = format!("{line}\n");
            file.write_all(line.as_bytes())
                .expect("the trace is written");
        }
    }

    /// Returns the rest of the last line that begins so, also of processes before this one.
    pub(crate) fn last(&self, begin: &str) -> Option<String> {
        let written = std::fs::read_to_string(self.path.as_ref()?).expect("the trace is read");
        let mut lines = written.lines().rev();
        lines.find_map(|line| line.strip_prefix(begin).map(str::to_owned))
    }

    /// Returns how long to stay in a phase that begins now. In the phase of the kill, it notifies the
    /// killer.
    fn stay(&self, phase: Phase) -> Option<Duration> {
        self.file.as_ref()?;
        let mut aim = self.aim.lock().expect("no holder of the lock panics");
        match aim.as_mut() {
            Some((at, left)) if *at == phase && *left == 0 => {
                *aim = None;
                println!("here");
                Some(Duration::from_micros(fastrand::u64(..6_000)))
            }
            Some((at, left)) if *at == phase => {
                *left -= 1;
                None
            }
            _ => fastrand::u8(..8).eq(&0).then(|| Duration::from_micros(500)),
        }
    }

    pub(crate) async fn within<T>(&self, phase: Phase, work: impl Future<Output = T>) -> T {
        self.line(&format!("+{}", phase.name()));
        // Before the work, or behind it.
        let before = fastrand::bool();
        if before {
            self.pause(phase).await;
        }
        let done = work.await;
        if !before {
            self.pause(phase).await;
        }
        self.line(&format!("-{}", phase.name()));
        done
    }

    async fn pause(&self, phase: Phase) {
        if let Some(stay) = self.stay(phase) {
            tokio::time::sleep(stay).await;
        }
    }

    /// As [`within`](Self::within), for what does not wait.
    pub(crate) fn routing<T>(&self, work: impl FnOnce() -> T) -> T {
        self.line("+routing");
        if let Some(stay) = self.stay(Phase::Routing) {
            std::thread::sleep(stay);
        }
        let done = work();
        self.line("-routing");
        done
    }
}

/// Where a process was when its trace ended; none before it began and after its end.
pub(crate) fn phase_at_the_end(trace: &str) -> Option<Phase> {
    let mut active = [0_i32; 4];
    let mut begun = false;
    for line in trace.lines() {
        match line {
            "begin" => (begun, active) = (true, [0; 4]),
            "end" => begun = false,
            "+put" => active[0] += 1,
            "-put" => active[0] -= 1,
            "+routing" => active[1] += 1,
            "-routing" => active[1] -= 1,
            "+node" => active[2] += 1,
            "-node" => active[2] -= 1,
            "+answer" => active[3] += 1,
            "-answer" => active[3] -= 1,
            _ => {}
        }
    }
    let phases = [Phase::Put, Phase::Routing, Phase::Node, Phase::Answer];
    let inside = phases.into_iter().zip(active);
    let inside = inside
        .filter(|(_, count)| *count > 0)
        .map(|(phase, _)| phase);
    begun.then(|| inside.into_iter().next().unwrap_or(Phase::Between))
}
