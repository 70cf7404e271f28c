use langgraph::prelude::*;

fn main() {
    let by = 3;
    let _ = graph! {
        type State = i64;

        let fine = async |n: &i64| n * 2;
        let by_value = move |n: i64| async move { n * by };
        let copies = |n: &i64| {
            let n = *n;
            async move { n * 2 }
        };
        let lends = |n: &i64| async move { n * 2 };

        START => fine => by_value => copies => lends => END;
    };
}
