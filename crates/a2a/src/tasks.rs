//! The tasks of a server.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use langgraph_remote::AgentId;

use crate::task::Entry;
use crate::totals::{Counted, Totals};

/// The tasks that are kept: those that run, those that wait for an answer, and the last that ended. No request
/// reads more of them than it asks for.
#[derive(Default)]
pub(crate) struct Tasks {
    table: Mutex<Table>,
    totals: Arc<Totals>,
}

#[derive(Default)]
struct Table {
    by_id: HashMap<String, Numbered>,
    by_owner: HashMap<AgentId, InOrder>,
    /// The sums of each caller with tasks.
    of_owner: HashMap<AgentId, Arc<Totals>>,
    by_context: HashMap<(AgentId, String), InOrder>,
    /// The number of the next task.
    next: u64,
    /// The tasks to forget, the first ones first. One that runs goes to the end.
    expiry: VecDeque<String>,
    /// Which task a message began: a repeated message begins no other.
    by_message: HashMap<(AgentId, String), String>,
    messages: VecDeque<(AgentId, String)>,
}

/// A task and its number, in the order of their beginning.
type Numbered = (u64, Arc<Entry>);
type InOrder = BTreeMap<u64, Arc<Entry>>;

/// The limits of a server's tasks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TaskLimits {
    pub(crate) running: usize,
    /// The running tasks of one caller.
    pub(crate) running_of_caller: usize,
    pub(crate) kept: usize,
    pub(crate) bytes: usize,
}

/// The tasks that a client asks for.
pub(crate) struct Listing<'a> {
    pub(crate) owner: &'a AgentId,
    pub(crate) context: Option<&'a str>,
    /// A filter.
    pub(crate) matches: Option<&'a dyn Fn(&Entry) -> bool>,
    /// Only those that began before the one of this number.
    pub(crate) before: u64,
    pub(crate) size: usize,
}

/// Some tasks with their numbers, the latest first.
#[derive(Default)]
pub(crate) struct Page {
    pub(crate) tasks: Vec<(u64, Arc<Entry>)>,
    /// How many there are on all pages.
    pub(crate) total: usize,
    /// The number of the last one, if more follow.
    pub(crate) more: Option<u64>,
}

impl Tasks {
    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns a task, if it is the caller's.
    pub(crate) fn get(&self, id: &str, owner: &AgentId) -> Option<Arc<Entry>> {
        let entry = self.table().by_id.get(id).map(|(_, entry)| entry.clone());
        entry.filter(|entry| entry.owner == *owner)
    }

    /// Returns the task that this message began.
    pub(crate) fn begun_by(&self, message: &str, owner: &AgentId) -> Option<Arc<Entry>> {
        let table = self.table();
        let id = table.by_message.get(&(owner.clone(), message.to_owned()))?;
        table.by_id.get(id).map(|(_, entry)| entry.clone())
    }

    /// Adds a task, or the message that continues one. Returns an error if too many run, of this
    /// caller or of all, and otherwise the ids of those that are no longer kept.
    pub(crate) fn add(
        &self,
        entry: &Arc<Entry>,
        message: &str,
        limits: TaskLimits,
    ) -> Result<Vec<String>, ()> {
        let mut table = self.table();
        let of_owner = table.of_owner.get(&entry.owner);
        if self.totals.running() >= limits.running
            || of_owner.is_some_and(|totals| totals.running() >= limits.running_of_caller)
        {
            return Err(());
        }
        let key = (entry.owner.clone(), message.to_owned());
        table.by_message.insert(key.clone(), entry.id.clone());
        table.messages.push_back(key);
        if !table.by_id.contains_key(&entry.id) {
            let of_owner = table.of_owner.entry(entry.owner.clone()).or_default();
            entry.enter(Counted([Arc::clone(&self.totals), Arc::clone(of_owner)]));
            table.insert(entry);
        }
        Ok(table.forget(limits, &self.totals))
    }

    /// Returns some tasks of an owner.
    pub(crate) fn list(&self, listing: &Listing<'_>) -> Page {
        let table = self.table();
        let owner = listing.owner;
        let of_owner = match listing.context {
            None => table.by_owner.get(owner),
            Some(context) => table.by_context.get(&(owner.clone(), context.to_owned())),
        };
        let Some(all) = of_owner else {
            return Page::default();
        };
        let wanted = |entry: &Entry| listing.matches.is_none_or(|matches| matches(entry));
        let total = match listing.matches {
            None => all.len(),
            Some(_) => all.values().filter(|entry| wanted(entry)).count(),
        };
        let earlier = all.range(..listing.before).rev();
        let mut found = earlier.filter(|(_, entry)| wanted(entry));
        let page: Vec<_> = found.by_ref().take(listing.size).collect();
        let last = page.last().map(|(number, _)| **number);
        Page {
            more: last.filter(|_| found.next().is_some()),
            tasks: page
                .into_iter()
                .map(|(number, entry)| (*number, Arc::clone(entry)))
                .collect(),
            total,
        }
    }
}

