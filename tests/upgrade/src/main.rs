//! Keeps what a release stores, in a folder with the name of the release; `tests/upgrade/keep.sh` starts it.

use std::path::Path;
use std::process::ExitCode;

use langgraph_upgrade::{Fallible, Storage, keep, serve};

#[tokio::main]
async fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let words: Vec<_> = arguments.iter().map(String::as_str).collect();
    match act(&words).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

async fn act(words: &[&str]) -> Fallible<()> {
    match words {
        ["keep", folder] => keep(Path::new(folder)).await,
        ["serve", storage, program] => serve(&Storage::parse(storage)?, program).await,
        _ => Err("usage: langgraph-upgrade keep FOLDER".into()),
    }
}
