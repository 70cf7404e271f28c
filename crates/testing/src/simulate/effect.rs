//! Effects on the world outside the graph.

use serde::Serialize;

use super::event::Effect;
use super::world::current;

/// Records an effect on the world outside the graph: a payment, a mail, a row in a database. A node
/// calls it, or the service that stands in for the real one in tests. Outside a simulation it does
/// nothing.
///
/// The simulated process may crash right after an effect.
///
/// # Examples
///
/// ```
/// use langgraph::prelude::*;
/// use langgraph_testing::simulate::effect;
///
/// #[node]
/// async fn mail(to: &String) {
///     effect("mail", to);
/// }
/// # let _ = mail;
/// ```
pub fn effect(name: &str, detail: impl Serialize) {
    record(name, None, &detail);
}

/// Records an effect of a service that recognises repetitions by a key: a second effect with this key
/// does not happen, and is marked as [repeated](Effect::repeated). Returns false for it.
///
/// # Examples
///
/// ```
/// use langgraph::prelude::*;
/// use langgraph_testing::simulate::keyed_effect;
///
/// #[node]
/// async fn pay(cents: &u64, cx: &Context) {
///     keyed_effect("charge", &cx.idempotency_key("charge"), cents);
/// }
/// # let _ = pay;
/// ```
pub fn keyed_effect(name: &str, key: &str, detail: impl Serialize) -> bool {
    record(name, Some(key.to_owned()), &detail)
}

fn record(name: &str, key: Option<String>, detail: &impl Serialize) -> bool {
    let Some(world) = current() else {
        return true;
    };
    let unwritable = |error: serde_json::Error| error.to_string().into();
    world.effect(Effect {
        name: name.to_owned(),
        detail: serde_json::to_value(detail).unwrap_or_else(unwritable),
        key,
        repeated: false,
    })
}