impl Table {
    fn insert(&mut self, entry: &Arc<Entry>) {
        let number = self.next;
        self.next += 1;
        self.by_id
            .insert(entry.id.clone(), (number, Arc::clone(entry)));
        let of_owner = self.by_owner.entry(entry.owner.clone()).or_default();
        of_owner.insert(number, Arc::clone(entry));
        let of_context = self.by_context.entry(context_key(entry)).or_default();
        of_context.insert(number, Arc::clone(entry));
        self.expiry.push_back(entry.id.clone());
    }

    fn remove(&mut self, id: &str) {
        let Some((number, entry)) = self.by_id.remove(id) else {
            return;
        };
        entry.leave();
        take(&mut self.by_owner, &entry.owner, number);
        if !self.by_owner.contains_key(&entry.owner) {
            self.of_owner.remove(&entry.owner);
        }
        take(&mut self.by_context, &context_key(&entry), number);
    }

    /// Forgets the oldest tasks that rest, as long as there are too many.
    fn forget(&mut self, limits: TaskLimits, totals: &Totals) -> Vec<String> {
        let mut forgotten = Vec::new();
        let mut passed = 0;
        while (self.by_id.len() > limits.kept || totals.bytes() > limits.bytes)
            && passed < self.expiry.len()
            && let Some(id) = self.expiry.pop_front()
        {
            let rests = |(_, entry): &Numbered| crate::task::rests(&entry.state());
            if self.by_id.get(&id).is_some_and(rests) {
                self.remove(&id);
                forgotten.push(id);
            } else {
                self.expiry.push_back(id);
                passed += 1;
            }
        }
        while self.messages.len() > limits.kept.saturating_mul(4) {
            if let Some(oldest) = self.messages.pop_front() {
                self.by_message.remove(&oldest);
            }
        }
        forgotten
    }
}

fn context_key(entry: &Entry) -> (AgentId, String) {
    (entry.owner.clone(), entry.context.clone())
}

