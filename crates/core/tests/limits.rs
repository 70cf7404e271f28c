//! Limits are those that were set.

use std::collections::HashMap;

use langgraph::checkpoint::Limits;

#[test]
fn limits_are_those_that_were_set() {
    let all = Limits::new("any");
    assert!(all.check(&f64::NAN).is_ok());
    assert!(all.check(&HashMap::from([(1, u128::MAX)])).is_ok());
    assert!(all.check(&Some(())).is_ok());
    assert!(all.finite_numbers().check(&f64::NAN).is_err());
    assert!(all.text_keys().check(&HashMap::from([(1, 1)])).is_err());
    assert!(all.narrow_integers().check(&u128::MAX).is_err());
    assert!(all.narrow_integers().check(&i128::from(i64::MIN)).is_ok());
    assert!(all.null_is_none().check(&Some(())).is_err());
    assert!(all.depth(1).check(&[[1]]).is_err());
    assert!(all.depth(2).check(&[[1]]).is_ok());
    // An address is text for people, and bytes for machines.
    let address = std::net::Ipv4Addr::LOCALHOST;
    assert!(all.depth(0).check(&address).is_ok());
    assert!(all.depth(0).binary().check(&address).is_err());
}
