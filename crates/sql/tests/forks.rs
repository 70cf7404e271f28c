//! The name of a process that was forked: a lease bears it.
#![cfg(target_os = "linux")]
#![allow(clippy::panic, clippy::unwrap_used)]

use std::io::{PipeReader, PipeWriter, Read, Write};
use std::time::{Duration, Instant};

use fork::{Fork, fork, waitpid};
use langgraph_sql::{process_is_gone, this_process};

/// Forks as a daemon does: the parent ends, and its child lives on until `release` is closed. Each sends its
/// name.
fn daemon(mut names: PipeWriter, mut release: PipeReader) -> ! {
    // It has used a database before it forks.
    let sent = writeln!(names, "{}", this_process());
    if let Ok(Fork::Child) = fork() {
        let sent = writeln!(names, "{}", this_process());
        drop(names);
        let _ = release.read(&mut [0]);
        std::process::exit(i32::from(sent.is_err()));
    }
    std::process::exit(i32::from(sent.is_err()));
}

#[test]
fn a_fork_lives_on_under_a_name_of_its_own_when_its_parent_has_ended() {
    this_process();
    let (mut reader, names) = std::io::pipe().unwrap();
    let (release, held) = std::io::pipe().unwrap();
    let text = match fork().unwrap() {
        Fork::Child => {
            drop(held);
            daemon(names, release)
        }
        Fork::Parent(parent) => {
            drop((names, release));
            let mut text = String::new();
            reader.read_to_string(&mut text).unwrap();
            waitpid(parent).unwrap();
            text
        }
    };
    let [parent, child] = *text.lines().collect::<Vec<_>>() else {
        panic!("{text}");
    };
    assert_ne!(parent, child);
    assert!(parent != this_process() && child != this_process());
    assert!(process_is_gone(parent) && !process_is_gone(child));
    drop(held);
    let since = Instant::now();
    while !process_is_gone(child) {
        assert!(since.elapsed() < Duration::from_secs(10));
        std::thread::yield_now();
    }
}
