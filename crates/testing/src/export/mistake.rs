//! What is wrong in an exported thread.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Divergence, ReplayReport};

/// What is wrong in a stored thread: a task that did not do what it should. Its superstep and its node are
/// those of a [`Divergence`].
///
/// # Examples
///
/// The node `rebate` wrote a wrong rebate in superstep 1:
///
/// ```
/// use langgraph_testing::Mistake;
///
/// let mistake = Mistake::at(1, "rebate").expected("rebate", 20);
/// assert_eq!(mistake.to_string(), "superstep 1, node `rebate`, `rebate` should be 20");
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Mistake {
    /// The path of nodes to the graph; empty at the root.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    graph: Vec<String>,
    superstep: i64,
    node: String,
    /// The field, and what is right.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    expected: Option<(String, Value)>,
}

impl Mistake {
    /// The task of this node in this superstep should have done something else.
    pub fn at(superstep: i64, node: impl Into<String>) -> Self {
        Self {
            graph: Vec::new(),
            superstep,
            node: node.into(),
            expected: None,
        }
    }

    /// Sets the path of nodes to the graph that the node is in, if it is a graph inside a node.
    #[must_use]
    pub fn in_graph<N: Into<String>>(mut self, path: impl IntoIterator<Item = N>) -> Self {
        self.graph = path.into_iter().map(Into::into).collect();
        self
    }

    /// Sets what is right, in the words of a [`Divergence`]: its field, and its `got`. Without it, anything
    /// else than what is stored is right.
    #[must_use]
    pub fn expected(mut self, field: impl Into<String>, value: impl Into<Value>) -> Self {
        self.expected = Some((field.into(), value.into()));
        self
    }

    /// Returns why the mistake is not mended, if it is not.
    pub(super) fn unmended(&self, report: &ReplayReport) -> Option<String> {
        let Some((_, found)) = report.diverged().next() else {
            return Some(format!("the mistake is still made: {self}\n{report}"));
        };
        if !self.is_at(found) {
            return Some(format!(
                "the thread goes another way before, or behind, {self}\n{report}"
            ));
        }
        match &self.expected {
            Some((field, value)) if (field, value) != (&found.field, &found.got) => {
                Some(format!("the mistake is not mended: {self}\n{report}"))
            }
            _ => None,
        }
    }

    fn is_at(&self, found: &Divergence) -> bool {
        let place = (&self.graph, self.superstep, &self.node);
        place == (&found.graph, found.superstep, &found.node)
    }
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            graph,
            superstep,
            node,
            expected,
        } = self;
        if !graph.is_empty() {
            write!(f, "graph in `{}`, ", graph.join("/"))?;
        }
        write!(f, "superstep {superstep}, node `{node}`")?;
        match expected {
            Some((field, value)) => write!(f, ", `{field}` should be {value}"),
            None => Ok(()),
        }
    }
}
