//! `cargo langgraph`: commands for programs with graphs.

use std::path::PathBuf;
use std::process::ExitCode;

use cargo_langgraph::fmt;
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};

fn main() -> ExitCode {
    let matches = command().get_matches();
    let Some(("langgraph", matches)) = matches.subcommand() else {
        return ExitCode::FAILURE;
    };
    let result = match matches.subcommand() {
        Some(("fmt", matches)) => format(matches),
        _ => return ExitCode::FAILURE,
    };
    result.unwrap_or_else(|message| {
        eprintln!("error: {message}");
        ExitCode::FAILURE
    })
}

/// Cargo calls `cargo-langgraph langgraph fmt` for `cargo langgraph fmt`.
fn command() -> Command {
    Command::new("cargo")
        .bin_name("cargo")
        .subcommand_required(true)
        .subcommand(
            Command::new("langgraph")
                .about("Commands for programs with graphs")
                .version(env!("CARGO_PKG_VERSION"))
                .subcommand_required(true)
                .arg_required_else_help(true)
                .subcommand(fmt_command()),
        )
}

fn fmt_command() -> Command {
    Command::new("fmt")
        .about("Formats the body of each `graph!`, which rustfmt leaves as it is")
        .arg(
            Arg::new("check")
                .long("check")
                .action(ArgAction::SetTrue)
                .help("Change nothing; fail if a graph is not formatted"),
        )
        .arg(
            Arg::new("path")
                .num_args(0..)
                .value_parser(value_parser!(PathBuf))
                .help("Files and folders [default: the current folder]"),
        )
}

fn format(matches: &ArgMatches) -> Result<ExitCode, String> {
    let check = matches.get_flag("check");
    let mut paths: Vec<PathBuf> = matches
        .get_many("path")
        .map(|paths| paths.cloned().collect())
        .unwrap_or_default();
    if paths.is_empty() {
        paths.push(PathBuf::from("."));
    }
    let report = fmt::format_paths(&paths, check).map_err(|error| error.to_string())?;
    for note in &report.notes {
        eprintln!("{note}");
    }
    for graph in &report.changed {
        println!("{graph}");
    }
    Ok(if check && !report.changed.is_empty() {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    })
}
