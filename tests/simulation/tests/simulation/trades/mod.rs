//! What customers do.

mod cancelled;
mod changed;
mod noted;
mod order;
mod removed;
mod rivals;
mod timed;

use crate::customer::{Customer, Stopped};

/// Does what chance says.
pub(crate) async fn next(customer: &mut Customer) -> Result<(), Stopped> {
    match customer.site.world.below(12) {
        0 => cancelled::trade(customer).await,
        1 => changed::trade(customer).await,
        2 => noted::trade(customer).await,
        3 => removed::trade(customer).await,
        4 => rivals::trade(customer).await,
        5 => timed::trade(customer).await,
        _ => order::trade(customer).await,
    }
}
