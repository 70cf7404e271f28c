//! Work that runs only once, even if its task runs again.

use std::collections::HashSet;
use std::future::Future;

use langgraph_core::Lock;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{Context, OnceKey, TaskReport};
use crate::checkpoint::{Format as _, Json, OnceRecord};
use crate::error::{AgentError, CheckpointError, FormatError, NoRuntime, NodeError};
use crate::log::TaskPosition;

/// A key whose arguments have been hashed.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Key {
    name: String,
    hash: u64,
}

impl Key {
    fn of(key: impl Into<OnceKey>) -> Result<Self, NodeError> {
        let key = key.into();
        Ok(Self {
            hash: key.hash()?,
            name: key.name().to_owned(),
        })
    }
}

/// The work that a task has done once.
#[derive(Default)]
pub(super) struct OnceMemory(Lock<Known>);

#[derive(Default)]
struct Known {
    done: Vec<OnceRecord>,
    under_way: HashSet<String>,
}

impl OnceMemory {
    pub(super) fn new(done: Vec<OnceRecord>) -> Self {
        Self(Lock::new(Known {
            done,
            under_way: HashSet::new(),
        }))
    }

    /// Returns the result of the work, or the right to do it.
    fn begin(&self, key: &Key) -> Result<Begun<'_>, NodeError> {
        let mut known = self.0.lock();
        if let Some(done) = known.result(key)? {
            return Ok(Begun::Done(done));
        }
        if !known.under_way.insert(key.name.clone()) {
            let name = &key.name;
            return Err(NodeError::msg(format!(
                "`{name}` is under way already; each piece of work in a task needs a key of its own: in a loop, \
                 put the index into it, as in `(\"{name}\", index)`"
            )));
        }
        Ok(Begun::UnderWay(UnderWay {
            memory: self,
            name: key.name.clone(),
        }))
    }
}

impl Known {
    fn result(&self, key: &Key) -> Result<Option<String>, NodeError> {
        let Key { name, hash } = key;
        match self.done.iter().find(|record| record.key == *name) {
            None => Ok(None),
            Some(record) if record.arguments == *hash => Ok(Some(record.value.clone())),
            Some(_) => Err(NodeError::msg(format!(
                "`{name}` was done before with other arguments; work with other arguments needs a key of its own: \
                 in a loop, put the index into it, as in `(\"{name}\", index)`"
            ))),
        }
    }
}

enum Begun<'a> {
    Done(String),
    UnderWay(UnderWay<'a>),
}

/// Work in progress: until this is dropped, no other task starts it.
struct UnderWay<'a> {
    memory: &'a OnceMemory,
    name: String,
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        self.memory.0.lock().under_way.remove(&self.name);
    }
}

fn typed<T: DeserializeOwned>(key: &str, text: &str) -> Result<T, NodeError> {
    serde_json::from_str(text).map_err(|error| {
        NodeError::msg(format!(
            "what `{key}` gave before is not a `{}`: {error}",
            std::any::type_name::<T>()
        ))
    })
}

impl Context {
    /// Does work once. The result is stored with the task before it is returned, also under
    /// [`Durability::Async`](crate::checkpoint::Durability::Async); under `Exit`, when the run ends.
    /// A retry, a resume, or a new process after a crash gets the stored result and does not repeat
    /// the work.
    ///
    /// The [key](OnceKey) names the work within its task. In a loop, `("undo", index)` is a key of its own for each
    /// index. `OnceKey::new("charge").with(&order)` states the arguments of the work: the same key with other
    /// arguments is then an error. A failure is not stored: the work is repeated with the task. A crash between the end of the work and the acknowledgement of
    /// its record repeats the work, and so does a process that is paused in the middle of it for longer
    /// than its [lease](crate::thread::OnConflict) while another one takes the thread; one that was paused
    /// before finds out and does not begin. Pass the key on to a service that detects repetitions. Without
    /// a thread, the result lives as long as the run. Going back to an older checkpoint repeats the
    /// work.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::convert::Infallible;
    /// use std::sync::atomic::{AtomicU32, Ordering};
    /// use langgraph::prelude::*;
    /// use langgraph::node::OnceKey;
    ///
    /// static CHARGED: AtomicU32 = AtomicU32::new(0);
    ///
    /// async fn pay(total: &i64, cx: &Context) -> Result<i64, NodeError> {
    ///     let receipt: u32 = cx
    ///         .once(OnceKey::new("charge").with(total), async {
    ///             Ok::<_, Infallible>(CHARGED.fetch_add(1, Ordering::Relaxed) + 1)
    ///         })
    ///         .await?;
    ///     if cx.attempt() == 1 {
    ///         return Err(NodeError::msg("the mail server is away"));
    ///     }
    ///     Ok(i64::from(receipt))
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use langgraph::policy::RetryPolicy;
    ///
    /// let mut graph = StateGraph::<i64>::new();
    /// let retry = RetryPolicy::attempts(2).retry_on(|_| true).immediately();
    /// graph.add_node("pay", pay.retry(retry)).add_sequence(&["pay"]);
    /// graph.compile()?.invoke(100).await?;
    /// assert_eq!(CHARGED.load(Ordering::Relaxed), 1);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The error of the work. Also if the result cannot be stored, if the key was used with other
    /// [arguments](OnceKey::with), or if it is in use.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future drops the work; a result that is being stored is still stored.
    pub async fn once<T, E>(
        &self,
        key: impl Into<OnceKey>,
        work: impl Future<Output = Result<T, E>>,
    ) -> Result<T, NodeError>
    where
        T: Serialize + DeserializeOwned,
        E: Into<NodeError>,
    {
        let key = Key::of(key)?;
        let under_way = match self.once_memory().begin(&key)? {
            Begun::Done(text) => return typed(&key.name, &text),
            Begun::UnderWay(under_way) => under_way,
        };
        let (name, arguments) = (key.name, key.hash);
        // Check this first: the result of the work could not be stored.
        if let Some(place) = self.place() {
            NoRuntime::handle(|| format!("keeping that `{name}` has been done once"))?;
            place.check_new_work(&name).map_err(AgentError::from)?;
            self.check_lease(place).await?;
        }
        let value = work.await.map_err(Into::into)?;
        let text = Json
            .encode(&value)
            .and_then(|bytes| String::from_utf8(bytes).map_err(FormatError::new));
        let record = OnceRecord {
            value: text.map_err(|error| unwritable("the result of", &name, &error))?,
            key: name,
            arguments,
        };
        self.store_once(&record).await?;
        under_way.memory.0.lock().done.push(record);
        Ok(value)
    }

