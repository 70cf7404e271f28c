//! Every order of some things.

/// Returns all orders of `items`.
pub(crate) fn orders<T: Copy>(items: &[T]) -> Vec<Vec<T>> {
    let Some((first, rest)) = items.split_first() else {
        return vec![Vec::new()];
    };
    let insert = |order: Vec<T>| {
        (0..=order.len()).map(move |place| {
            let mut order = order.clone();
            order.insert(place, *first);
            order
        })
    };
    orders(rest).into_iter().flat_map(insert).collect()
}

#[test]
fn all_orders_are_there() {
    let mut found = orders(&[1, 2, 3, 4]);
    found.sort_unstable();
    found.dedup();
    assert_eq!(found.len(), 24);
}
