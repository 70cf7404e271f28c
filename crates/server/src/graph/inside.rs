//! Subgraphs of a thread, as clients name them.

use std::fmt;

use langgraph::checkpoint::CheckpointId;
use langgraph::graph::NodeName;
use langgraph::thread::SubgraphPath;

use super::checkpoint_place::CheckpointPlace;

/// A subgraph of a thread: the tasks around it, outermost first, as nodes and ids of tasks.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Namespace(Vec<(NodeName, String)>);

impl Namespace {
    /// Reads `node:task|node:task`.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let pair = |part: &str| {
            let (node, task) = part.rsplit_once(':')?;
            (!node.is_empty()).then(|| (NodeName::from(node), task.to_owned()))
        };
        let tasks: Option<_> = text.split('|').map(pair).collect();
        tasks.map(Self)
    }

    /// Returns the nodes of the tasks.
    pub(super) fn nodes(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(node, _)| &**node)
    }

    /// Returns the path to the subgraph.
    pub(super) fn path(&self) -> SubgraphPath {
        let tasks = self.0.iter();
        let paths = tasks.map(|(node, task)| SubgraphPath::new(node.clone()).task(&**task));
        paths.fold(SubgraphPath::from([""; 0]), SubgraphPath::join)
    }

    /// Returns where the subgraph is, whose tasks are behind those checkpoints; `None` if there is one that is not.
    pub(super) fn place(&self, thread: &str, outer: &[CheckpointId]) -> Option<CheckpointPlace> {
        if outer.len() < self.0.len() {
            return None;
        }
        let tasks = self.0.iter().zip(outer);
        let root = CheckpointPlace::root(thread);
        Some(tasks.fold(root, |place, ((node, task), checkpoint)| {
            place.inside(Some(*checkpoint), node, task)
        }))
    }
}

impl fmt::Display for Namespace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (node, task)) in self.0.iter().enumerate() {
            let separator = if index == 0 { "" } else { "|" };
            write!(f, "{separator}{node}:{task}")?;
        }
        Ok(())
    }
}

/// A checkpoint of a subgraph.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct InnerCheckpoint {
    pub(crate) namespace: Namespace,
    pub(crate) id: CheckpointId,
    /// The checkpoint of the thread around it; the newest without one.
    pub(crate) root: Option<CheckpointId>,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn l2_a_namespace_is_a_path_of_tasks() {
        let namespace = Namespace::parse("b:2|c:3").unwrap();
        assert_eq!(namespace.path().to_string(), "b:2/c:3");
        assert_eq!(namespace.nodes().collect::<Vec<_>>(), ["b", "c"]);
        for wrong in ["a", "", ":1", "a:1|"] {
            assert_eq!(Namespace::parse(wrong), None, "{wrong}");
        }

        let id = |text: &str| -> CheckpointId { text.parse().unwrap() };
        let root = id("01a00000-0000-7000-8000-000000000000");
        let outer = id("01a00000-0000-7000-8000-000000000001");
        let place = namespace.place("t", &[root, outer]).unwrap();
        let checkpoint = place.checkpoint(outer);
        assert_eq!(checkpoint["checkpoint_ns"], "b:2|c:3");
        let map =
            json!({"": root.to_string(), "b:2": outer.to_string(), "b:2|c:3": outer.to_string()});
        assert_eq!(checkpoint["checkpoint_map"], map);
        assert!(namespace.place("t", &[root]).is_none());
    }
}
