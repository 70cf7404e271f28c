//! Is a history that of one thread? Each operation has to take effect at one moment between its beginning and its end.
//! The search is that of `todc-utils` (Wing, Gong and Lowe), which knows nothing of this project; here is what it has to
//! know of a thread.

use std::sync::mpsc;
use std::time::Duration;

use todc_utils::linearizability::WGLChecker;
use todc_utils::linearizability::history::{Action, History};
use todc_utils::specifications::Specification;

use crate::history::{Answer, Call, Operation};

/// How long the search for an order may take: most take milliseconds.
const LIMIT: Duration = Duration::from_secs(60);

/// A thread to which one operation happens after the other.
struct OneThread;

impl Specification for OneThread {
    type State = Vec<u64>;
    type Operation = (Operation, Answer);

    fn init() -> Self::State {
        Vec::new()
    }

    fn apply((operation, answer): &Self::Operation, entries: &Self::State) -> (bool, Self::State) {
        let after = match operation {
            Operation::Add(entry) => [entries.as_slice(), &[*entry]].concat(),
            Operation::Read => entries.clone(),
            Operation::Rewind(entries) => entries.clone(),
            Operation::Delete => Vec::new(),
        };
        let valid = match answer {
            Answer::Done => true,
            Answer::Entries(given) => *given == after,
        };
        (valid, after)
    }
}

/// Checks the calls of one thread.
pub(crate) fn check(calls: &[Call]) -> Result<(), String> {
    let mut moments = Vec::new();
    for (index, call) in calls.iter().enumerate() {
        // Each call counts as a process of its own: the times say which came after which.
        let Some((ended, answer)) = end(call, calls) else {
            continue;
        };
        let operation = (call.operation.clone(), answer);
        moments.push((call.began, false, index, operation.clone()));
        moments.push((ended, true, index, operation));
    }
    if moments.is_empty() {
        return Ok(());
    }
    // What begins in the moment in which another one ends runs beside it.
    moments.sort_by_key(|(time, ends, index, _)| (*time, *ends, *index));
    let actions = moments.into_iter().map(|(_, ends, index, operation)| {
        let action = if ends { Action::Response } else { Action::Call };
        (index, action(operation))
    });
    let history = History::from_actions(actions.collect());
    let (done, result) = mpsc::channel();
    std::thread::spawn(move || done.send(WGLChecker::<OneThread>::is_linearizable(history)));
    match result.recv_timeout(LIMIT) {
        Ok(true) => Ok(()),
        Ok(false) => Err("no order of the operations explains what was answered".to_owned()),
        Err(_) => Err("no order of the operations was found in time".to_owned()),
    }
}

/// When an operation had taken effect, and what it answered. An operation with an unknown end has taken effect when its
/// entry is seen; `None` if it never is: then no answer depends on it.
fn end(call: &Call, calls: &[Call]) -> Option<(Duration, Answer)> {
    if let Some(ended) = &call.ended {
        return Some(ended.clone());
    }
    let Operation::Add(entry) = call.operation else {
        return None;
    };
    let seen = calls.iter().filter_map(|other| {
        let (ended, answer) = other.ended.as_ref()?;
        let ((Answer::Entries(shown), _) | (_, Operation::Rewind(shown))) =
            (answer, &other.operation)
        else {
            return None;
        };
        shown.contains(&entry).then_some(*ended)
    });
    Some((seen.min()?, Answer::Done))
}
