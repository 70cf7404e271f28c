//! The processes that hold leases.

use std::fs;
use std::sync::LazyLock;

/// Returns the name of this process: its host, its number, and when it started. It is empty where
/// the system has no such figure; Linux has one.
///
/// The host is one boot of one kernel and one namespace of process numbers, so that two containers
/// are two hosts.
pub fn this_process() -> &'static str {
    static NAME: LazyLock<String> = LazyLock::new(|| name().unwrap_or_default());
    &NAME
}

/// True if the process of that name ran on this host and is gone.
///
/// # Examples
///
/// ```
/// use langgraph_sql::{process_is_gone, this_process};
///
/// assert!(!process_is_gone(this_process()));
/// // A process on another machine is not known.
/// assert!(!process_is_gone("some other host/12/345"));
/// ```
pub fn process_is_gone(process: &str) -> bool {
    let Some((host, number, started)) = parts(process) else {
        return false;
    };
    let here = parts(this_process()).is_some_and(|(here, ..)| here == host);
    here && started_at(number).as_deref() != Some(started)
}

fn parts(name: &str) -> Option<(&str, &str, &str)> {
    let (rest, started) = name.rsplit_once('/')?;
    let (host, number) = rest.rsplit_once('/')?;
    Some((host, number, started))
}

fn name() -> Option<String> {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    let namespace = fs::read_link("/proc/self/ns/pid").ok()?;
    let number = std::process::id().to_string();
    let started = started_at(&number)?;
    let (boot, namespace) = (boot.trim(), namespace.display());
    Some(format!("{boot} {namespace}/{number}/{started}"))
}

/// When a process started, in ticks since the boot; `None` without such a process.
fn started_at(number: &str) -> Option<String> {
    // The name of the program, in parentheses, may hold anything.
    let stat = fs::read_to_string(format!("/proc/{number}/stat")).ok()?;
    let (_, fields) = stat.rsplit_once(')')?;
    fields.split_whitespace().nth(19).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_that_has_ended_is_gone_and_its_parent_is_not() {
        let mut child = std::process::Command::new("sleep")
            .arg("60")
            .spawn()
            .unwrap();
        let number = child.id().to_string();
        let (host, ..) = parts(this_process()).unwrap();
        let name = format!("{host}/{number}/{}", started_at(&number).unwrap());
        assert!(!process_is_gone(&name));
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(process_is_gone(&name));
        assert!(!process_is_gone(this_process()));
        // Another process has got the number since.
        assert!(process_is_gone(&format!("{host}/{}/1", std::process::id())));
        assert!(!process_is_gone(&format!("{host} elsewhere/{number}/1")));
    }
}
