//! Waiting in a node.

use std::time::SystemTime;

use langgraph::Context;
use langgraph::error::Interrupted;
use serde::de::DeserializeOwned;

use crate::wait::{End, Question};

/// Waiting, for the [`Context`] of a node.
pub trait WaitExt {
    /// Pauses the task until `time`.
    ///
    /// The first call returns an error that the node passes on with `?`: the run ends as paused.
    /// When the thread is woken, the node starts again, and the call returns. The node may then
    /// compute another time, which counts no more: a sleep is known by its place among the calls
    /// without a name, as that of
    /// [`interrupt_next`](Context::interrupt_next) is. A time that has passed is due at once; one after the
    /// year 9999 never comes.
    ///
    /// # Errors
    ///
    /// [`Interrupted`] until the thread is woken. Without a checkpointer nothing can wait: the node
    /// fails.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::{Duration, SystemTime};
    /// use langgraph::prelude::*;
    /// use langgraph_wait::WaitExt;
    ///
    /// #[node]
    /// async fn cool_down(_: &String, cx: &Context) -> Result<(), NodeError> {
    ///     cx.sleep_until(SystemTime::now() + Duration::from_secs(24 * 3600))?;
    ///     Ok(())
    /// }
    /// # let _ = cool_down;
    /// ```
    #[doc(alias = "sleep")]
    #[doc(alias = "wait_until")]
    fn sleep_until(&self, time: SystemTime) -> Result<(), Interrupted>;

    /// Pauses the task until `event` is reported with its payload, or until the deadline has
    /// passed: then it returns `None`. Without a deadline (`None`) it waits for ever.
    ///
    /// The event is the key of the interrupt, so the events of one task must differ from each other
    /// and from its other keys. An event that comes before the wait is kept if its sender asks for it:
    /// [`signal_or_keep`](crate::WakeExt::signal_or_keep).
    ///
    /// # Errors
    ///
    /// As [`sleep_until`](Self::sleep_until). A payload that is not a `T` is refused: the
    /// sender gets the error, and the node waits on.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::{Duration, SystemTime};
    /// use langgraph::prelude::*;
    /// use langgraph_wait::WaitExt;
    ///
    /// #[node]
    /// async fn collect(_: &String, cx: &Context) -> Result<String, NodeError> {
    ///     let week = SystemTime::now() + Duration::from_secs(7 * 24 * 3600);
    ///     Ok(match cx.wait_for::<u32>("paid", week)? {
    ///         Some(cents) => format!("{cents} cents"),
    ///         None => "late".to_owned(),
    ///     })
    /// }
    /// # let _ = collect;
    /// ```
    #[doc(alias = "wait")]
    fn wait_for<T: DeserializeOwned>(
        &self,
        event: &str,
        deadline: impl Into<Option<SystemTime>>,
    ) -> Result<Option<T>, Interrupted>;

    /// As [`wait_for`](Self::wait_for), for the first of several events.
    ///
    /// # Errors
    ///
    /// As [`wait_for`](Self::wait_for).
    ///
    /// # Examples
    ///
    /// ```
    /// use langgraph::prelude::*;
    /// use langgraph_wait::WaitExt;
    ///
    /// #[node]
    /// async fn order(_: &String, cx: &Context) -> Result<String, NodeError> {
    ///     Ok(match cx.wait_for_one_of::<u32>(&["paid", "cancelled"], None)? {
    ///         Some(event) if event.name == "paid" => format!("{} cents", event.payload),
    ///         _ => "cancelled".to_owned(),
    ///     })
    /// }
    /// # let _ = order;
    /// ```
    fn wait_for_one_of<T: DeserializeOwned>(
        &self,
        events: &[&str],
        deadline: impl Into<Option<SystemTime>>,
    ) -> Result<Option<Event<T>>, Interrupted>;
}

/// An event that has come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event<T> {
    /// Its name.
    pub name: String,
    /// What it was reported with.
    pub payload: T,
}

impl WaitExt for Context {
    fn sleep_until(&self, time: SystemTime) -> Result<(), Interrupted> {
        let _: End<()> = self.interrupt_next(&Question::new(Some(time), &[]))?;
        Ok(())
    }

    fn wait_for<T: DeserializeOwned>(
        &self,
        event: &str,
        deadline: impl Into<Option<SystemTime>>,
    ) -> Result<Option<T>, Interrupted> {
        let event = self.wait_for_one_of(&[event], deadline)?;
        Ok(event.map(|event| event.payload))
    }

    fn wait_for_one_of<T: DeserializeOwned>(
        &self,
        events: &[&str],
        deadline: impl Into<Option<SystemTime>>,
    ) -> Result<Option<Event<T>>, Interrupted> {
        let question = Question::new(deadline.into(), events);
        let key = events.join(" or ");
        let event = |name, payload| Some(Event { name, payload });
        Ok(match self.interrupt(&key, &question)? {
            End::Time => None,
            End::Event(payload) => event(key, payload),
            End::OneOf(name, payload) => event(name, payload),
        })
    }
}
