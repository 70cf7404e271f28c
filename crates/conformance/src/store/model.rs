//! Random batches, compared with the store in memory.

use std::time::Duration;

use langgraph_store::{
    Answer, Delete, FieldPath, Filter, Get, HashingEmbedder, Indexing, Label, ListNamespaces,
    MemoryStore, Namespace, Op, Put, Search, Store, StoreOptions, Ttl,
};
use serde_json::{Value, json};

use super::Stores;
use crate::case::{Problem, same};

crate::case::cases! {
    Stores:
    random_batches_are_answered_as_in_memory,
}

async fn random_batches_are_answered_as_in_memory(stores: &Stores<'_>) -> Result<(), Problem> {
    for seed in 0..6 {
        let options = StoreOptions::default()
            .ttl(Duration::from_secs(40))
            .embedder(HashingEmbedder::new(16))
            .fields(["text", "a"]);
        let (store, clock) = stores.with(options.clone()).await?;
        let model = MemoryStore::with(options.clock(clock.clone()));
        let mut dice = Dice(fastrand::Rng::with_seed(seed));
        for round in 0..120 {
            // Items stored at the same time come in no particular order.
            clock.advance(Duration::from_millis(dice.0.u64(1..4000)));
            let ops = dice.ops();
            let found = store.batch(ops.clone()).await?;
            let expected = model.batch(ops.clone()).await?;
            for ((op, found), expected) in ops.iter().zip(&found).zip(&expected) {
                if found != expected {
                    return Err(Problem::Wrong(format!(
                        "seed {seed}, batch {round}, {op:?}: {found:?}, expected {expected:?}"
                    )));
                }
            }
        }
        let mut all = Search::new(Namespace::root());
        all.limit = 1000;
        let found = store.batch(vec![all.clone().into()]).await?;
        let expected = model.batch(vec![all.into()]).await?;
        same("what is left", count(&found), count(&expected))?;
    }
    Ok(())
}

fn count(answers: &[Answer]) -> usize {
    let items = answers.iter().map(|answer| match answer {
        Answer::Items(items) => items.len(),
        _ => 0,
    });
    items.sum()
}

struct Dice(fastrand::Rng);

impl Dice {
    fn pick<T: Clone>(&mut self, of: &[T]) -> Option<T> {
        self.0.choice(of).cloned()
    }

    fn often(&mut self) -> bool {
        self.0.u8(0..4) > 0
    }

    fn ops(&mut self) -> Vec<Op> {
        let mut ops = Vec::new();
        for _ in 0..self.0.usize(1..5) {
            ops.push(self.op());
        }
        if self.often() {
            let place = self.0.usize(0..=ops.len());
            let put = self.put().into();
            ops.insert(place, put);
        }
        ops
    }

    fn op(&mut self) -> Op {
        match self.0.u8(0..8) {
            0 | 1 => {
                let mut get = Get::new(self.namespace(), self.key());
                get.refresh = self.pick(&[None, Some(true), Some(false)]).flatten();
                get.into()
            }
            2 => Delete::new(self.namespace(), self.key()).into(),
            3 => self.list().into(),
            _ => self.search().into(),
        }
    }

    fn key(&mut self) -> String {
        self.0.u8(0..5).to_string()
    }

    fn namespace(&mut self) -> Namespace {
        (0..self.0.usize(1..4)).map(|_| self.label()).collect()
    }

    fn label(&mut self) -> String {
        self.pick(&["a", "b", "ab", "a\",\"b"])
            .unwrap_or("a")
            .to_owned()
    }

    fn put(&mut self) -> Put {
        let value = json!({
            "text": self.text(),
            "a": self.scalar(),
            "b": [self.scalar(), {"a": self.scalar()}],
            "c": {"a": self.scalar()},
        });
        let mut put = Put::new(self.namespace(), self.key(), value);
        put.ttl = match self.0.u8(0..4) {
            0 => Ttl::Never,
            1 => Ttl::After(Duration::from_secs(self.0.u64(1..60))),
            _ => Ttl::Default,
        };
        put.indexing = match self.0.u8(0..6) {
            0 => Indexing::Off,
            1 => Indexing::Fields(vec!["b[*]".into(), "c.a".into()]),
            _ => Indexing::Default,
        };
        put
    }

    fn text(&mut self) -> String {
        let words = ["cat", "dog", "red", "blue", "sleeps"];
        let mut text = Vec::new();
        for _ in 0..self.0.usize(0..5) {
            text.extend(self.pick(&words));
        }
        text.join(" ")
    }

    fn scalar(&mut self) -> Value {
        match self.0.u8(0..8) {
            0 => Value::Null,
            1 => json!(self.0.bool()),
            2 => json!(self.text()),
            3 => json!(f64::from(self.0.i32(-4..8)) / 2.0),
            4 => json!([self.0.i32(-2..3)]),
            5 => json!(i64::MAX - self.0.i64(0..3)),
            _ => json!(self.0.i32(-2..3)),
        }
    }

    fn search(&mut self) -> Search {
        let prefix: Namespace = match self.0.u8(0..3) {
            0 => Namespace::root(),
            1 => self.label().into(),
            _ => self.namespace(),
        };
        let mut search = Search::new(prefix);
        if self.often() {
            search.filter = Some(self.filter(3));
        }
        if self.0.u8(0..3) == 0 {
            search.query = Some(self.text());
            if self.0.bool() {
                search.min_score = Some(self.0.f32());
            }
        }
        search.limit = self.0.usize(0..12);
        search.offset = self.0.usize(0..4);
        search.refresh = self.pick(&[None, Some(true), Some(false)]).flatten();
        search
    }

    fn filter(&mut self, depth: usize) -> Filter {
        if depth > 0 && self.0.bool() {
            let filters = (0..self.0.usize(0..4)).map(|_| self.filter(depth - 1));
            let filters: Vec<Filter> = filters.collect();
            return match self.0.u8(0..3) {
                0 => Filter::All(filters),
                1 => Filter::Any(filters),
                _ => !self.filter(depth - 1),
            };
        }
        let paths = [
            "a", "text", "b[0]", "b[*]", "b[*].a", "b[-1].a", "c.a", "c", "b[*][*]", "gone",
        ];
        let path: FieldPath = self.pick(&paths).unwrap_or("a").into();
        let number = f64::from(self.0.i32(-4..8)) / 2.0;
        match self.0.u8(0..10) {
            0 => Filter::exists(path),
            1 => Filter::eq(path, self.text()),
            2 => Filter::eq(path, number),
            3 => Filter::ne(path, self.0.i32(-2..3)),
            4 => Filter::gt(path, number),
            5 => Filter::le(path, self.0.i32(-2..3)),
            6 => Filter::lt(path, self.text()),
            7 => Filter::ge(path, i64::MAX - self.0.i64(0..3)),
            8 => Filter::one_of(path, [Some(1), None, Some(self.0.i32(-2..3))]),
            _ => Filter::eq(path, self.0.bool()),
        }
    }

    fn list(&mut self) -> ListNamespaces {
        let mut list = ListNamespaces::default();
        for _ in 0..self.0.usize(0..3) {
            list.prefix.push(self.pattern());
        }
        for _ in 0..self.0.usize(0..2) {
            list.suffix.push(self.pattern());
        }
        list.max_depth = self.pick(&[None, Some(1), Some(2)]).flatten();
        list.limit = self.0.usize(0..8);
        list.offset = self.0.usize(0..3);
        list
    }

    fn pattern(&mut self) -> Label {
        if self.0.bool() {
            Label::Any
        } else {
            Label::Is(self.label())
        }
    }
}
