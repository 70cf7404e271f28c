//! What customers do.

mod cancelled;
mod changed;
mod cleared;
mod noted;
mod order;
mod read;
mod removed;
mod rivals;
mod stopped;
mod timed;
mod unnamed;

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
        6 => stopped::trade(customer).await,
        7 => rarer(customer).await,
        _ => order::trade(customer).await,
    }
}

/// Does what customers do less often.
async fn rarer(customer: &mut Customer) -> Result<(), Stopped> {
    match customer.site.world.below(4) {
        0 => cancelled::trade_at_exit(customer).await,
        1 => cleared::trade(customer).await,
        2 => read::trade(customer).await,
        _ => unnamed::trade(customer).await,
    }
}

/// Returns true if the first list is the second one without some of its items: one of two branches may have ended.
fn is_within(part: &[String], all: &[String]) -> bool {
    let mut all = all.iter();
    part.iter().all(|what| all.any(|one| one == what))
}
