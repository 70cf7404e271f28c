//! At which superstep a node can run.

use super::acyclic::Acyclic;

/// Returns, for each vertex, how many different supersteps can follow a run of `root` at which the vertex
/// runs because of it.
pub(super) fn depths(graph: &Acyclic, root: usize) -> Vec<u64> {
    let mut sets: Vec<Vec<bool>> = vec![Vec::new(); graph.lines.size()];
    if let Some(set) = sets.get_mut(root) {
        set.push(true);
    }
    for vertex in graph.order.iter().rev() {
        let Some(set) = sets.get(*vertex).filter(|set| !set.is_empty()).cloned() else {
            continue;
        };
        for target in graph.lines.from(*vertex) {
            if let Some(next) = sets.get_mut(*target) {
                if next.len() <= set.len() {
                    next.resize(set.len() + 1, false);
                }
                for (later, now) in next.iter_mut().skip(1).zip(&set) {
                    *later |= now;
                }
            }
        }
    }
    let counts = sets.iter().map(|set| set.iter().filter(|at| **at).count());
    counts.map(|count| count as u64).collect()
}
