//! Standard output.

use std::io::{self, ErrorKind, Write as _};

/// Prints a text. If what reads the output has ended, as `head` does, the rest is dropped.
///
/// # Errors
///
/// Fails if the text cannot be written for another reason.
pub fn print(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        printed => printed,
    }
}
