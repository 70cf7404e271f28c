//! Prints the table at the end, and writes it to a file.

use std::fmt::Write as _;
use std::path::Path;

/// The time of one workload: the fastest of its samples, in seconds.
///
/// The fastest and not the mean, because it is repeatable on a busy machine.
pub(crate) struct Row {
    pub(crate) name: &'static str,
    pub(crate) size: usize,
    pub(crate) langgraph: f64,
    pub(crate) baseline: f64,
    pub(crate) target: Option<f64>,
}

impl Row {
    fn ratio(&self) -> f64 {
        self.langgraph / self.baseline
    }

    fn verdict(&self) -> &'static str {
        match self.target {
            None => "",
            Some(target) if self.ratio() <= target => "met",
            Some(_) => "missed",
        }
    }
}

/// Prints the rows, and writes them to a file of that name.
pub(crate) fn show(rows: &[Row], name: &str) {
    let mut table = format!(
        "{:<30} {:>7} {:>11} {:>11} {:>7} {:>7}\n",
        "workload", "size", "langgraph", "baseline", "ratio", "target"
    );
    let mut file = "workload\tsize\tlanggraph\tbaseline\tratio\ttarget\tverdict\n".to_owned();
    for row in rows {
        let target = row
            .target
            .map_or(String::new(), |target| target.to_string());
        let _ = writeln!(
            table,
            "{:<30} {:>7} {:>11} {:>11} {:>6.2}x {:>7} {}",
            row.name,
            row.size,
            time(row.langgraph),
            time(row.baseline),
            row.ratio(),
            target,
            row.verdict()
        );
        let _ = writeln!(
            file,
            "{}\t{}\t{:e}\t{:e}\t{:.3}\t{}\t{}",
            row.name,
            row.size,
            row.langgraph,
            row.baseline,
            row.ratio(),
            target,
            row.verdict()
        );
    }
    println!("\n{table}");
    let path = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join(name)
        .with_extension("tsv");
    match std::fs::write(&path, file) {
        Ok(()) => println!("the same in {}", path.display()),
        Err(error) => eprintln!("{}: {error}", path.display()),
    }
}

fn time(seconds: f64) -> String {
    match seconds {
        s if s < 1e-6 => format!("{:.0} ns", s * 1e9),
        s if s < 1e-3 => format!("{:.2} µs", s * 1e6),
        s if s < 1.0 => format!("{:.2} ms", s * 1e3),
        s => format!("{s:.2} s"),
    }
}