    /// Fails if another run has taken the thread while this process was paused.
    async fn check_lease(&self, place: &TaskPosition) -> Result<(), NodeError> {
        let mut held = Ok(());
        if let Some(guard) = &self.scope().shared.guard {
            held = guard.check_lease().await;
        }
        if held.is_ok() {
            held = place.check_holder().await;
        }
        held.map_err(|error| NodeError::from_agent(AgentError::from(error)))
    }

    /// Stores a result of work that runs once: in the log, or where the run is.
    async fn store_once(&self, record: &OnceRecord) -> Result<(), NodeError> {
        if let Some(reporter) = self.reporter() {
            return reporter.report(TaskReport::Once(record.clone())).await;
        }
        let Some(place) = self.place() else {
            return Ok(());
        };
        let name = &record.key;
        let runtime = NoRuntime::handle(|| format!("keeping that `{name}` has been done once"))?;
        // It is under way from here on, also if the task is dropped: the work is done.
        let stored = runtime.spawn(place.keep_once(record.clone()));
        let stored = stored.await.map_err(CheckpointError::storage).flatten();
        stored.map_err(|error| NodeError::from_agent(AgentError::from(error)))
    }

    /// Stores work that the task has done elsewhere.
    pub(crate) async fn keep_once(&self, record: OnceRecord) -> Result<(), NodeError> {
        let memory = self.once_memory();
        let key = Key {
            name: record.key.clone(),
            hash: record.arguments,
        };
        let done = memory.0.lock().result(&key)?;
        match done {
            Some(value) if value == record.value => Ok(()),
            Some(_) => Err(NodeError::msg(format!(
                "`{}` was done by two workers at the same time",
                record.key
            ))),
            None => {
                self.store_once(&record).await?;
                self.once_memory().0.lock().done.push(record);
                Ok(())
            }
        }
    }

    /// Returns the results of its work that runs once.
    pub(crate) fn once_records(&self) -> Vec<OnceRecord> {
        let memory = self.known_once();
        memory.map_or_else(Vec::new, |memory| memory.0.lock().done.clone())
    }

    /// Returns the result of work that [`once`](Self::once) has done, without doing it.
    ///
    /// # Errors
    ///
    /// If the key was used with other arguments, or if the result is not a `T`.
    pub fn once_result<T: DeserializeOwned>(
        &self,
        key: impl Into<OnceKey>,
    ) -> Result<Option<T>, NodeError> {
        let key = Key::of(key)?;
        let done = self.once_memory().0.lock().result(&key)?;
        done.map(|text| typed(&key.name, &text)).transpose()
    }

    /// Returns a key by which an outside service recognises a repetition of this task's work.
    ///
    /// The key is the same in every attempt of the task: after a retry, a resume, and in a new
    /// process after a crash. It differs in every other task: in another call, superstep or thread,
    /// and when the run starts again from an older checkpoint. Without a thread it lives as long as
    /// the run. It is the name of the key, `charge` or `undo/3`, followed by about 60 letters, digits, `-` and `:`.
    ///
    /// # Examples
    ///
    /// ```
    /// use langgraph::prelude::*;
    ///
    /// #[node]
    /// async fn pay(_: &String, cx: &Context) -> String {
    ///     // The header `Idempotency-Key` of the request.
    ///     cx.idempotency_key("charge")
    /// }
    /// # let _ = pay;
    /// ```
    pub fn idempotency_key(&self, key: impl Into<OnceKey>) -> String {
        format!("{}:{}", key.into().name(), self.task_identity())
    }

    /// As [`once`](Self::once), for a closure that is not async.
    ///
    /// # Errors
    ///
    /// As [`once`](Self::once).
    pub async fn once_with<T, E>(
        &self,
        key: impl Into<OnceKey>,
        work: impl FnOnce() -> Result<T, E>,
    ) -> Result<T, NodeError>
    where
        T: Serialize + DeserializeOwned,
        E: Into<NodeError>,
    {
        self.once(key, async { work() }).await
    }
}

fn unwritable(what: &str, key: &str, error: &FormatError) -> NodeError {
    NodeError::msg(format!("{what} `{key}` cannot be stored: {error}"))
}
