//! The routes of the interface. Bodies and answers are JSON, as the interface has them.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use reqwest::Method;
use serde_json::{Value, json};

use crate::{Client, ClientError, NewRun, RunStream};

type Answer = Result<Value, ClientError>;

/// All that is escaped in a segment of a path: everything but letters, digits and `-._~`.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// Returns an id as a segment of a path, so that it reaches no other route.
///
/// # Errors
///
/// [`ClientError::Id`] if no path can have it as a segment.
pub(crate) fn segment(id: &str) -> Result<String, ClientError> {
    match id {
        "" | "." | ".." => Err(ClientError::Id(id.to_owned())),
        _ => Ok(utf8_percent_encode(id, ESCAPED).to_string()),
    }
}

/// Returns the path of runs, with or without a thread.
pub(crate) fn runs(thread: Option<&str>) -> Result<String, ClientError> {
    Ok(match thread {
        Some(thread) => format!("/threads/{}/runs", segment(thread)?),
        None => "/runs".to_owned(),
    })
}

macro_rules! routes {
    ($($(#[$doc:meta])* $name:ident($($part:ident),* $(; $body:ident)?): $method:ident $path:literal;)*) => {
        /// The routes.
        ///
        /// # Errors
        ///
        /// All of them: [`ClientError::Refused`] with the status of the server, [`ClientError::Id`], and
        /// [`ClientError::Connection`].
        impl Client {$(
            $(#[$doc])*
            ///
            /// # Errors
            ///
            /// Those of every call.
            pub async fn $name(&self, $($part: &str,)* $($body: Value)?) -> Answer {
                $(let $part = segment($part)?;)*
                let path = format!($path);
                #[allow(unused_mut, unused_assignments)]
                let mut body: Option<Value> = None;
                $(body = Some($body);)?
                self.call(Method::$method, &path, body.as_ref()).await
            }
        )*}
    };
}

routes! {
    /// Creates an assistant.
    create_assistant(; body): POST "/assistants";
    /// Returns an assistant.
    assistant(assistant): GET "/assistants/{assistant}";
    /// Searches assistants.
    search_assistants(; body): POST "/assistants/search";
    /// Changes an assistant: a new version.
    update_assistant(assistant; body): PATCH "/assistants/{assistant}";
    /// Deletes an assistant.
    delete_assistant(assistant): DELETE "/assistants/{assistant}";
    /// Returns the nodes and edges of an assistant's graph.
    assistant_graph(assistant): GET "/assistants/{assistant}/graph";
    /// Returns the JSON Schemas of an assistant's graph.
    assistant_schemas(assistant): GET "/assistants/{assistant}/schemas";
    /// Creates a thread.
    create_thread(; body): POST "/threads";
    /// Returns a thread.
    thread(thread): GET "/threads/{thread}";
    /// Searches threads.
    search_threads(; body): POST "/threads/search";
    /// Changes the metadata of a thread.
    update_thread(thread; body): PATCH "/threads/{thread}";
    /// Deletes a thread.
    delete_thread(thread): DELETE "/threads/{thread}";
    /// Copies a thread.
    copy_thread(thread): POST "/threads/{thread}/copy";
    /// Returns the state of a thread.
    state(thread): GET "/threads/{thread}/state";
    /// Changes the state of a thread.
    update_state(thread; body): POST "/threads/{thread}/state";
    /// Returns the checkpoints of a thread, the newest first.
    history(thread; body): POST "/threads/{thread}/history";
    /// Lists the runs of a thread.
    runs(thread): GET "/threads/{thread}/runs";
    /// Returns a run.
    run(thread, run): GET "/threads/{thread}/runs/{run}";
    /// Deletes a run that has ended.
    delete_run(thread, run): DELETE "/threads/{thread}/runs/{run}";
    /// Creates a cron whose runs have no thread.
    create_cron(; body): POST "/runs/crons";
    /// Searches crons.
    search_crons(; body): POST "/runs/crons/search";
    /// Changes a cron.
    update_cron(cron; body): PATCH "/runs/crons/{cron}";
    /// Deletes a cron.
    delete_cron(cron): DELETE "/runs/crons/{cron}";
    /// Writes an item of the store.
    put_item(; body): PUT "/store/items";
    /// Deletes an item of the store.
    delete_item(; body): DELETE "/store/items";
    /// Searches items of the store.
    search_items(; body): POST "/store/items/search";
    /// Lists the namespaces of the store.
    namespaces(; body): POST "/store/namespaces";
}

impl Client {
    /// Starts a run in the background; without a thread, on one that lives as long as the run.
    ///
    /// # Errors
    ///
    /// Those of every call.
    pub async fn start(&self, thread: Option<&str>, run: &NewRun) -> Answer {
        self.call(Method::POST, &runs(thread)?, Some(&run.json()))
            .await
    }

    /// Runs, and returns the values at the end. A run that failed has them under `__error__`, and
    /// one that is interrupted has `__interrupt__`. If the connection breaks, or the server stops meanwhile, the run is
    /// joined, unless its `on_disconnect` is `cancel`.
    ///
    /// # Errors
    ///
    /// Those of every call.
    pub async fn wait(&self, thread: Option<&str>, run: &NewRun) -> Answer {
        let path = format!("{}/wait", runs(thread)?);
        self.run_and_wait(&path, &run.json()).await
    }

    /// Runs, and streams the events.
    ///
    /// # Errors
    ///
    /// Those of every call.
    pub async fn stream(
        &self,
        thread: Option<&str>,
        run: &NewRun,
    ) -> Result<RunStream, ClientError> {
        RunStream::start(self.clone(), thread, run).await
    }

    /// Waits for the end of a run, and returns the values. If the connection breaks, or the server stops meanwhile, the
    /// run is joined again, a few times.
    ///
    /// # Errors
    ///
    /// Those of every call.
    pub async fn join(&self, thread: &str, run: &str) -> Answer {
        let path = format!("{}/{}/join", runs(Some(thread))?, segment(run)?);
        self.join_at(&path).await
    }

    /// Cancels a run, and waits for its end.
    ///
    /// # Errors
    ///
    /// Those of every call.
    pub async fn cancel(&self, thread: &str, run: &str) -> Answer {
        let path = format!("{}/{}/cancel?wait=1", runs(Some(thread))?, segment(run)?);
        self.call_and_wait(Method::POST, &path, None).await
    }

    /// Streams an existing run, after the event `last`; `-1` for all that are stored.
    ///
    /// # Errors
    ///
    /// Those of every call.
    pub async fn join_stream(
        &self,
        thread: &str,
        run: &str,
        last: Option<&str>,
    ) -> Result<RunStream, ClientError> {
        RunStream::join(self.clone(), thread, run, last.map(str::to_owned)).await
    }

    /// Returns an item of the store.
    ///
    /// # Errors
    ///
    /// Those of every call.
    pub async fn item(&self, namespace: &[&str], key: &str) -> Answer {
        let encoded = |text: &str| utf8_percent_encode(text, ESCAPED).to_string();
        let path = format!(
            "/store/items?namespace={}&key={}",
            encoded(&query_of(namespace)),
            encoded(key)
        );
        match self.call(Method::GET, &path, None).await? {
            Value::Null => Err(ClientError::Refused {
                status: 404,
                detail: "Item not found".to_owned(),
            }),
            item => Ok(item),
        }
    }
}

/// Returns a namespace as the address of an item names it. A list is for labels that the usual form has no place for.
fn query_of(namespace: &[&str]) -> String {
    let is_usual =
        |label: &&str| !(label.is_empty() || label.contains('.') || label.starts_with('['));
    if namespace.iter().all(is_usual) {
        return namespace.join(".");
    }
    json!(namespace).to_string()
}
