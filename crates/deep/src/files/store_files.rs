//! Files in a store.

use std::fmt;
use std::sync::Arc;

use langgraph::node::Context;
use langgraph_agent::{ToolError, async_trait};
use langgraph_store::{ContextExt as _, Namespace, StoreExt as _};
use serde::{Deserialize, Serialize};

use super::{FileContext, Files, is_below};

/// Files in the store of the graph or the run, which threads share.
///
/// # Examples
///
/// ```
/// use std::sync::Arc;
/// use langgraph::prelude::*;
/// use langgraph_agent::ScriptedModel;
/// use langgraph_deep::{StoreFiles, deep_agent};
/// use langgraph_store::prelude::*;
///
/// // Each user has files of their own: the caller of a run names the user in its metadata.
/// let files = StoreFiles::by(|cx: &Context| {
///     let user = cx.metadata("user").and_then(|user| user.as_str()).unwrap_or("nobody");
///     ["files", user].into()
/// });
/// let agent = deep_agent(ScriptedModel::new(["hi"])).files(files).compile()?;
/// let agent = agent.store(Arc::new(MemoryStore::new()));
/// # let _ = agent;
/// # Ok::<(), langgraph_agent::AgentBuildError>(())
/// ```
#[derive(Clone)]
pub struct StoreFiles {
    namespace: Arc<dyn Fn(&Context) -> Namespace + Send + Sync>,
}

/// The value of a file in the store.
#[derive(Serialize, Deserialize)]
struct StoredFile {
    content: String,
}

/// The number of files that a search of the store returns at a time.
const PAGE: usize = 500;

impl StoreFiles {
    /// Keeps the files in this namespace.
    pub fn new(namespace: impl Into<Namespace>) -> Self {
        let namespace = namespace.into();
        Self::by(move |_| namespace.clone())
    }

    /// Keeps the files in a namespace that depends on the run: one for each user.
    pub fn by(namespace: impl Fn(&Context) -> Namespace + Send + Sync + 'static) -> Self {
        Self {
            namespace: Arc::new(namespace),
        }
    }
}

#[async_trait]
impl Files for StoreFiles {
    async fn read(&self, path: &str, cx: FileContext<'_>) -> Result<Option<String>, ToolError> {
        let cx = cx.context();
        let store = cx.store().map_err(ToolError::fatal)?;
        let file: Option<StoredFile> = store.get_as((self.namespace)(cx), path).await?;
        Ok(file.map(|file| file.content))
    }

    async fn write(&self, path: &str, text: &str, cx: FileContext<'_>) -> Result<(), ToolError> {
        let cx = cx.context();
        let store = cx.store().map_err(ToolError::fatal)?;
        let file = StoredFile {
            content: text.to_owned(),
        };
        Ok(store.put((self.namespace)(cx), path, &file).await?)
    }

    async fn paths(&self, folder: &str, cx: FileContext<'_>) -> Result<Vec<String>, ToolError> {
        let cx = cx.context();
        let store = cx.store().map_err(ToolError::fatal)?;
        let namespace = (self.namespace)(cx);
        let (mut paths, mut offset) = (Vec::new(), 0);
        loop {
            let page = store.search(namespace.clone()).limit(PAGE).offset(offset);
            let page = page.refresh(false).await?;
            offset += page.len();
            let last = page.len() < PAGE;
            let own = page.into_iter().filter(|item| item.namespace == namespace);
            paths.extend(own.map(|item| item.key));
            if last {
                break;
            }
        }
        paths.retain(|path| is_below(path, folder));
        paths.sort_unstable();
        paths.dedup();
        Ok(paths)
    }
}

impl fmt::Debug for StoreFiles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StoreFiles").finish_non_exhaustive()
    }
}
