//! Programs on this machine.

use std::process::Stdio;

use langgraph_agent::{ToolError, async_trait};
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::process::Command;

use super::{ShellCommand, ShellOutput, ShellRunner};

/// Runs programs on this machine, with no environment but `PATH` and no input. A program that takes too
/// long, or whose run is dropped, is killed.
#[derive(Clone, Copy, Debug, Default)]
pub struct LocalRunner;

#[async_trait]
impl ShellRunner for LocalRunner {
    async fn run(&self, command: ShellCommand) -> Result<ShellOutput, ToolError> {
        let mut program = Command::new(&command.program);
        program
            .args(&command.arguments)
            .current_dir(&command.folder)
            .env_clear()
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        if let Some(path) = std::env::var_os("PATH") {
            program.env("PATH", path);
        }
        let mut child = program.spawn().map_err(|error| {
            ToolError::model(format!("`{}` does not start: {error}", command.program))
        })?;
        let (out, err) = (child.stdout.take(), child.stderr.take());
        let run = async {
            let (out, err) = tokio::join!(read(out, command.longest), read(err, command.longest));
            (out, err, child.wait().await)
        };
        let ended = tokio::time::timeout(command.timeout, run).await;
        let (out, err, status) = ended.map_err(|_| {
            ToolError::model(format!(
                "`{}` did not end within {:?} and was killed",
                command.program, command.timeout
            ))
        })?;
        let mut text = bounded(out, command.longest);
        text.push_str(&bounded(err, command.longest));
        Ok(ShellOutput {
            text,
            code: status?.code(),
        })
    }
}

/// Reads all output, and keeps one byte more than fits: then it is known that something is missing.
async fn read(from: Option<impl AsyncRead + Unpin>, longest: usize) -> Vec<u8> {
    let mut kept = Vec::new();
    let Some(mut from) = from else {
        return kept;
    };
    let mut piece = [0; 4096];
    while let Ok(read @ 1..) = from.read(&mut piece).await {
        let room = (longest + 1).saturating_sub(kept.len()).min(read);
        kept.extend_from_slice(piece.get(..room).unwrap_or_default());
    }
    kept
}

fn bounded(mut bytes: Vec<u8>, longest: usize) -> String {
    let cut = bytes.len() > longest;
    bytes.truncate(longest);
    let mut text = String::from_utf8_lossy(&bytes).into_owned();
    if cut {
        text.push_str("\n(cut off here)\n");
    }
    text
}
