//! The program that serves the graphs.

use std::io;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// How long the program may take to end before it is killed.
const END_TIMEOUT: Duration = Duration::from_secs(3);

/// A program that runs until this value is dropped.
pub(super) struct Program(Child);

impl Program {
    pub(super) fn start(mut command: Command, address: &str, file: &Path) -> io::Result<Self> {
        command
            .arg("serve")
            .arg(address)
            .arg(file)
            .stdin(Stdio::piped())
            .spawn()
            .map(Self)
    }

    /// Returns its status if it has ended.
    pub(super) fn ended(&mut self) -> Option<ExitStatus> {
        self.0.try_wait().ok().flatten()
    }
}

impl Drop for Program {
    /// Ends the program: runs stop after their superstep, and go on in the next program.
    fn drop(&mut self) {
        // The program serves until its input ends.
        drop(self.0.stdin.take());
        let begun = Instant::now();
        while begun.elapsed() < END_TIMEOUT {
            match self.0.try_wait() {
                Ok(None) => thread::sleep(Duration::from_millis(5)),
                _ => return,
            }
        }
        // It may have ended meanwhile.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
