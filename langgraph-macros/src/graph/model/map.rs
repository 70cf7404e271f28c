//! Maps: a worker for each item of a list.

use quote::ToTokens;
use syn::Expr;

use super::source::{Exit, Source};
use super::{Arm, Map, Model, Place, Switch};
use crate::graph::ast;
use crate::graph::label::label;
use langgraph_topology::flow::NODES;

impl Model {
    /// Leads to a worker for each item of a list: that of an arm, or of the places before it.
    pub(super) fn for_each(&mut self, each: ast::For, source: &Source) -> Vec<Exit> {
        let Some(worker) = each.worker else {
            // It did not parse, which has been reported.
            return self.chain(each.rest, Source::Lost);
        };
        let place = self.mention(worker.path);
        let node = place.vertex.checked_sub(NODES);
        if let Some(node) = node.and_then(|place| self.nodes.get_mut(place)) {
            node.worker.get_or_insert(place.span);
        }
        let map = Map {
            keyword: each.keyword,
            pattern: each.pattern,
            items: None,
            worker: place.vertex,
            paren: worker.paren,
            item: worker.item,
        };
        let source = if let Source::Arm(switch, arm) = source {
            self.map_of_arm((*switch, *arm), place, map, each.items);
            source.clone()
        } else {
            let sources = self.deciders(source, each.keyword, "`for`");
            if sources.is_empty() {
                Source::Lost
            } else {
                self.map_of_places(sources.clone(), place, map, each.items);
                Source::Each(sources)
            }
        };
        if let Some(bound) = worker.bound {
            self.bound(&source, place, bound);
        }
        if each.rest.is_empty() {
            return vec![Exit::At(place)];
        }
        self.chain(each.rest, Source::Places(vec![place]))
    }

    /// Adds a map to an arm of a switch.
    fn map_of_arm(&mut self, (switch, arm): (usize, usize), worker: Place, map: Map, items: Expr) {
        let switch = self.switches.get_mut(switch);
        if let Some(arm) = switch.and_then(|switch| switch.arms.get_mut(arm)) {
            arm.targets.push(worker);
            arm.map = Some(Map {
                items: Some(items),
                ..map
            });
        }
    }

    /// Adds a map of which places return the items: a decision with one arm.
    fn map_of_places(&mut self, sources: Vec<Place>, worker: Place, map: Map, items: Expr) {
        let pattern = label(map.pattern.to_token_stream());
        let listed = label(items.to_token_stream());
        self.switches.push(Switch {
            sources,
            keyword: map.keyword,
            form: None,
            router: items,
            brace: None,
            arms: vec![Arm {
                label: format!("for {pattern} in {listed}"),
                pattern: None,
                guard: None,
                asks: None,
                targets: vec![worker],
                map: Some(map),
            }],
            broken: false,
        });
    }
}
