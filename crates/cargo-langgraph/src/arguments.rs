//! The arguments of the command.

use std::path::PathBuf;

use cargo_langgraph::new;
use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgAction, ArgGroup, Command, value_parser};

/// Cargo calls `cargo-langgraph langgraph fmt` for `cargo langgraph fmt`.
pub(super) fn command() -> Command {
    Command::new("cargo")
        .bin_name("cargo")
        .subcommand_required(true)
        .subcommand(
            Command::new("langgraph")
                .about("Commands for programs with graphs")
                .version(env!("CARGO_PKG_VERSION"))
                .subcommand_required(true)
                .arg_required_else_help(true)
                .subcommand(check_command())
                .subcommand(dev_command())
                .subcommand(draw_command())
                .subcommand(fmt_command())
                .subcommand(new_command())
                .subcommand(test_command())
                .subcommand(types_command()),
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

/// Adds the arguments that choose a package.
fn with_package(command: Command) -> Command {
    command
        .arg(
            Arg::new("package").long("package").short('p').help(
                "The package whose graphs are meant [default: the only one that names graphs]",
            ),
        )
        .arg(
            Arg::new("features")
                .long("features")
                .short('F')
                .value_delimiter(',')
                .action(ArgAction::Append)
                .help("Features of the package to turn on"),
        )
}

/// Adds the arguments of a command that writes a text.
fn with_output(command: Command) -> Command {
    command
        .arg(
            Arg::new("out")
                .long("out")
                .short('o')
                .value_name("file")
                .value_parser(value_parser!(PathBuf))
                .help("Write to this file instead of the terminal"),
        )
        .arg(
            Arg::new("check")
                .long("check")
                .requires("out")
                .action(ArgAction::SetTrue)
                .help("Change nothing; fail if the file is not up to date"),
        )
}

fn check_command() -> Command {
    with_package(Command::new("check").about(
        "Checks the graphs of a package: lints, `graph.lock`, and the threads of a database",
    ))
    .arg(
        Arg::new("lock")
            .long("lock")
            .value_name("file")
            .value_parser(value_parser!(PathBuf))
            .help(
                "The lock; LANGGRAPH_BLESS=1 writes it [default: graph.lock of the package, if it exists]",
            ),
    )
    .arg(
        Arg::new("file")
            .long("file")
            .value_name("database")
            .value_parser(value_parser!(PathBuf))
            .help("A SQLite file: fail if a thread in it cannot go on with the graphs of today"),
    )
}

fn dev_command() -> Command {
    with_package(
        Command::new("dev").about(
            "Serves the graphs of a package with the Studio, and follows changes of its code",
        ),
    )
    .arg(
        Arg::new("port")
            .long("port")
            .value_parser(value_parser!(u16))
            .help("The port at 127.0.0.1 [default: 2024]"),
    )
    .arg(
        Arg::new("file")
            .long("file")
            .value_parser(value_parser!(PathBuf))
            .help("The SQLite file of the threads [default: .langgraph/threads.db]"),
    )
}

fn draw_command() -> Command {
    with_output(with_package(
        Command::new("draw").about("Prints pictures of the graphs of a package"),
    ))
    .arg(Arg::new("graph").help("The graph to draw [default: all]"))
    .arg(
        Arg::new("format")
            .long("format")
            .default_value("terminal")
            .value_parser(["terminal", "mermaid", "dot"])
            .help("The form of the picture"),
    )
    .arg(
        Arg::new("xray")
            .long("xray")
            .action(ArgAction::SetTrue)
            .help("Open subgraphs"),
    )
}

fn test_command() -> Command {
    let several = |name: &'static str, value: &'static str, help: &'static str| {
        Arg::new(name)
            .long(name)
            .value_name(value)
            .value_delimiter(',')
            .action(ArgAction::Append)
            .help(help)
    };
    with_package(Command::new("test").about(
        "Runs stored threads again on the graphs of today, and fails where one goes another way",
    ))
    .arg(
        Arg::new("thread")
            .long("thread")
            .value_name("id")
            .help("The thread [default: all]"),
    )
    .arg(
        Arg::new("graph")
            .long("graph")
            .value_name("name")
            .help("Only threads of this graph"),
    )
    .arg(
        Arg::new("file")
            .long("file")
            .value_name("database")
            .value_parser(value_parser!(PathBuf))
            .help("The SQLite file, which is not changed [default: .langgraph/threads.db]"),
    )
    .arg(several(
        "keep",
        "node",
        "Do not run this node: what it wrote then counts",
    ))
    .arg(several(
        "ignore",
        "field",
        "Do not compare this field of states",
    ))
    .arg(several(
        "run-tool",
        "tool",
        "Run this tool, instead of taking its stored answers",
    ))
}

fn types_command() -> Command {
    with_output(with_package(Command::new("types").about(
        "Prints the types of the graphs of a package, for clients in other languages",
    )))
    .arg(
        Arg::new("ts")
            .long("ts")
            .action(ArgAction::SetTrue)
            .help("TypeScript, for `@langchain/langgraph-sdk` and its hooks"),
    )
    .arg(
        Arg::new("py")
            .long("py")
            .action(ArgAction::SetTrue)
            .help("Python: typed dictionaries"),
    )
    .group(ArgGroup::new("language").args(["ts", "py"]).required(true))
}