/// Removes a task from an index.
fn take<K: std::hash::Hash + Eq>(index: &mut HashMap<K, InOrder>, key: &K, number: u64) {
    if let Some(tasks) = index.get_mut(key) {
        tasks.remove(&number);
        if tasks.is_empty() {
            index.remove(key);
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use a2a::{Message, Part, Role};
    use langgraph_remote::{AgentEnvelope, EnvelopeBody, ErrorCode};

    use super::*;
    use crate::task::{Refusal, TASK_BYTES, looks};

    const LIMITS: TaskLimits = TaskLimits {
        running: 64,
        running_of_caller: 64,
        kept: 2_000,
        bytes: 4 << 20,
    };

    fn entry(id: &str, context: &str) -> Arc<Entry> {
        Entry::new(id.to_owned(), context.to_owned(), "ada".into())
    }

    /// Adds a task that runs.
    fn begin(
        tasks: &Tasks,
        id: &str,
        context: &str,
        limits: TaskLimits,
    ) -> (Arc<Entry>, Vec<String>) {
        let entry = entry(id, context);
        let forgotten = tasks.add(&entry, &format!("m-{id}"), limits).unwrap();
        let message = Message::new(Role::User, vec![Part::text("hi")]);
        assert_eq!(entry.begin(message), Ok(()));
        (entry, forgotten)
    }

    fn reply(entry: &Entry, text: &str) {
        let body = EnvelopeBody::Complete(text.into());
        entry.add(AgentEnvelope::new("agent", "ada", body));
        entry.end();
    }

    fn listing<'a>(owner: &'a AgentId, context: Option<&'a str>) -> Listing<'a> {
        Listing {
            owner,
            context,
            matches: None,
            before: u64::MAX,
            size: 2,
        }
    }

    #[test]
    fn what_a_request_costs_does_not_depend_on_the_tasks_that_are_kept() {
        let tasks = Tasks::default();
        let mut costs = Vec::new();
        // Twenty long tasks come first, and never rest.
        for number in 0..20 {
            begin(&tasks, &format!("long-{number}"), "long", LIMITS);
        }
        for number in 0..5_000 {
            let before = looks();
            let context = format!("c-{}", number / 3);
            let (entry, _) = begin(&tasks, &format!("t-{number}"), &context, LIMITS);
            reply(&entry, "ok");
            costs.push(looks() - before);
        }
        let few = costs.iter().take(100).max().unwrap();
        let many: usize = costs.iter().skip(4_000).sum();
        assert!(*few <= 10, "{few}");
        // Two thousand are kept. Forgetting one looks at it, and passes the long ones once in a round.
        assert!(many / 1_000 <= few + 3, "{many} looks at 1,000 requests");
        assert_eq!(tasks.totals.running(), 20);

        let before = looks();
        let owner = AgentId::new("ada");
        let page = tasks.list(&listing(&owner, Some("c-1666")));
        assert_eq!((page.tasks.len(), page.total, page.more), (2, 2, None));
        let page = tasks.list(&listing(&owner, None));
        assert_eq!((page.tasks.len(), page.total), (2, 2_000));
        assert_eq!(page.tasks[0].1.id, "t-4999");
        let second = Listing {
            before: page.more.unwrap(),
            ..listing(&owner, None)
        };
        assert_eq!(tasks.list(&second).tasks[0].1.id, "t-4997");
        assert_eq!(looks() - before, 0, "a list without a filter reads no task");
    }

    #[test]
    fn the_totals_follow_the_tasks() {
        let tasks = Tasks::default();
        let limits = TaskLimits {
            running: 2,
            running_of_caller: 2,
            kept: 2,
            bytes: 4_000,
        };
        let (one, _) = begin(&tasks, "one", "c", limits);
        let (two, _) = begin(&tasks, "two", "c", limits);
        assert!(tasks.add(&entry("three", "c"), "m-three", limits).is_err());
        reply(&one, "ok");
        assert!(tasks.totals.bytes() > 0);
        // A third task: the first one is forgotten, and so are its bytes.
        let (three, forgotten) = begin(&tasks, "three", "d", limits);
        assert_eq!(forgotten, ["one"]);
        assert_eq!(tasks.totals.running(), 2);
        assert!(tasks.get("one", &"ada".into()).is_none());
        two.fail(&ErrorCode::Failed, "no");
        three.cancel();
        assert_eq!(tasks.totals.running(), 0);
        // One large reply is forgotten as soon as another message arrives.
        let (large, forgotten) = begin(&tasks, "large", "d", limits);
        assert_eq!(forgotten, ["two"]);
        reply(&large, &"x".repeat(4_000));
        let (_, forgotten) = begin(&tasks, "last", "d", limits);
        assert_eq!(forgotten, ["three", "large"]);
        let bytes = tasks.totals.bytes();
        assert!((1..1_000).contains(&bytes), "{bytes}");
    }

    #[test]
    fn messages_count_as_bytes_of_their_tasks() {
        let tasks = Tasks::default();
        for number in 0..100 {
            let id = format!("t-{number}");
            let entry = entry(&id, "c");
            tasks.add(&entry, &id, LIMITS).unwrap();
            let message = Message::new(Role::User, vec![Part::text("x".repeat(100_000))]);
            assert_eq!(entry.begin(message), Ok(()));
            reply(&entry, "ok");
            let bytes = tasks.totals.bytes();
            assert!(bytes <= LIMITS.bytes + 200_000, "{bytes}");
        }
        assert!(tasks.totals.bytes() > LIMITS.bytes / 2);
        // One task that is asked again and again has a limit of its own.
        let entry = entry("asks", "c");
        tasks.add(&entry, "asks", LIMITS).unwrap();
        let mut refused = None;
        for _ in 0..200 {
            let message = Message::new(Role::User, vec![Part::text("x".repeat(100_000))]);
            if let Err(refusal) = entry.begin(message) {
                refused = Some(refusal);
                break;
            }
            let asked = EnvelopeBody::Interrupt(vec![]);
            entry.add(AgentEnvelope::new("agent", "ada", asked));
        }
        assert_eq!(refused, Some(Refusal::TooLarge));
        assert!(entry.bytes() <= TASK_BYTES);
    }

    #[test]
    fn one_caller_leaves_room_for_the_others() {
        let tasks = Tasks::default();
        let limits = TaskLimits {
            running: 8,
            running_of_caller: 2,
            ..LIMITS
        };
        let (one, _) = begin(&tasks, "one", "c", limits);
        begin(&tasks, "two", "c", limits);
        assert!(tasks.add(&entry("three", "c"), "m-three", limits).is_err());
        let other = Entry::new("four".to_owned(), "c".to_owned(), "ben".into());
        assert!(tasks.add(&other, "m-four", limits).is_ok());
        reply(&one, "ok");
        assert!(tasks.add(&entry("three", "c"), "m-three", limits).is_ok());
    }
}
