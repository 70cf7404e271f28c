//! The graphs of a package.

use std::error::Error;

use crate::{Graph, IntoGraph};

/// The graphs of a package, by name.
#[derive(Debug, Default)]
pub struct Graphs(Vec<(String, Graph)>);

impl Graphs {
    /// Adds what a function of the package returned.
    ///
    /// # Errors
    ///
    /// Fails with the name if the graph could not be made.
    pub async fn add<Form>(
        &mut self,
        name: &str,
        graph: impl IntoGraph<Form>,
    ) -> Result<(), Box<dyn Error>> {
        let graph = graph.into_graph().await;
        let graph = graph.map_err(|error| format!("the graph `{name}`: {error}"))?;
        self.0.push((name.to_owned(), graph));
        Ok(())
    }

    /// Returns the graphs with their names, in the order in which they were added.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Graph)> {
        self.0.iter().map(|(name, graph)| (name.as_str(), graph))
    }

    /// Returns the graph `name`, or all graphs without a name.
    ///
    /// # Errors
    ///
    /// Fails if there is no such graph, and says which there are.
    pub fn select(&self, name: Option<&str>) -> Result<Vec<(&str, &Graph)>, Box<dyn Error>> {
        let selected: Vec<_> = self
            .iter()
            .filter(|(known, _)| name.is_none_or(|name| name == *known))
            .collect();
        match name {
            Some(name) if selected.is_empty() => {
                let known: Vec<_> = self.iter().map(|(name, _)| format!("`{name}`")).collect();
                Err(format!("there is no graph `{name}`, but {}", known.join(", ")).into())
            }
            _ => Ok(selected),
        }
    }
}

impl IntoIterator for Graphs {
    type Item = (String, Graph);
    type IntoIter = std::vec::IntoIter<Self::Item>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}
