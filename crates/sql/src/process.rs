//! The processes that hold leases.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use langgraph_core::environment;

/// The folder with one for each process.
const PROC: &str = "/proc";

/// The host of all processes of a simulation.
const SIMULATED: &str = "simulation";

/// Returns the name of this process: its host, its number, and when it started. It is empty where
/// the system has no such figure; Linux has one.
///
/// The host is one boot of one kernel and one namespace of process numbers, so that two containers
/// are two hosts. A fork has a name of its own.
pub fn this_process() -> &'static str {
    static NAME: Mutex<Option<(forkguard::Guard, &str)>> = Mutex::new(None);
    if environment::process() != 0 {
        return simulated_name();
    }
    let mut known = NAME.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((guard, name)) = &mut *known
        && !guard.detected_fork()
    {
        return name;
    }
    // A process has one name, which lives as long as the process.
    let name: &'static str = Box::leak(name().unwrap_or_default().into_boxed_str());
    *known = Some((forkguard::new(), name));
    name
}

/// True if the process of that name ran on this host and is gone.
///
/// A process that this one cannot see counts as living where the system hides the processes of other
/// users.
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
    let here = parts(process).filter(|_| process_is_here(process));
    if let Some((SIMULATED, number, _)) = here {
        return number
            .parse()
            .is_ok_and(|number| !environment::is_running(number));
    }
    here.is_some_and(|(_, number, started)| is_gone(Path::new(PROC), number, started))
}

/// True if the process with that number, which started then, is not in the folder of all processes.
fn is_gone(proc: &Path, number: &str, started: &str) -> bool {
    match stat_of(proc, number) {
        Some(stat) => stat.is_ended || stat.started != started,
        None => hides_nothing(proc),
    }
}

/// True if the process of that name ran on this host.
pub fn process_is_here(process: &str) -> bool {
    let here = parts(this_process()).map(|(host, ..)| host);
    here.is_some() && parts(process).map(|(host, ..)| host) == here
}

/// Returns how long this host has been running, which no clock changes; `None` where the system does
/// not tell.
pub fn uptime() -> Option<Duration> {
    if let Some(elapsed) = environment::elapsed() {
        return Some(elapsed);
    }
    let text = fs::read_to_string("/proc/uptime").ok()?;
    let seconds: f64 = text.split_whitespace().next()?.parse().ok()?;
    Duration::try_from_secs_f64(seconds).ok()
}

fn parts(name: &str) -> Option<(&str, &str, &str)> {
    let (rest, started) = name.rsplit_once('/')?;
    let (host, number) = rest.rsplit_once('/')?;
    Some((host, number, started))
}

/// Returns the name of a process of a simulation. It is one of a few that a test starts.
fn simulated_name() -> &'static str {
    thread_local! {
        static NAMES: RefCell<BTreeMap<u64, &'static str>> = const { RefCell::new(BTreeMap::new()) };
    }
    let process = environment::process();
    NAMES.with_borrow_mut(|names| {
        let name = || &*Box::leak(format!("{SIMULATED}/{process}/0").into_boxed_str());
        *names.entry(process).or_insert_with(name)
    })
}

fn name() -> Option<String> {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    let namespace = fs::read_link("/proc/self/ns/pid").ok()?;
    let number = std::process::id().to_string();
    let started = stat_of(Path::new(PROC), &number)?.started;
    let (boot, namespace) = (boot.trim(), namespace.display());
    Some(format!("{boot} {namespace}/{number}/{started}"))
}

/// What the system says of a process.
struct Stat {
    /// When it started, in ticks since the boot.
    started: String,
    /// True if it has ended, and its parent has not asked how.
    is_ended: bool,
}

/// Returns what the system says of a process; `None` without such a process, or if it is hidden.
fn stat_of(proc: &Path, number: &str) -> Option<Stat> {
    let stat = fs::read_to_string(proc.join(number).join("stat")).ok()?;
    // The name of the program, in parentheses, may hold anything.
    let (_, fields) = stat.rsplit_once(')')?;
    let mut fields = fields.split_whitespace();
    let is_ended = matches!(fields.next()?, "Z" | "X" | "x");
    let started = fields.nth(18)?.to_owned();
    Some(Stat { started, is_ended })
}

/// True if this process sees those of other users: the first one belongs to the system.
fn hides_nothing(proc: &Path) -> bool {
    stat_of(proc, "1").is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn started(number: &str) -> String {
        stat_of(Path::new(PROC), number).unwrap().started
    }

    #[test]
    fn a_process_that_the_system_hides_is_not_gone() {
        // As the folder looks to a service that may not see those of others.
        let folder = tempfile::tempdir().unwrap();
        let proc = folder.path();
        let adds = |number: &str| {
            fs::create_dir(proc.join(number)).unwrap();
            let own = fs::read_to_string("/proc/self/stat").unwrap();
            fs::write(proc.join(number).join("stat"), own).unwrap();
        };
        adds("70");
        let began = started("self");
        assert!(!is_gone(proc, "71", &began));
        assert!(!is_gone(proc, "70", &began) && is_gone(proc, "70", "1"));
        // With the first process, all are visible.
        adds("1");
        assert!(is_gone(proc, "71", &began) && !is_gone(proc, "70", &began));
    }

    #[test]
    fn a_process_that_has_ended_is_gone_and_its_parent_is_not() {
        let mut child = std::process::Command::new("sleep")
            .arg("60")
            .spawn()
            .unwrap();
        let number = child.id().to_string();
        let (host, ..) = parts(this_process()).unwrap();
        let name = format!("{host}/{number}/{}", started(&number));
        assert!(!process_is_gone(&name));
        child.kill().unwrap();
        // Nobody has asked yet how it ended.
        let since = std::time::Instant::now();
        while !process_is_gone(&name) {
            assert!(since.elapsed() < Duration::from_secs(10));
        }
        child.wait().unwrap();
        assert!(process_is_gone(&name));
        assert!(!process_is_gone(this_process()));
        // Another process has got the number since.
        assert!(process_is_gone(&format!("{host}/{}/1", std::process::id())));
        assert!(!process_is_gone(&format!("{host} elsewhere/{number}/1")));
    }
}
