//! What tokens cost.

use std::collections::BTreeMap;
use std::time::Duration;

use langgraph::graph::Bounds;
use langgraph::message::Usage;

/// The price of a model's tokens, for a million of them.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Price {
    /// Of input tokens.
    pub input: f64,
    /// Of input tokens from the provider's cache.
    pub cached: f64,
    /// Of output tokens.
    pub output: f64,
}

impl Price {
    /// Creates a price for a million input and output tokens. Cached tokens cost as much as others.
    pub fn per_million(input: f64, output: f64) -> Self {
        Self {
            input,
            cached: input,
            output,
        }
    }

    /// Sets the price of a million input tokens from the provider's cache.
    #[must_use]
    pub fn cached(mut self, price: f64) -> Self {
        self.cached = price;
        self
    }

    /// Returns the cost of a usage.
    #[allow(clippy::cast_precision_loss)] // counts of tokens are far below 2^52
    pub fn of(&self, usage: Usage) -> f64 {
        let cached = usage.cached_tokens.min(usage.input_tokens);
        let fresh = usage.input_tokens - cached;
        let cost = fresh as f64 * self.input
            + cached as f64 * self.cached
            + usage.output_tokens as f64 * self.output;
        cost / 1e6
    }

    /// Returns what a run costs at most, if each of its calls of models uses at most `call`.
    ///
    /// # Examples
    ///
    /// ```
    /// use langgraph::graph::EdgeBound;
    /// use langgraph::message::Usage;
    /// use langgraph::prelude::*;
    /// use langgraph_budget::Price;
    ///
    /// #[node(calls(model))]
    /// async fn write(draft: &String) -> String {
    ///     format!("{draft}.")
    /// }
    ///
    /// let mut graph = StateGraph::<String>::new();
    /// graph.add_node("write", write).add_edge(START, "write");
    /// graph.add_edge("write", "write");
    /// graph.add_bound(EdgeBound::new("write", "write", 4).or_else(END));
    ///
    /// let price = Price::per_million(3.0, 15.0);
    /// let cost = price.at_most(&graph.compile()?.bounds()?, Usage::new(10_000, 1_000));
    /// assert!((cost - 5.0 * 0.045).abs() < 1e-9);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[allow(clippy::cast_precision_loss)] // as above
    pub fn at_most(&self, bounds: &Bounds, call: Usage) -> f64 {
        bounds.calls.model as f64 * self.of(call)
    }

    /// Returns the cost of a usage in millionths, rounded up.
    pub fn micros_of(&self, usage: Usage) -> u64 {
        micros(self.of(usage))
    }
}

/// The prices of models, by the names that they call themselves.
///
/// # Examples
///
/// ```
/// use langgraph::message::Usage;
/// use langgraph_budget::{Price, Prices};
///
/// let prices = Prices::new().model("big", Price::per_million(3.0, 15.0).cached(0.3));
/// let cost = prices.get("big").unwrap().of(Usage::new(10_000, 1_000));
/// assert!((cost - 0.045).abs() < 1e-9);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Prices {
    models: BTreeMap<String, Price>,
    others: Option<Price>,
}

impl Prices {
    /// Creates an empty table.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the price of a model; the one that it calls itself.
    #[must_use]
    pub fn model(mut self, name: impl Into<String>, price: Price) -> Self {
        self.models.insert(name.into(), price);
        self
    }

    /// Sets the price of the models that are not in the table, and of those without a name.
    #[must_use]
    pub fn others(mut self, price: Price) -> Self {
        self.others = Some(price);
        self
    }

    /// Returns the price of a model.
    pub fn get(&self, name: &str) -> Option<&Price> {
        self.models.get(name).or(self.others.as_ref())
    }
}

/// Returns an amount in millionths, rounded up.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // saturates, and is not negative
pub(crate) fn micros(amount: f64) -> u64 {
    (amount.max(0.0) * 1e6).ceil() as u64
}

pub(crate) fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
