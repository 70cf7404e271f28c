//! An order, as a customer places it.

use serde_json::{Value, json};

use crate::site::Site;

/// How many bytes: more than a message may have in some seeds.
const BALLAST: usize = 5_000;

pub(crate) struct Order {
    pub(crate) name: String,
    pub(crate) steps: u32,
    pub(crate) asks: bool,
    /// True if the agent is asked.
    is_appraised: bool,
    /// True if its payment takes long.
    is_slow: bool,
    parcels: u32,
    /// What makes the state large, for some orders with parcels.
    ballast: usize,
}

impl Order {
    pub(crate) fn new(site: &Site, name: String, steps: u32, asks: bool) -> Self {
        let world = &site.world;
        let parcels = match site.workers {
            0 => 0,
            _ => u32::try_from(world.below(5)).unwrap_or_default(),
        };
        let is_large = parcels > 0 && world.below(2) == 0;
        Self {
            ballast: if is_large { BALLAST } else { 0 },
            name,
            steps,
            asks,
            is_appraised: site.has_agent && world.below(3) > 0,
            is_slow: world.below(8) == 0,
            parcels,
        }
    }

    /// Returns the input of its run.
    pub(crate) fn input(&self) -> Value {
        json!({
            "order": self.name, "steps": self.steps, "asks": self.asks,
            "is_appraised": self.is_appraised, "is_slow": self.is_slow,
            "parcels": self.parcels, "ballast": "x".repeat(self.ballast),
        })
    }

    /// Returns what is done for it, in its order.
    pub(crate) fn expected(&self, answer: Option<&str>) -> Vec<String> {
        let order = &self.name;
        let mut all: Vec<String> = (0..self.steps.max(1))
            .map(|step| format!("{order}/step {}", self.steps.saturating_sub(step)))
            .collect();
        all.extend(answer.map(|answer| format!("{order}/answer {answer}")));
        all.extend(["paid", "packed", "labelled"].map(|what| format!("{order}/{what}")));
        all.extend(self.is_appraised.then(|| format!("{order}/appraised")));
        all.push(format!("{order}/shipped"));
        all.extend((1..=self.parcels).map(|parcel| format!("{order}/parcel {parcel}")));
        all
    }
}
