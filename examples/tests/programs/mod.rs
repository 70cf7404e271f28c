//! Runs the examples as programs.

use std::path::PathBuf;
use std::process::Command;

/// The program of an example. `cargo test -p PACKAGE` builds them all before it runs a test; with
/// `--test` it does not.
fn program(name: &str) -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let profile = test.parent().and_then(|deps| deps.parent()).unwrap();
    let program = profile
        .join("examples")
        .join(name)
        .with_extension(std::env::consts::EXE_EXTENSION);
    assert!(
        program.exists(),
        "`{name}` is not built: run `cargo build -p {} --examples`",
        env!("CARGO_PKG_NAME")
    );
    program
}

/// An example as a user without any key would run it.
pub(crate) fn command(name: &str) -> Command {
    let mut command = Command::new(program(name));
    for key in [
        "OPENAI_API_KEY",
        "ANTHROPIC_API_KEY",
        "ANTHROPIC_BASE_URL",
        "GEMINI_API_KEY",
        "GOOGLE_GEMINI_BASE_URL",
        "OLLAMA_HOST",
        "OPENAI_BASE_URL",
        "MODEL",
        "ZHIPU_API_KEY",
    ] {
        command.env_remove(key);
    }
    command
}

/// What an example prints.
pub(crate) fn printed(name: &str, arguments: &[&str]) -> String {
    let output = command(name).args(arguments).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{name} failed:\n{errors}");
    String::from_utf8(output.stdout).unwrap()
}
