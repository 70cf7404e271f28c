//! Runs parity cases: `parity [--mutate] [--seed N] [--bless-ours] DIR…`.

use std::path::PathBuf;
use std::process::ExitCode;

use langgraph_tests::parity::{Mode, run};

#[tokio::main]
async fn main() -> ExitCode {
    let (directories, mode) = match arguments(std::env::args().skip(1)) {
        Ok(arguments) => arguments,
        Err(problem) => {
            eprintln!("{problem}\nusage: parity [--mutate] [--seed N] [--bless-ours] DIR…");
            return ExitCode::from(2);
        }
    };
    let report = match run(&directories, mode).await {
        Ok(report) => report,
        Err(problem) => {
            eprintln!("{problem}");
            return ExitCode::from(2);
        }
    };
    print!("{report}");
    let fine = match mode {
        Mode::Mutate { .. } => report.survivors().next().is_none(),
        Mode::Check | Mode::Bless => report.failed() == 0,
    };
    if fine {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

fn arguments(given: impl Iterator<Item = String>) -> Result<(Vec<PathBuf>, Mode), String> {
    let mut directories = Vec::new();
    let mut mode = Mode::Check;
    let mut seed = None;
    let mut given = given.peekable();
    while let Some(argument) = given.next() {
        match argument.as_str() {
            "--mutate" => mode = Mode::Mutate { seed: 0 },
            "--bless-ours" => mode = Mode::Bless,
            "--seed" => {
                let number = given.next().and_then(|number| number.parse().ok());
                seed = Some(number.ok_or("`--seed` needs a number")?);
            }
            option if option.starts_with("--") => return Err(format!("no option `{option}`")),
            directory => directories.push(PathBuf::from(directory)),
        }
    }
    if directories.is_empty() {
        return Err("no directory of cases".to_owned());
    }
    match (&mut mode, seed) {
        (Mode::Mutate { seed }, Some(given)) => *seed = given,
        (_, Some(_)) => return Err("`--seed` goes with `--mutate`".to_owned()),
        _ => {}
    }
    Ok((directories, mode))
}
