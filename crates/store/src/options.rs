//! The settings of a store, and the preparation of batches.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::Value;

use crate::embed::embed;
use crate::{
    Clock, Delete, Embedder, FieldPath, Indexing, ListNamespaces, Namespace, Op, Search,
    StoreError, SystemClock, Ttl,
};

/// The settings of a store; the same for every store.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use langgraph_store::{HashingEmbedder, MemoryStore, StoreOptions};
///
/// let month = Duration::from_secs(30 * 24 * 3600);
/// let options = StoreOptions::default()
///     .ttl(month)
///     .embedder(HashingEmbedder::new(256))
///     .fields(["title", "chapters[*].text"]);
/// let store = MemoryStore::with(options);
/// ```
#[derive(Clone)]
pub struct StoreOptions {
    ttl: Option<Duration>,
    refresh_on_read: bool,
    embedder: Option<Arc<dyn Embedder>>,
    fields: Vec<FieldPath>,
    clock: Arc<dyn Clock>,
}

impl Default for StoreOptions {
    fn default() -> Self {
        Self {
            ttl: None,
            refresh_on_read: true,
            embedder: None,
            fields: vec![FieldPath::whole()],
            clock: Arc::new(SystemClock),
        }
    }
}

impl StoreOptions {
    /// Sets the default time to live of items; without it, items do not expire.
    #[must_use]
    pub fn ttl(mut self, ttl: Duration) -> Self {
        self.ttl = Some(ttl);
        self
    }

    /// Sets whether reading an item restarts its time to live; the default is true.
    #[must_use]
    pub fn refresh_on_read(mut self, refresh: bool) -> Self {
        self.refresh_on_read = refresh;
        self
    }

    /// Sets the embedder of values and queries, for searches by meaning. Existing values are not
    /// embedded; store them again.
    #[must_use]
    pub fn embedder(mut self, embedder: impl Embedder) -> Self {
        self.embedder = Some(Arc::new(embedder));
        self
    }

    /// As [`embedder`](Self::embedder), for a shared one.
    #[must_use]
    pub fn shared_embedder(mut self, embedder: Arc<dyn Embedder>) -> Self {
        self.embedder = Some(embedder);
        self
    }

    /// Returns true if there is an embedder.
    pub fn has_embedder(&self) -> bool {
        self.embedder.is_some()
    }

    /// Sets which fields of a value are embedded, each on its own; the default is the whole value.
    /// A text field is embedded as it is, any other as JSON; missing, null and blank fields are
    /// skipped. The score of an item is that of its best field.
    #[must_use]
    pub fn fields<T: Into<FieldPath>>(mut self, fields: impl IntoIterator<Item = T>) -> Self {
        self.fields = fields.into_iter().map(Into::into).collect();
        self
    }

    /// Sets the clock for expiry; the default is [`SystemClock`], which tests can pause.
    #[must_use]
    pub fn clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = clock;
        self
    }

    /// Returns the time in microseconds since 1970, the precision of stores.
    pub fn now(&self) -> i64 {
        let since = self.clock.now().duration_since(UNIX_EPOCH);
        i64::try_from(since.unwrap_or_default().as_micros()).unwrap_or(i64::MAX)
    }

    /// Converts a time of [`now`](Self::now).
    pub fn time(micros: i64) -> SystemTime {
        let since = Duration::from_micros(u64::try_from(micros).unwrap_or(0));
        UNIX_EPOCH.checked_add(since).unwrap_or(UNIX_EPOCH)
    }

    /// Prepares a batch, as every store does first: checks it, fills in the store's settings, and
    /// embeds all values in one call and all queries in another.
    ///
    /// # Errors
    ///
    /// If an operation is invalid, or the embedder fails.
    pub async fn prepare(&self, ops: Vec<Op>) -> Result<Vec<Prepared>, StoreError> {
        for op in &ops {
            check(op)?;
        }
        let mut texts = Vec::new();
        let mut queries = Vec::new();
        let mut prepared = Vec::with_capacity(ops.len());
        for op in ops {
            prepared.push(self.resolve(op, &mut texts, &mut queries)?);
        }
        if let Some(embedder) = &self.embedder {
            let mut texts = embed(&**embedder, &texts, false).await?.into_iter();
            let mut queries = embed(&**embedder, &queries, true).await?.into_iter();
            for prepared in &mut prepared {
                match prepared {
                    Prepared::Put { vectors, .. } => {
                        for vector in vectors {
                            *vector = texts.next().unwrap_or_default();
                        }
                    }
                    Prepared::Search {
                        vector: Some(vector),
                        ..
                    } => *vector = queries.next().unwrap_or_default(),
                    _ => {}
                }
            }
        }
        Ok(prepared)
    }

    /// Returns the operation without its vectors, and reserves their places.
    fn resolve(
        &self,
        op: Op,
        texts: &mut Vec<String>,
        queries: &mut Vec<String>,
    ) -> Result<Prepared, StoreError> {
        let refresh = |wanted: Option<bool>| wanted.unwrap_or(self.refresh_on_read);
        Ok(match op {
            Op::Get(get) => Prepared::Get {
                namespace: get.namespace,
                key: get.key,
                refresh: refresh(get.refresh),
            },
            Op::Put(put) => {
                let before = texts.len();
                if self.embedder.is_some() {
                    let fields = match &put.indexing {
                        Indexing::Default => self.fields.as_slice(),
                        Indexing::Off => &[],
                        Indexing::Fields(fields) => fields,
                    };
                    for field in fields {
                        field.segments()?;
                        texts.extend(field.find(&put.value).into_iter().filter_map(text));
                    }
                }
                let ttl = match put.ttl {
                    Ttl::Default => self.ttl,
                    Ttl::Never => None,
                    Ttl::After(ttl) => Some(ttl),
                };
                if ttl.is_some_and(|ttl| ttl.is_zero()) {
                    return Err(StoreError::InvalidTtl);
                }
                // A time to live that is too long to store means no expiry.
                let ttl = ttl.and_then(|ttl| i64::try_from(ttl.as_micros()).ok());
                Prepared::Put {
                    namespace: put.namespace,
                    key: put.key,
                    value: put.value,
                    ttl: ttl.map(|ttl| ttl.max(1)),
                    vectors: vec![Vec::new(); texts.len() - before],
                }
            }
            Op::Delete(delete) => Prepared::Delete(delete),
            Op::Search(search) => {
                let vector = match &search.query {
                    None => None,
                    Some(_) if self.embedder.is_none() => return Err(StoreError::NoEmbedder),
                    Some(query) => {
                        queries.push(query.clone());
                        Some(Vec::new())
                    }
                };
                Prepared::Search {
                    refresh: refresh(search.refresh),
                    search,
                    vector,
                }
            }
            Op::ListNamespaces(list) => Prepared::ListNamespaces(list),
        })
    }
}

