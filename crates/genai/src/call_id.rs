//! Ids of calls of tools.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

use genai::chat::ToolCall as Call;
use langgraph::environment;

/// The last number of a call.
static LAST: AtomicU64 = AtomicU64::new(0);

/// Returns the id that genai has made for a call that came without one, up to its number: `call#name#`. It counts anew
/// in each answer, and in each piece of a stream, so that it is no id.
fn made(call: &Call) -> Option<String> {
    let start = format!("call#{}#", call.fn_name);
    let number = call.call_id.strip_prefix(&start)?;
    number.parse::<usize>().is_ok().then_some(start)
}

/// Returns true if genai has made the id of the call.
pub(crate) fn is_made(call: &Call) -> bool {
    made(call).is_some()
}

/// Returns the id of a call: that of the provider, or one that no other call has. It has the form of genai's own, which
/// sends these to no provider.
pub(crate) fn of(call: &Call) -> String {
    let Some(start) = made(call) else {
        return call.call_id.clone();
    };
    let since = environment::now().duration_since(SystemTime::UNIX_EPOCH);
    let nanos = u64::try_from(since.unwrap_or_default().as_nanos()).unwrap_or_default();
    let next = |last: u64| Some(nanos.max(last.wrapping_add(1)));
    let update = LAST.fetch_update(Ordering::Relaxed, Ordering::Relaxed, next);
    let number = update.ok().and_then(next).unwrap_or(nanos);
    format!("{start}{number}")
}
