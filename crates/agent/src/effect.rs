//! Work that changes the world outside, at most once.

mod decision;
mod on_unknown;
mod request;
mod unknown_outcome;

use std::convert::Infallible;
use std::fmt;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::clock::now_ms;
use langgraph::error::NodeError;
use langgraph::node::{Context, OnceKey};

pub use decision::EffectDecision;
pub use on_unknown::OnUnknown;
pub use request::EffectRequest;
pub use unknown_outcome::UnknownOutcome;

/// Work that changes the world outside: a payment, a mail, an order.
///
/// [`Context::once`] does work once, unless the program dies between the end of the work and its
/// record. An effect also stores its intent, before the work begins. So a later attempt knows that
/// the work may have happened, and [`on_unknown`](Self::on_unknown) says what it does then.
///
/// An error of the work means that it did not happen: it is repeated with the task. If some errors
/// leave that open, such as a timeout, [`unknown_if`](Self::unknown_if) names them.
///
/// The intent is stored first only under [`Durability::Sync`], the default.
///
/// [`Durability::Sync`]: langgraph::checkpoint::Durability::Sync
///
/// # Examples
///
/// ```
/// use langgraph::prelude::*;
/// use langgraph_agent::{EffectExt, OnUnknown};
///
/// # struct Bank;
/// # impl Bank {
/// #     async fn charge(&self, _: u64, key: &str) -> Result<String, std::io::Error> {
/// #         Ok(format!("receipt {}", &key[..6]))
/// #     }
/// # }
/// #[derive(State, Clone, Debug, Default)]
/// struct Order {
///     cents: u64,
///     receipt: String,
/// }
///
/// #[node]
/// async fn pay(order: &Order, cx: &Context) -> Result<OrderUpdate, NodeError> {
///     let bank = cx.resource::<Bank>()?;
///     let receipt = cx
///         .effect("charge")
///         .with(&order.cents)
///         .on_unknown(OnUnknown::Ask)
///         .run(|key| async move { bank.charge(order.cents, &key).await })
///         .await?;
///     Ok(OrderUpdate::default().receipt(receipt))
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # use std::sync::Arc;
/// let graph = graph! { START => pay => END }.compile()?.resource(Arc::new(Bank));
/// let order = graph.invoke(OrderUpdate::default().cents(500)).await?;
/// assert_eq!(order.receipt, "receipt charge");
/// # Ok(())
/// # }
/// ```
#[must_use = "an effect does nothing until it is run"]
pub struct Effect<'a> {
    cx: &'a Context,
    key: OnceKey,
    on_unknown: OnUnknown,
    #[allow(clippy::type_complexity)]
    unknown_if: Option<Box<dyn Fn(&NodeError) -> bool + Send + Sync + 'a>>,
}

/// Starts an [`Effect`] in a node or a tool.
pub trait EffectExt {
    /// Names an effect, with a key as [`Context::once`] takes it: in a loop, `cx.effect(("undo", index))`.
    fn effect(&self, key: impl Into<OnceKey>) -> Effect<'_>;
}

impl EffectExt for Context {
    fn effect(&self, key: impl Into<OnceKey>) -> Effect<'_> {
        Effect::new(self, key.into())
    }
}

impl<'a> Effect<'a> {
    pub(crate) fn new(cx: &'a Context, key: OnceKey) -> Self {
        Self {
            cx,
            key,
            on_unknown: OnUnknown::default(),
            unknown_if: None,
        }
    }

    /// States the arguments of the work, as [`OnceKey::with`] does. The person who is asked sees them, and the same
    /// effect with other arguments is an error.
    pub fn with(mut self, arguments: &(impl Serialize + ?Sized)) -> Self {
        self.key = self.key.with(arguments);
        self
    }

    /// Sets what happens if it is unknown whether the work has happened.
    pub fn on_unknown(mut self, policy: OnUnknown) -> Self {
        self.on_unknown = policy;
        self
    }

    /// Names the errors of the work after which it is unknown whether it has happened.
    pub fn unknown_if(mut self, unknown: impl Fn(&NodeError) -> bool + Send + Sync + 'a) -> Self {
        self.unknown_if = Some(Box::new(unknown));
        self
    }

