//! What nodes have done outside, as an accountant would see it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use langgraph::environment;

use crate::graph::LEASE;
use crate::world::World;

/// How long the question at most takes whether a process still has its thread. It may stand still just behind the
/// answer.
const CHECK: Duration = Duration::from_millis(170);

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
    names: BTreeMap<u64, String>,
    /// The runs whose webhooks came.
    webhooks: BTreeSet<String>,
}

struct Effect {
    times: u32,
    /// The process that made it last.
    process: u64,
    /// True when its record was acknowledged.
    kept: bool,
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

    /// Notes the name of a process.
    pub(crate) fn knows(&self, process: u64, name: String) {
        self.accounts().names.insert(process, name);
    }

    /// Notes that another process may begin what this one is doing.
    pub(crate) fn interrupts(&self, process: u64) {
        let at = self.world.elapsed();
        self.accounts().interrupted.insert(process, at);
    }

    /// Notes that all processes lose their leases: until then, the database is away.
    pub(crate) fn interrupts_all(&self, until: Duration) {
        let mut accounts = self.accounts();
        let Accounts {
            names, interrupted, ..
        } = &mut *accounts;
        // Which of them renews first is open for a moment.
        interrupted.extend(names.keys().map(|process| (*process, until + LEASE)));
    }

    /// Makes an effect, whose work has begun at that time.
    pub(crate) fn pay(&self, order: &str, begun: Duration) {
        let process = environment::process();
        let mut accounts = self.accounts();
        let Accounts {
            effects,
            interrupted,
            names,
            ..
        } = &mut *accounts;
        let effect = effects.entry(order.to_owned()).or_insert(Effect {
            times: 0,
            process,
            kept: false,
        });
        let before = std::mem::replace(&mut effect.process, process);
        effect.times += 1;
        // One that has begun before it was interrupted does not know that another one has done it since.
        let is_late = interrupted
            .get(&process)
            .is_some_and(|at| *at + CHECK >= begun);
        let lives = environment::is_running(before) && !interrupted.contains_key(&before);
        let broken = match effect.times {
            1 => None,
            _ if is_late => None,
            _ if effect.kept => Some("although its record is stored"),
            _ if lives => Some("and the one that paid first lives"),
            _ => None,
        };
        let name = names.get(&process).map_or("?", |name| name);
        self.world.record(format!("{order} is paid by {name}"));
        if let Some(broken) = broken {
            self.world
                .violate(format!("{order} is paid again, {broken}"));
        }
    }

    /// Notes that the record of an effect was acknowledged.
    pub(crate) fn kept(&self, order: &str) {
        let process = environment::process();
        let mut accounts = self.accounts();
        if let Some(effect) = accounts.effects.get_mut(order)
            && effect.process == process
        {
            effect.kept = true;
        }
    }

    /// Takes the webhook of a run.
    pub(crate) fn takes_webhook(&self, run: &str) {
        self.accounts().webhooks.insert(run.to_owned());
    }

    /// Returns true if the webhook of a run came.
    pub(crate) fn has_webhook(&self, run: &str) -> bool {
        self.accounts().webhooks.contains(run)
    }

    /// Returns how often an order was paid.
    pub(crate) fn times(&self, order: &str) -> u32 {
        let accounts = self.accounts();
        accounts.effects.get(order).map_or(0, |effect| effect.times)
    }
}
