//! What is deprecated is told once for each mention, at the mention, in every construct.
#![deny(deprecated)]

use langgraph::prelude::*;
use old::*;

mod old {
    #![allow(deprecated, dead_code)]
    use langgraph::prelude::*;

    #[deprecated]
    pub type OldState = i64;

    #[deprecated]
    #[node]
    pub async fn old_plan(_: &OldState) {}

    #[deprecated]
    #[node]
    pub fn old_search(_: &OldState) {}

    #[deprecated]
    #[node]
    pub async fn old_write(item: i64, n: &OldState) -> OldState {
        n + item
    }

    #[deprecated]
    pub fn old_plain(n: &OldState) -> OldState {
        n + 1
    }

    #[deprecated]
    #[node]
    pub async fn old_publish(_: &OldState) {}

    #[deprecated]
    #[node]
    pub async fn old_jump(_: &OldState) -> Next {
        Next::End
    }

    pub enum Route {
        #[deprecated]
        OldMore,
        Each(Vec<i64>),
        #[deprecated]
        OldDone,
    }

    #[deprecated]
    pub fn old_route(_: &OldState) -> Route {
        Route::OldDone
    }

    #[deprecated]
    pub fn old_items(n: &OldState) -> Vec<i64> {
        vec![*n]
    }

    #[deprecated]
    pub fn old_test(n: &OldState) -> bool {
        *n > 1
    }

    #[deprecated]
    pub fn old_last(n: &OldState) -> Option<i64> {
        Some(*n)
    }

    #[deprecated]
    pub const OLD_LIMIT: usize = 3;
}

fn main() {
    let _ = graph! {
        type State = OldState;

        let other = old_plain.retry(3);

        START => old_plan => match old_route {
            Route::OldMore => old_search => old_plan,
            Route::Each(numbers) if numbers.len() > OLD_LIMIT => for one in numbers { old_write(one) },
            Route::Each(_) => [old_search, old::old_publish],
            Route::OldDone => END,
        };
        [old_search, old::old_publish => other] => old_jump => goto [old_plan, last, END];
        last => for item in old_items { rewrite(item) } => check;
        old_write => END;
        check => if old_test { END } else { old_plan };
        let last = |_: &i64| ();
        let rewrite = old_write;
        let check = |_: &i64| ();
    };
    let _ = graph! {
        START => old_plain => if let Some(1) = old_last { old_plain } else { END };
    };
}
