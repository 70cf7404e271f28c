//! Time and randomness that a task keeps when it runs again.

use std::convert::Infallible;
use std::future::Future;
use std::time::SystemTime;

use serde::Serialize;
use serde::de::DeserializeOwned;
use uuid::{Builder, Uuid};

use super::Context;
use crate::environment;
use crate::error::NodeError;
use crate::log::random;

impl Context {
    /// Returns the time, recorded: when the task runs again, after an interrupt, a failure or a crash, the call
    /// returns the time that it returned before.
    ///
    /// The order of the calls identifies them: of this method, [`random`](Self::random) and [`uuid`](Self::uuid)
    /// together. Calls whose order depends on what ends first use [`once`](Self::once), whose work has a key.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::{Duration, SystemTime};
    /// use langgraph::prelude::*;
    ///
    /// /// Waits for an answer; the limit does not move when the node runs again.
    /// async fn ask(_: &String, cx: &Context) -> Result<String, NodeError> {
    ///     let limit = cx.now().await? + Duration::from_secs(3600);
    ///     let answer: String = cx.interrupt("which", "until then")?;
    ///     Ok(if SystemTime::now() < limit { answer } else { "late".to_owned() })
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # use std::sync::Arc;
    /// # use langgraph::checkpoint::MemorySaver;
    /// let mut graph = StateGraph::<String>::new();
    /// graph.add_node("ask", ask).add_sequence(&["ask"]);
    /// let graph = graph.compile()?.checkpointer(Arc::new(MemorySaver::new()));
    /// let thread = graph.thread("t");
    /// thread.run(String::new()).await?;
    /// assert_eq!(thread.resume("which", "this").await?.finished()?, "this");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// As [`once`](Self::once).
    pub fn now(&self) -> impl Future<Output = Result<SystemTime, NodeError>> {
        self.recorded("cx.now", environment::now)
    }

    /// Returns a random number, recorded as [`now`](Self::now) records the time. It may be the seed of a
    /// generator.
    ///
    /// # Examples
    ///
    /// ```
    /// use langgraph::prelude::*;
    ///
    /// async fn roll(_: &u64, cx: &Context) -> Result<u64, NodeError> {
    ///     Ok(cx.random().await? % 6 + 1)
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let mut graph = StateGraph::<u64>::new();
    /// graph.add_node("roll", roll).add_sequence(&["roll"]);
    /// assert!((1..=6).contains(&graph.compile()?.invoke(0).await?));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// As [`once`](Self::once).
    pub fn random(&self) -> impl Future<Output = Result<u64, NodeError>> {
        self.recorded("cx.random", random)
    }

    /// Returns a random UUID, recorded as [`now`](Self::now) records the time. It is of version 4.
    ///
    /// # Examples
    ///
    /// ```
    /// use langgraph::prelude::*;
    ///
    /// async fn order(_: &String, cx: &Context) -> Result<String, NodeError> {
    ///     Ok(cx.uuid().await?.to_string())
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let mut graph = StateGraph::<String>::new();
    /// graph.add_node("order", order).add_sequence(&["order"]);
    /// assert_eq!(graph.compile()?.invoke(String::new()).await?.len(), 36);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// As [`once`](Self::once).
    pub fn uuid(&self) -> impl Future<Output = Result<Uuid, NodeError>> {
        self.recorded("cx.uuid", || {
            let bytes = u128::from(random()) << 64 | u128::from(random());
            Builder::from_random_bytes(bytes.to_be_bytes()).into_uuid()
        })
    }

    fn recorded<T: Serialize + DeserializeOwned>(
        &self,
        name: &'static str,
        value: impl FnOnce() -> T,
    ) -> impl Future<Output = Result<T, NodeError>> {
        let number = self.next_recorded();
        self.once_with((name, number), move || Ok::<_, Infallible>(value()))
    }
}
