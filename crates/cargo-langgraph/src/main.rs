//! `cargo langgraph`: commands for programs with graphs.

mod arguments;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::{env, fs, io};

use cargo_langgraph::driver::Driver;
use cargo_langgraph::new::{self, Library};
use cargo_langgraph::project::Project;
use cargo_langgraph::{dev, fmt, output};
use clap::ArgMatches;

fn main() -> ExitCode {
    let matches = arguments::command().get_matches();
    let Some(("langgraph", matches)) = matches.subcommand() else {
        return ExitCode::FAILURE;
    };
    let result = match matches.subcommand() {
        Some(("check", matches)) => check(matches),
        Some(("dev", matches)) => serve(matches),
        Some(("draw", matches)) => draw(matches),
        Some(("fmt", matches)) => format(matches),
        Some(("new", matches)) => create(matches),
        Some(("test", matches)) => test(matches),
        Some(("types", matches)) => types(matches),
        _ => return ExitCode::FAILURE,
    };
    result.unwrap_or_else(|message| {
        eprintln!("error: {message}");
        ExitCode::FAILURE
    })
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
    let workspace = new::create(folder, template, &library).map_err(|error| error.to_string())?;
    print(&format!(
        "created {}: cargo test and cargo run work in it\n",
        folder.display()
    ))?;
    if let Some(manifest) = workspace {
        print(&format!(
            "for a smaller debug binary, add `[profile.dev]` with `split-debuginfo = \"unpacked\"`, and \
             `[profile.dev.package.\"*\"]` with `debug = \"line-tables-only\"`, to {}\n",
            manifest.display()
        ))?;
    }
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
        print(&format!("{graph}\n"))?;
    }
    Ok(if check && !report.changed.is_empty() {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    })
}

/// Returns the package that the arguments mean, and the features that they turn on.
fn project(matches: &ArgMatches) -> Result<(Project, Vec<String>), String> {
    let folder = env::current_dir().map_err(|error| error.to_string())?;
    let package = matches.get_one::<String>("package");
    let project = Project::find(&folder, package.map(String::as_str));
    let features = matches.get_many("features").into_iter().flatten();
    Ok((
        project.map_err(|error| error.to_string())?,
        features.cloned().collect(),
    ))
}

/// Builds the program of the package.
fn program(project: &Project, features: &[String]) -> Result<Command, String> {
    let built = Driver::write(project, features)
        .and_then(|driver| driver.build())
        .map_err(|error| error.to_string())?;
    Ok(built.command())
}

/// Runs the program, and names it in an error.
fn named<T>(
    program: &mut Command,
    run: impl FnOnce(&mut Command) -> io::Result<T>,
) -> Result<T, String> {
    let failed = run(program);
    failed.map_err(|error| format!("{}: {error}", program.get_program().display()))
}

/// Builds the program of the package, and returns what it prints for these arguments; `None` if it has said
/// what is wrong.
fn printed(matches: &ArgMatches, arguments: &[&str]) -> Result<Option<Vec<u8>>, String> {
    let (project, features) = project(matches)?;
    let mut program = program(&project, &features)?;
    program.args(arguments).stderr(Stdio::inherit());
    let output = named(&mut program, Command::output)?;
    Ok(output.status.success().then_some(output.stdout))
}

fn check(matches: &ArgMatches) -> Result<ExitCode, String> {
    let (project, features) = project(matches)?;
    let lock = matches.get_one::<PathBuf>("lock").cloned();
    let mut program = program(&project, &features)?;
    program
        .arg("check")
        .arg(lock.unwrap_or_else(|| project.folder.join("graph.lock")))
        .args(matches.get_one::<PathBuf>("file"));
    status(&mut program)
}

/// Runs stored threads again.
fn test(matches: &ArgMatches) -> Result<ExitCode, String> {
    let (project, features) = project(matches)?;
    let file = matches.get_one::<PathBuf>("file").cloned();
    let mut program = program(&project, &features)?;
    program
        .arg("test")
        .arg(file.unwrap_or_else(|| dev::Options::of(&project).file));
    for name in ["graph", "thread", "keep", "ignore", "run-tool"] {
        for value in matches.get_many::<String>(name).into_iter().flatten() {
            program.args([name, value]);
        }
    }
    status(&mut program)
}

/// Runs the program, and returns whether it succeeds: it has said what is wrong.
fn status(program: &mut Command) -> Result<ExitCode, String> {
    let status = named(program, Command::status)?;
    Ok(if status.success() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

fn serve(matches: &ArgMatches) -> Result<ExitCode, String> {
    let (project, features) = project(matches)?;
    let mut options = dev::Options::of(&project);
    options.features = features;
    if let Some(&port) = matches.get_one("port") {
        options.port = port;
    }
    if let Some(file) = matches.get_one::<PathBuf>("file") {
        options.file.clone_from(file);
    }
    dev::serve(&project, &options).map_err(|error| error.to_string())?;
    Ok(ExitCode::SUCCESS)
}

fn draw(matches: &ArgMatches) -> Result<ExitCode, String> {
    let format = matches.get_one::<String>("format");
    let depth = if matches.get_flag("xray") {
        usize::MAX.to_string()
    } else {
        "0".to_owned()
    };
    let mut arguments = vec!["draw", format.map_or("terminal", String::as_str), &depth];
    arguments.extend(matches.get_one::<String>("graph").map(String::as_str));
    let text = printed(matches, &arguments)?;
    deliver(text, matches)
}

fn types(matches: &ArgMatches) -> Result<ExitCode, String> {
    let language = if matches.get_flag("py") { "py" } else { "ts" };
    let text = printed(matches, &["types", language])?;
    deliver(text, matches)
}

fn print(text: &str) -> Result<(), String> {
    output::print(text).map_err(|error| format!("standard output: {error}"))
}

/// Prints a text, writes it to a file, or compares it with the file.
fn deliver(text: Option<Vec<u8>>, matches: &ArgMatches) -> Result<ExitCode, String> {
    let Some(text) = text else {
        return Ok(ExitCode::FAILURE);
    };
    let check = matches.get_flag("check");
    let failed = |path: &Path, error| format!("{}: {error}", path.display());
    match matches.get_one::<PathBuf>("out") {
        None => print(&String::from_utf8_lossy(&text))?,
        Some(path) if check => {
            let old = fs::read(path).map_err(|error| failed(path, error))?;
            if old != text {
                return Err(format!(
                    "{} is not up to date: run the command without `--check`",
                    path.display()
                ));
            }
        }
        Some(path) => fs::write(path, text).map_err(|error| failed(path, error))?,
    }
    Ok(ExitCode::SUCCESS)
}
