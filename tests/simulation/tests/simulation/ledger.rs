//! What nodes have done outside, as an accountant would see it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use langgraph::environment;

use crate::graph::LEASE;
use crate::holders::Holders;
use crate::host::Role;
use crate::world::World;

/// How long the answer at most takes whether a process still has its thread. It may stand still before it comes.
const CHECK: Duration = Duration::from_millis(95);

/// How long work of a process that was disturbed at most is on its way to a worker: it goes on for a while before it
/// knows that it has lost a thread. The state comes through the store, and a lost request for it is sent again.
const REACHES: Duration = Duration::from_millis(3_000);

/// The effects of all processes.
pub(crate) struct Ledger {
    world: World,
    accounts: Mutex<Accounts>,
}

#[derive(Default)]
struct Accounts {
    effects: BTreeMap<String, Effect>,
    /// When a process stood still last, went on, or was told to end: what it was doing then may be done by
    /// another one.
    interrupted: BTreeMap<u64, Duration>,
    /// When a process was last interrupted, lost, or parted from the others: what it had given to a worker then, or
    /// what it did as one, may be done by another one.
    disturbed: BTreeMap<u64, Duration>,
    names: BTreeMap<u64, String>,
    servers: BTreeSet<u64>,
    workers: BTreeSet<u64>,
    /// The orders that were cancelled: a worker may not learn of it.
    cancelled: BTreeSet<String>,
    holders: Holders,
    /// The orders whose records are stored when their runs end.
    at_exit: BTreeSet<String>,
    /// What the webhooks of runs have said, with their ids.
    webhooks: BTreeMap<String, (String, String)>,
}

struct Effect {
    times: u32,
    /// The process that made it last, and when.
    process: u64,
    at: Duration,
    /// True when its record was acknowledged.
    kept: bool,
}

impl Accounts {
    /// Returns true if the record of an effect is lost with a run that was cancelled before it was stored.
    fn is_lost(&self, what: &str) -> bool {
        order_of(what)
            .is_some_and(|order| self.at_exit.contains(order) && self.cancelled.contains(order))
    }

    /// Returns true if a worker may not know that another one has done its work: the worker, or a server that may have
    /// given it, was disturbed since it has begun.
    fn may_not_know(&self, what: &str, node: &AtWork, world: &World) -> bool {
        let mut disturbed = self.servers.iter().chain([&node.process]);
        let is_disturbed = disturbed.any(|process| {
            let at = self.disturbed.get(process);
            at.is_some_and(|at| *at + REACHES >= node.since)
        });
        let is_cancelled = |order: &str| self.cancelled.contains(order);
        is_disturbed
            || order_of(what).is_some_and(is_cancelled)
            || world.has_failed_since(node.since)
    }
}

impl Ledger {
    pub(crate) fn new(world: &World) -> Self {
        Self {
            world: world.clone(),
            accounts: Mutex::default(),
        }
    }

    fn accounts(&self) -> MutexGuard<'_, Accounts> {
        self.accounts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes what a process is.
    pub(crate) fn knows(&self, process: u64, name: String, role: Role) {
        let mut accounts = self.accounts();
        accounts.names.insert(process, name);
        match role {
            Role::Server => accounts.servers.insert(process),
            Role::Worker => accounts.workers.insert(process),
            Role::Relay | Role::Agent | Role::Clerk => false,
        };
    }

    /// Notes that another process may do what this one has given to a worker, or does as one.
    pub(crate) fn disturbs(&self, process: u64) {
        let at = self.world.elapsed();
        self.accounts().disturbed.insert(process, at);
    }

    /// Notes that an order is cancelled.
    pub(crate) fn cancels(&self, order: &str) {
        self.accounts().cancelled.insert(order.to_owned());
    }

    /// Notes that the records of an order are stored when its run ends.
    pub(crate) fn stores_at_exit(&self, order: &str) {
        self.accounts().at_exit.insert(order.to_owned());
    }

    /// Notes that another process may begin what this one is doing.
    pub(crate) fn interrupts(&self, process: u64) {
        self.disturbs(process);
        let at = self.world.elapsed();
        let mut accounts = self.accounts();
        accounts.interrupted.insert(process, at);
        accounts.holders.forget_superseded(process);
    }

    /// Notes that all processes lose their leases: until then, the database is away.
    pub(crate) fn interrupts_all(&self, until: Duration) {
        let mut accounts = self.accounts();
        let Accounts {
            names,
            interrupted,
            disturbed,
            ..
        } = &mut *accounts;
        // Which of them renews first is open for a moment.
        interrupted.extend(names.keys().map(|process| (*process, until + LEASE)));
        disturbed.extend(names.keys().map(|process| (*process, until + LEASE)));
    }

    /// Returns true if no process was interrupted since then.
    pub(crate) fn is_calm_since(&self, time: Duration) -> bool {
        let accounts = self.accounts();
        accounts.interrupted.values().all(|at| *at < time)
    }

