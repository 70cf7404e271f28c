//! What several processes do to one file: they are killed, and they fight for a thread.
//!
//! The program starts itself as those processes.
#![allow(clippy::expect_used, clippy::panic)] // it is a test, which clippy cannot see

mod graphs;
mod kill;
mod saver;
mod trace;
mod two_processes;

fn main() {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let words: Vec<_> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["process-to-kill", rest @ ..] => return kill::process(rest),
        ["process-that-fights", rest @ ..] => return two_processes::process(rest),
        _ => {}
    }
    let tests: [(&str, fn()); 2] = [
        (
            "j11_killed_at_any_moment_it_comes_to_the_same_end",
            kill::test,
        ),
        (
            "j6_processes_fight_for_a_thread_and_lose_nothing",
            two_processes::test,
        ),
    ];
    let filters: Vec<_> = words.iter().filter(|word| !word.starts_with('-')).collect();
    for (name, test) in tests {
        if words.contains(&"--list") {
            println!("{name}: test");
        } else if filters.is_empty() || filters.iter().any(|filter| name.contains(**filter)) {
            test();
            println!("test {name} ... ok");
        }
    }
}

/// This program again, with other arguments.
fn itself() -> std::process::Command {
    let program = std::env::current_exe().expect("a program knows where it is");
    std::process::Command::new(program)
}

/// A runtime of one thread: it starts quickly.
fn block_on<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build();
    runtime.expect("a runtime starts").block_on(future)
}
