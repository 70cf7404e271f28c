//! `cargo langgraph`: commands for programs with graphs.

use std::path::PathBuf;
use std::process::ExitCode;

use cargo_langgraph::fmt;
use cargo_langgraph::new::{self, Library};
use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgAction, ArgGroup, ArgMatches, Command, value_parser};

fn main() -> ExitCode {
    let matches = command().get_matches();
    let Some(("langgraph", matches)) = matches.subcommand() else {
        return ExitCode::FAILURE;
    };
    let result = match matches.subcommand() {
        Some(("fmt", matches)) => format(matches),
        Some(("new", matches)) => create(matches),
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
                .subcommand(fmt_command())
                .subcommand(new_command()),
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

fn new_command() -> Command {
    Command::new("new")
        .about("Makes a package that builds, tests and runs without a key and without a network")
        .arg(
            Arg::new("folder")
                .required(true)
                .value_parser(value_parser!(PathBuf))
                .help("The new folder, whose name is that of the package"),
        )
        .arg(
            Arg::new("template")
                .long("template")
                .default_value("agent")
                .value_parser(PossibleValuesParser::new(new::templates()))
                .help("What to begin with"),
        )
        .arg(
            Arg::new("path")
                .long("path")
                .value_parser(value_parser!(PathBuf))
                .help("Depend on langgraph in this folder, which holds its repository"),
        )
        .arg(
            Arg::new("git")
                .long("git")
                .value_name("url")
                .help("Depend on langgraph in this git repository"),
        )
        .group(
            ArgGroup::new("library")
                .args(["path", "git"])
                .required(true),
        )
}

fn create(matches: &ArgMatches) -> Result<ExitCode, String> {
    let path = matches
        .get_one::<PathBuf>("path")
        .cloned()
        .map(Library::Path);
    let git = || matches.get_one::<String>("git").cloned().map(Library::Git);
    let (Some(folder), Some(template), Some(library)) = (
        matches.get_one::<PathBuf>("folder"),
        matches.get_one::<String>("template"),
        path.or_else(git),
    ) else {
        return Ok(ExitCode::FAILURE);
    };
    new::create(folder, template, &library).map_err(|error| error.to_string())?;
    println!(
        "created {}: cargo test and cargo run work in it",
        folder.display()
    );
    Ok(ExitCode::SUCCESS)
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