/// A checked operation, with everything that a store needs to execute it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Prepared {
    /// Reads an item.
    #[allow(missing_docs)]
    Get {
        namespace: Namespace,
        key: String,
        /// Whether the read restarts its time to live.
        refresh: bool,
    },
    /// Stores a value.
    #[allow(missing_docs)]
    Put {
        namespace: Namespace,
        key: String,
        value: Value,
        /// Its time to live in microseconds; `None` means no expiry.
        ttl: Option<i64>,
        /// Its embeddings, of length 1.
        vectors: Vec<Vec<f32>>,
    },
    /// Removes an item.
    Delete(Delete),
    /// Finds items.
    #[allow(missing_docs)]
    Search {
        search: Search,
        /// Whether the search restarts their time to live.
        refresh: bool,
        /// The embedding of the query, of length 1.
        vector: Option<Vec<f32>>,
    },
    /// Lists namespaces.
    ListNamespaces(ListNamespaces),
}

fn check(op: &Op) -> Result<(), StoreError> {
    match op {
        Op::Get(get) => check_key(&get.namespace, &get.key),
        Op::Put(put) => {
            check_key(&put.namespace, &put.key)?;
            if let Some(problem) = unwritable(&put.value, MAX_DEPTH) {
                return Err(StoreError::InvalidValue {
                    namespace: put.namespace.clone(),
                    key: put.key.clone(),
                    problem: problem.to_owned(),
                });
            }
            match &put.indexing {
                Indexing::Fields(fields) => {
                    fields.iter().try_for_each(|path| path.segments().map(drop))
                }
                _ => Ok(()),
            }
        }
        Op::Delete(delete) => check_key(&delete.namespace, &delete.key),
        Op::Search(search) => {
            search.prefix.check_labels()?;
            if search.query.is_none() && search.min_score.is_some() {
                return Err(StoreError::InvalidSearch(
                    "`min_score` needs a `query`; there is no score without one",
                ));
            }
            search.filter.as_ref().map_or(Ok(()), super::Filter::check)
        }
        Op::ListNamespaces(_) => Ok(()),
    }
}

fn check_key(namespace: &Namespace, key: &str) -> Result<(), StoreError> {
    namespace.check()?;
    let problem = if key.is_empty() {
        "it is empty"
    } else if key.len() > MAX_BYTES {
        "it has more than 1,024 bytes"
    } else if key.contains('\0') {
        "it holds the character NUL"
    } else {
        return Ok(());
    };
    Err(StoreError::InvalidKey {
        namespace: namespace.clone(),
        key: key.to_owned(),
        problem,
    })
}

/// The most bytes in a key, and in a namespace: an index of every database holds both.
pub(crate) const MAX_BYTES: usize = 1_024;

/// How many nested values `serde_json` reads.
const MAX_DEPTH: usize = 127;

/// Returns why a database cannot hold a value, given how many more levels may be nested.
fn unwritable(value: &Value, depth: usize) -> Option<&'static str> {
    let inside = |value: &Value| unwritable(value, depth.saturating_sub(1));
    match value {
        Value::Array(_) | Value::Object(_) if depth == 0 => {
            Some("more than 127 values are inside each other, which JSON does not read")
        }
        Value::String(text) => with_nul(text),
        Value::Array(array) => array.iter().find_map(inside),
        Value::Object(object) => object
            .iter()
            .find_map(|(key, value)| with_nul(key).or_else(|| inside(value))),
        _ => None,
    }
}

fn with_nul(text: &str) -> Option<&'static str> {
    let found = text.contains('\0');
    found.then_some("a text in it holds the character NUL, which not every database takes")
}

/// Returns the text to embed for a field.
fn text(field: &Value) -> Option<String> {
    match field {
        Value::Null => None,
        Value::String(text) => (!text.trim().is_empty()).then(|| text.clone()),
        other => Some(other.to_string()),
    }
}

impl fmt::Debug for StoreOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StoreOptions")
            .field("ttl", &self.ttl)
            .field("refresh_on_read", &self.refresh_on_read)
            .field("fields", &self.fields)
            .finish_non_exhaustive()
    }
}
