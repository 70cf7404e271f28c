//! Names of threads and namespaces may be any text.

use serde_json::json;

use super::log::{Log, checkpoint, entry};
use super::{Savers, administration};
use crate::case::{Problem, same};
use langgraph::checkpoint::{Batch, ListOptions, MAX_PATH, MAX_THREAD_ID, ThreadKey, check_path};

crate::case::cases! {
    Savers:
    threads_are_never_mistaken_for_each_other,
    namespaces_are_never_mistaken_for_each_other,
    names_come_back_as_they_were,
    the_longest_names_are_stored,
}

/// Similar names, and names with special characters.
const ODD: &[&str] = &[
    "",
    " ",
    "a",
    "A",
    "a ",
    "a|b",
    "a:b",
    "a/b",
    "a,b",
    "a\"b",
    "a'b",
    "a\\b",
    "a%",
    "a_",
    "a*",
    "[]",
    "[\"a\"]",
    "null",
    "1",
    "01",
    "a\nb",
    "a\tb",
    "ä",
    "a\u{308}",
    "ß",
    "SS",
    "日本",
    "🦀",
    "\u{feff}a",
    "'; DROP TABLE logs; --",
];

/// Writes a single entry that identifies the log.
async fn sign(log: &mut Log, sign: &str) -> Result<(), Problem> {
    let id = log.next_id();
    log.put(Batch {
        checkpoints: vec![checkpoint(id, None)],
        entries: vec![entry(id, &json!(sign))],
        ..Batch::default()
    })
    .await?;
    Ok(())
}

/// Returns two names of the most bytes that a thread's name may have, different at their ends.
fn longest() -> [String; 2] {
    let long = "日".repeat(MAX_THREAD_ID / 3);
    ["x", "y"].map(|end| format!("{long}{end}"))
}

async fn the_longest_names_are_stored(savers: &Savers<'_>) -> Result<(), Problem> {
    let saver = savers.open().await?;
    for name in longest() {
        same("its length", name.len(), MAX_THREAD_ID)?;
        sign(&mut Log::root(&saver, &name), &name).await?;
    }
    for name in longest() {
        let found = Log::root(&saver, &name).values(None).await?;
        same("of a long name", found, vec![json!(name)])?;
    }
    // The path to a subgraph, in a thread of the longest name: nothing that a database could
    // make shorter.
    let [thread, _] = longest();
    let mut rng = fastrand::Rng::with_seed(7);
    let label: String = (0..MAX_PATH - 5).map(|_| rng.alphanumeric()).collect();
    let key = ThreadKey {
        thread,
        namespace: vec![label],
    };
    same("a long path", check_path(&key).is_ok(), true)?;
    sign(&mut Log::at(&saver, key.clone()), "inside").await?;
    let found = Log::at(&saver, key).values(None).await?;
    same("of a long path", found, vec![json!("inside")])
}

async fn threads_are_never_mistaken_for_each_other(savers: &Savers<'_>) -> Result<(), Problem> {
    let saver = savers.open().await?;
    for name in ODD {
        sign(&mut Log::root(&saver, name), name).await?;
    }
    for name in ODD {
        let found = Log::root(&saver, name).values(None).await?;
        same(&format!("of thread {name:?}"), found, vec![json!(name)])?;
        let usage = administration(&saver)?.usage(name).await?;
        same(&format!("logs of thread {name:?}"), usage.logs, 1)?;
    }
    let deleted = ODD.iter().step_by(2);
    for name in deleted.clone() {
        administration(&saver)?.delete_thread(name).await?;
    }
    for (index, name) in ODD.iter().enumerate() {
        let found = Log::root(&saver, name).values(None).await?;
        let left = index % 2 == 1;
        let expected = left.then(|| json!(name)).into_iter().collect();
        same(
            &format!("of thread {name:?} after deletions"),
            found,
            expected,
        )?;
    }
    Ok(())
}

fn namespaces() -> Vec<Vec<String>> {
    let mut namespaces = vec![Vec::new()];
    for label in ODD {
        namespaces.push(vec![(*label).to_owned()]);
        namespaces.push(vec![(*label).to_owned(), String::new()]);
    }
    for pair in [
        ["a", "b"],
        ["a|", "b"],
        ["a", "|b"],
        ["a\",\"b", "c"],
        ["a", "b\",\"c"],
    ] {
        namespaces.push(pair.map(str::to_owned).to_vec());
    }
    namespaces
}

async fn namespaces_are_never_mistaken_for_each_other(savers: &Savers<'_>) -> Result<(), Problem> {
    let saver = savers.open().await?;
    let keys = namespaces().into_iter().map(|namespace| ThreadKey {
        thread: "t".into(),
        namespace,
    });
    let keys: Vec<_> = keys.collect();
    for key in &keys {
        let place = format!("{:?}", key.namespace);
        sign(&mut Log::at(&saver, key.clone()), &place).await?;
    }
    for key in &keys {
        let place = format!("{:?}", key.namespace);
        let log = Log::at(&saver, key.clone());
        let what = format!("of namespace {place}");
        same(&what, log.values(None).await?, vec![json!(place)])?;
        let listed = saver.list(key, ListOptions::default()).await?;
        same(&what, listed, log.links(None).await?)?;
    }
    Ok(())
}

async fn names_come_back_as_they_were(savers: &Savers<'_>) -> Result<(), Problem> {
    let saver = savers.open().await?;
    let mut threads: Vec<_> = ODD.iter().map(|name| (*name).to_owned()).collect();
    for name in &threads {
        sign(&mut Log::root(&saver, name), name).await?;
    }
    threads.sort();
    let found = administration(&saver)?
        .threads(langgraph::checkpoint::ThreadFilter::default())
        .await?;
    let found: Vec<_> = found.into_iter().map(|info| info.thread).collect();
    same("the threads, by the bytes of their names", found, threads)?;

    let mut keys = Vec::new();
    for namespace in namespaces() {
        let key = ThreadKey {
            thread: "odd".into(),
            namespace,
        };
        sign(&mut Log::at(&saver, key.clone()), "").await?;
        keys.push(key);
    }
    keys.sort();
    let mut found = administration(&saver)?.logs("odd").await?;
    found.sort();
    same("the logs", found, keys)
}
