//! Runs parity cases: `parity [--saver NAME] [--workplace NAME] [--feature NAME] [--mutate]
//! [--seed N] [--bless-ours] DIR…`; with a feature, only the cases that need it.
//!
//! The savers: `memory` (unless said otherwise) and `bytes`; with `--features sqlite` also `sqlite`,
//! with `--features postgres` also `postgres`, whose server `DATABASE_URL` names.
//!
//! The workplaces, where tasks run: `parallel` (unless said otherwise), `inline`, `neighbour`; with
//! `--features nats` also `nats`, and with `--features restate` also `restate`, where threads run too.

use std::path::PathBuf;
use std::process::ExitCode;

use langgraph_tests::parity::{Mode, Report, Workplace, run};
use langgraph_tests::{Opened, open_saver};

#[tokio::main]
async fn main() -> ExitCode {
    let arguments = match arguments(std::env::args().skip(1)) {
        Ok(arguments) => arguments,
        Err(problem) => {
            eprintln!(
                "{problem}\nusage: parity [--saver NAME] [--workplace NAME] [--feature NAME] [--mutate] [--seed N] [--bless-ours] DIR…"
            );
            return ExitCode::from(2);
        }
    };
    let report = match cases(&arguments).await {
        Ok(report) => report,
        Err(problem) => {
            eprintln!("{problem}");
            return ExitCode::from(2);
        }
    };
    print!("{report}");
    let fine = match arguments.mode {
        Mode::Mutate { .. } => report.survivors().next().is_none(),
        Mode::Check | Mode::Bless => report.failed() == 0,
    };
    if fine {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

async fn cases(given: &Arguments) -> Result<Report, String> {
    let Opened { saver, .. } = &open_saver(&given.saver).await?;
    let workplace = Workplace::open(&given.workplace).await?;
    let Arguments {
        directories,
        mode,
        feature,
        ..
    } = given;
    run(directories, *mode, saver, &workplace, feature).await
}

struct Arguments {
    directories: Vec<PathBuf>,
    mode: Mode,
    saver: String,
    workplace: String,
    feature: String,
}

fn arguments(given: impl Iterator<Item = String>) -> Result<Arguments, String> {
    let mut directories = Vec::new();
    let mut saver = "memory".to_owned();
    let mut workplace = "parallel".to_owned();
    let mut feature = String::new();
    let mut mode = Mode::Check;
    let mut seed = None;
    let mut given = given.peekable();
    while let Some(argument) = given.next() {
        match argument.as_str() {
            "--saver" => saver = given.next().ok_or("`--saver` needs a name")?,
            "--workplace" => workplace = given.next().ok_or("`--workplace` needs a name")?,
            "--feature" => feature = given.next().ok_or("`--feature` needs a name")?,
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
    Ok(Arguments {
        directories,
        mode,
        saver,
        workplace,
        feature,
    })
}