    /// Makes an effect of a node, whose work has begun at that time.
    pub(crate) fn acts(&self, what: &str, begun: Duration, node: &AtWork) {
        let process = node.process;
        let mut accounts = self.accounts();
        let is_worker = accounts.workers.contains(&process);
        let may_not_know = is_worker && accounts.may_not_know(what, node, &self.world);
        let is_lost = accounts.is_lost(what);
        let Accounts {
            effects,
            interrupted,
            names,
            holders,
            ..
        } = &mut *accounts;
        let effect = effects.entry(what.to_owned()).or_insert(Effect {
            times: 0,
            process,
            at: Duration::ZERO,
            kept: false,
        });
        let before_at = std::mem::replace(&mut effect.at, self.world.elapsed());
        let before = std::mem::replace(&mut effect.process, process);
        effect.times += 1;
        // One that has begun before it was interrupted does not know that another one has done it since.
        let is_late = interrupted
            .get(&process)
            .is_some_and(|at| *at + CHECK >= begun);
        let lives = environment::is_running(before) && !interrupted.contains_key(&before);
        let broken = match effect.times {
            1 => None,
            _ if is_late || may_not_know || is_lost => None,
            _ if effect.kept => Some("although its record is stored"),
            // Its record could not be stored.
            _ if self.world.has_failed_since(before_at) => None,
            // A worker that lives may be lost to the others.
            _ if lives && !is_worker => Some("and the one that did it first lives"),
            _ => None,
        };
        let name = names.get(&process).map_or("?", |name| name);
        self.world.record(format!("{what} is done by {name}"));
        // It was told that it has the thread, at most that long before.
        let told = begun.saturating_sub(CHECK);
        if !is_late && !is_worker && holders.other(&node.thread, process, told).is_some() {
            let text = format!("{what} is begun by {name}, which has lost the thread");
            self.world.violate(text);
        }
        if let Some(broken) = broken {
            self.world
                .violate(format!("{what} is done again, {broken}"));
        }
    }

    /// Notes that the record of an effect was acknowledged.
    pub(crate) fn kept(&self, what: &str, node: &AtWork) {
        let process = node.process;
        let mut accounts = self.accounts();
        let Accounts {
            effects,
            holders,
            workers,
            at_exit,
            ..
        } = &mut *accounts;
        let Some(effect) = effects.get_mut(what) else {
            return;
        };
        if effect.process != process || order_of(what).is_some_and(|order| at_exit.contains(order))
        {
            return;
        }
        effect.kept = true;
        // Its record was written after that, with a lease that the process no longer has.
        let is_other = holders.other(&node.thread, process, effect.at).is_some();
        if is_other && !workers.contains(&process) {
            let text = format!("that {what} is stored by a process that lost the thread");
            self.world.violate(text);
        }
    }

    /// Notes that a process works on a thread, until the result is dropped.
    pub(crate) fn begins(self: &Arc<Self>, thread: &str) -> AtWork {
        let process = environment::process();
        let now = self.world.elapsed();
        let mut accounts = self.accounts();
        let Accounts {
            holders,
            interrupted,
            names,
            workers,
            ..
        } = &mut *accounts;
        let at_work = AtWork {
            ledger: Arc::clone(self),
            thread: thread.to_owned(),
            process,
            since: now,
        };
        // The thread stays with the server that has given it a part of the work.
        if workers.contains(&process) {
            return at_work;
        }
        let at = interrupted.get(&process).copied();
        let before = holders.begin(thread, process, now, at);
        let lives =
            |before: &u64| environment::is_running(*before) && !interrupted.contains_key(before);
        if let Some(before) = before.filter(lives) {
            let name = |process| names.get(process).map_or("?", |name| name);
            self.world.violate(format!(
                "{} works on thread {thread} while {} does",
                name(&process),
                name(&before)
            ));
        }
        at_work
    }

    /// Returns true if another process has taken a thread of this one.
    pub(crate) fn is_superseded(&self, process: u64) -> bool {
        self.accounts().holders.is_superseded(process)
    }

    /// Takes the webhook of a run, which has an id and says how the run has ended. It may come again.
    pub(crate) fn takes_webhook(&self, run: &str, id: &str, says: &str) {
        let webhook = (id.to_owned(), says.to_owned());
        let before = self.accounts().webhooks.insert(run.to_owned(), webhook);
        if before.is_some_and(|(before, said)| before != id || said != says) {
            let text = format!("{run} has two webhooks, of which the second says {says}");
            self.world.violate(text);
        }
    }

    /// Returns what the webhook of a run has said; `None` if it has not come.
    pub(crate) fn webhook(&self, run: &str) -> Option<String> {
        let accounts = self.accounts();
        accounts.webhooks.get(run).map(|(_, says)| says.clone())
    }

    /// Returns how often an effect was made.
    pub(crate) fn times(&self, what: &str) -> u32 {
        let accounts = self.accounts();
        accounts.effects.get(what).map_or(0, |effect| effect.times)
    }
}

/// Returns the order of an effect.
fn order_of(what: &str) -> Option<&str> {
    what.rsplit_once('/').map(|(order, _)| order)
}

/// A node that a process carries out.
pub(crate) struct AtWork {
    ledger: Arc<Ledger>,
    thread: String,
    process: u64,
    since: Duration,
}

impl Drop for AtWork {
    fn drop(&mut self) {
        let mut accounts = self.ledger.accounts();
        accounts.holders.end(&self.thread, self.process);
    }
}
