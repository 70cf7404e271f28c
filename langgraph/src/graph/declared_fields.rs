//! The fields that a graph declares: what a run begins with, and what is read of it.

use super::StateGraph;
use crate::state::State;

impl<S: State> StateGraph<S> {
    /// Declares the fields that have a value when a run starts: from its input, from earlier runs of its
    /// thread, or because their default is meant. `#![input(topic)]` does the same in `graph!`.
    ///
    /// [`lints`](Self::lints) then report a node that reads another field before a node writes it. The input
    /// of a run is not checked.
    ///
    /// # Examples
    ///
    /// ```
    /// use langgraph::prelude::*;
    ///
    /// #[derive(State, Clone, Debug, Default)]
    /// struct Post {
    ///     topic: String,
    ///     draft: String,
    ///     review: String,
    /// }
    ///
    /// #[node]
    /// async fn write(post: &Post) -> PostUpdate {
    ///     PostUpdate::default().draft(format!("{}: {}", post.topic, post.review))
    /// }
    ///
    /// #[node]
    /// async fn review(post: &Post) -> PostUpdate {
    ///     PostUpdate::default().review(format!("{} is long", post.draft))
    /// }
    ///
    /// let mut graph = StateGraph::<Post>::new();
    /// graph.add_node("write", write).add_node("review", review);
    /// graph.add_sequence(&["write", "review"]).input_fields(["topic"]);
    /// assert!(graph.lints()[0].to_string().starts_with("`write` reads `review`"));
    /// ```
    pub fn input_fields(
        &mut self,
        fields: impl IntoIterator<Item = impl Into<String>>,
    ) -> &mut Self {
        self.topology.input = Some(fields.into_iter().map(Into::into).collect());
        self
    }

    /// Declares the fields that others than nodes read: the caller after the run, routers, middleware.
    /// `#![output(report)]` does the same in `graph!`.
    ///
    /// [`lints`](Self::lints) then report nodes that write a field which nothing reads.
    ///
    /// # Examples
    ///
    /// ```
    /// use langgraph::prelude::*;
    ///
    /// #[derive(State, Clone, Debug, Default)]
    /// struct Post {
    ///     draft: String,
    ///     words: usize,
    /// }
    ///
    /// #[node]
    /// async fn write(_: &Post) -> PostUpdate {
    ///     PostUpdate::default().draft("…".to_owned()).words(1)
    /// }
    ///
    /// let mut graph = StateGraph::<Post>::new();
    /// graph.add_node("write", write).add_sequence(&["write"]).output_fields(["draft"]);
    /// assert!(graph.lints()[0].to_string().starts_with("`write` writes `words`, and nothing reads it"));
    /// ```
    pub fn output_fields(
        &mut self,
        fields: impl IntoIterator<Item = impl Into<String>>,
    ) -> &mut Self {
        self.topology.output = Some(fields.into_iter().map(Into::into).collect());
        self
    }
}