    /// Does the work, or returns the result of an earlier attempt. `work` gets the
    /// [idempotency key](Context::idempotency_key) of the effect.
    ///
    /// # Errors
    ///
    /// The error of the work; [`UnknownOutcome`] under [`OnUnknown::Fail`], or if the person chose
    /// [`EffectDecision::Fail`]; an interrupt under [`OnUnknown::Ask`]. Also as [`Context::once`].
    ///
    /// # Cancel safety
    ///
    /// Dropping the future drops the work, and leaves its outcome unknown.
    pub async fn run<T, E, F>(self, work: impl FnOnce(String) -> F) -> Result<T, NodeError>
    where
        T: Serialize + DeserializeOwned,
        E: Into<NodeError>,
        F: Future<Output = Result<T, E>>,
    {
        let name = self.key.name().to_owned();
        let arguments = self.key.arguments()?.unwrap_or(Value::Null);
        self.cx
            .once(self.key.clone(), async {
                let attempt = match self.begin::<T>(&name, &arguments).await? {
                    Begun::Attempt(attempt) => attempt,
                    Begun::Done(value) => {
                        return serde_json::from_value(value).map_err(|error| {
                            NodeError::msg(format!(
                                "the given result of `{name}` is wrong: {error}"
                            ))
                        });
                    }
                };
                match work(self.cx.idempotency_key(name.as_str()))
                    .await
                    .map_err(Into::into)
                {
                    Ok(value) => Ok(value),
                    Err(error) => {
                        let unknown = self.unknown_if.as_ref();
                        if !unknown.is_some_and(|unknown| unknown(&error)) {
                            self.settle(&name, attempt).await?;
                        }
                        Err(error)
                    }
                }
            })
            .await
    }

    /// Stores the intent of the next attempt, after the policy has settled an earlier one.
    async fn begin<T: DeserializeOwned>(
        &self,
        name: &str,
        arguments: &Value,
    ) -> Result<Begun, NodeError> {
        let mut attempt = 0;
        while self
            .cx
            .once_result::<bool>(settled(name, attempt))?
            .is_some()
        {
            attempt += 1;
        }
        loop {
            let mut is_new = false;
            let intent = format!("{name}/intent/{attempt}");
            let began_at: u64 = self
                .cx
                .once(OnceKey::new(intent).with(arguments), async {
                    is_new = true;
                    Ok::<_, Infallible>(now_ms())
                })
                .await?;
            if is_new {
                return Ok(Begun::Attempt(attempt));
            }
            let unknown = || UnknownOutcome::new(name, self.cx.idempotency_key(name));
            match self.on_unknown {
                OnUnknown::RunAgain => {}
                OnUnknown::Fail => return Err(unknown().into()),
                OnUnknown::Ask => {
                    let request = EffectRequest {
                        effect: name.to_owned(),
                        arguments: arguments.clone(),
                        idempotency_key: self.cx.idempotency_key(name),
                        began_at,
                    };
                    let key = match attempt {
                        0 => name.to_owned(),
                        again => format!("{name}#{again}"),
                    };
                    match self
                        .cx
                        .interrupt_checked(&key, &request, EffectDecision::check::<T>)?
                    {
                        EffectDecision::RunAgain => {}
                        EffectDecision::Done { result } => return Ok(Begun::Done(result)),
                        EffectDecision::Fail => return Err(unknown().into()),
                    }
                }
            }
            self.settle(name, attempt).await?;
            attempt += 1;
        }
    }

    /// Stores that the outcome of an attempt is known, or does not matter any more.
    async fn settle(&self, name: &str, attempt: u32) -> Result<(), NodeError> {
        let done = || Ok::<_, Infallible>(true);
        self.cx.once_with(settled(name, attempt), done).await?;
        Ok(())
    }
}

/// What an attempt begins with.
enum Begun {
    /// The work, in the attempt of that number.
    Attempt(u32),
    /// The result, which a person gave.
    Done(Value),
}

fn settled(name: &str, attempt: u32) -> String {
    format!("{name}/settled/{attempt}")
}

impl fmt::Debug for Effect<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Effect")
            .field("key", &self.key)
            .field("on_unknown", &self.on_unknown)
            .finish_non_exhaustive()
    }
}
