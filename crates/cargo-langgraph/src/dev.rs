//! Serves the graphs of a package, and follows its code.

mod program;
mod watch;

use std::path::PathBuf;
use std::time::{Duration, Instant};
use std::{fs, io};

use crate::driver::{Driver, DriverError};
use crate::output::print;
use crate::project::Project;
use program::Program;
use watch::Watch;

/// How often the program is asked whether it still runs.
const POLL_INTERVAL: Duration = Duration::from_millis(200);

/// How to serve.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Options {
    /// The port at 127.0.0.1.
    pub port: u16,
    /// The SQLite file of threads, runs and assistants.
    pub file: PathBuf,
    /// The features of the package that are turned on.
    pub features: Vec<String>,
}

impl Options {
    /// Creates the options of a package: port 2024, and the file `.langgraph/threads.db` in its folder.
    pub fn of(project: &Project) -> Self {
        Self {
            port: 2024,
            file: project.folder.join(".langgraph/threads.db"),
            features: Vec::new(),
        }
    }
}

/// Why serving ended.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum DevError {
    /// The program could not be written.
    #[error(transparent)]
    Driver(#[from] DriverError),
    /// The files of the package cannot be watched.
    #[error("cannot watch {}: {source}", path.display())]
    Watch {
        /// The folder.
        path: PathBuf,
        /// What happened.
        source: notify::Error,
    },
    /// The folder of the database cannot be made.
    #[error("{}: {source}", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// What happened.
        source: io::Error,
    },
}

langgraph_topology::debug_is_message!(DevError);

/// Builds the program of a package, serves its graphs, and builds and starts it again after each change of
/// the code. The threads stay, since they are in a file. Code that does not compile changes nothing: the
/// last program goes on.
///
/// It returns only with an error.
///
/// # Errors
///
/// Fails if the program cannot be written, or files cannot be watched.
pub fn serve(project: &Project, options: &Options) -> Result<(), DevError> {
    if let Some(folder) = options.file.parent() {
        fs::create_dir_all(folder).map_err(|source| DevError::Folder {
            path: folder.to_owned(),
            source,
        })?;
    }
    let driver = Driver::write(project, &options.features)?;
    // Before the build: a file that is saved meanwhile counts.
    let mut watch = Watch::new(project, &options.file)?;
    let address = format!("127.0.0.1:{}", options.port);
    let mut program = None;
    loop {
        build(&driver, &address, options, &mut program);
        while !watch.changed_within(POLL_INTERVAL) {
            if let Some(status) = program.as_mut().and_then(Program::ended) {
                eprintln!("the server ended with {status}; it starts again with the next change");
                program = None;
            }
        }
    }
}

/// Builds, and replaces the program that runs if there is a new one.
fn build(driver: &Driver, address: &str, options: &Options, program: &mut Option<Program>) {
    let begun = Instant::now();
    let built = match driver.build() {
        Ok(built) => built,
        Err(error) => {
            match program {
                Some(_) => eprintln!("{error}: the last version goes on"),
                None => eprintln!("{error}"),
            }
            return;
        }
    };
    if built.fresh && program.is_some() {
        return;
    }
    let seconds = begun.elapsed().as_secs_f64();
    drop(program.take());
    // The program prints its address when it has the port.
    if let Err(error) = print(&format!("built in {seconds:.1} s\n")) {
        eprintln!("standard output: {error}");
    }
    match Program::start(built.command(), address, &options.file) {
        Ok(started) => *program = Some(started),
        Err(error) => eprintln!("cannot start {}: {error}", built.executable.display()),
    }
}
