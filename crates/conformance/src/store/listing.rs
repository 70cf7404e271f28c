//! The namespaces that hold items.

use langgraph_store::{Label, Namespace, Store, StoreExt};

use super::Stores;
use crate::case::{Problem, same};

crate::case::cases! {
    Stores:
    namespaces_are_listed_in_order,
    namespaces_are_picked_by_beginning_and_end,
    namespaces_are_cut_and_named_once,
    namespaces_come_in_pages,
}

const ALL: [&[&str]; 7] = [
    &["docs"],
    &["docs", "en", "manual"],
    &["users", "1", "notes"],
    &["users", "1", "prefs"],
    &["users", "2", "notes"],
    &["users", "2", "notes", "old"],
    &["users", "*", "prefs"],
];

async fn fill(store: &dyn Store) -> Result<(), Problem> {
    for labels in ALL {
        store.put(labels, "k", &1).await?;
        store.put(labels, "l", &2).await?;
    }
    Ok(())
}

fn names(namespaces: &[Namespace]) -> Vec<String> {
    namespaces.iter().map(ToString::to_string).collect()
}

async fn namespaces_are_listed_in_order(stores: &Stores<'_>) -> Result<(), Problem> {
    let (store, _) = stores.open().await?;
    same(
        "in an empty store",
        store.list_namespaces().await?,
        Vec::new(),
    )?;
    fill(&*store).await?;
    let mut expected: Vec<Namespace> = ALL.iter().map(|labels| (*labels).into()).collect();
    expected.sort();
    same("all", store.list_namespaces().await?, expected)?;
    store.delete(["docs"], "k").await?;
    store.delete(["docs"], "l").await?;
    let listed = names(&store.list_namespaces().await?);
    same(
        "one that is empty",
        listed.contains(&"docs".to_owned()),
        false,
    )
}

async fn namespaces_are_picked_by_beginning_and_end(stores: &Stores<'_>) -> Result<(), Problem> {
    let (store, _) = stores.open().await?;
    fill(&*store).await?;
    let users = store.list_namespaces().prefix(["users"]).await?;
    same("below users", users.len(), 5)?;
    let notes = store.list_namespaces().suffix(["notes"]).await?;
    same(
        "notes",
        names(&notes),
        vec!["users/1/notes".to_owned(), "users/2/notes".to_owned()],
    )?;
    let any = store
        .list_namespaces()
        .prefix(["users", "*", "prefs"])
        .await?;
    same(
        "any user",
        names(&any),
        vec!["users/*/prefs".to_owned(), "users/1/prefs".to_owned()],
    )?;
    let star = [Label::Is("users".into()), Label::Is("*".into())];
    let star = store.list_namespaces().prefix(star).await?;
    same(
        "the label `*`",
        names(&star),
        vec!["users/*/prefs".to_owned()],
    )?;
    let both = store
        .list_namespaces()
        .prefix(["users", "2"])
        .suffix(["*", "old"])
        .await?;
    same("both", names(&both), vec!["users/2/notes/old".to_owned()])?;
    // The beginning and the end may overlap.
    let same_label = store
        .list_namespaces()
        .prefix(["docs"])
        .suffix(["docs"])
        .await?;
    same("overlapping", names(&same_label), vec!["docs".to_owned()])?;
    let none = store.list_namespaces().prefix(["user"]).await?;
    same("half a label", none, Vec::new())
}

async fn namespaces_are_cut_and_named_once(stores: &Stores<'_>) -> Result<(), Problem> {
    let (store, _) = stores.open().await?;
    fill(&*store).await?;
    let tops = store.list_namespaces().max_depth(1).await?;
    same(
        "one label",
        names(&tops),
        vec!["docs".to_owned(), "users".to_owned()],
    )?;
    let users = store
        .list_namespaces()
        .prefix(["users"])
        .max_depth(2)
        .await?;
    let expected = ["users/*", "users/1", "users/2"].map(str::to_owned);
    same("two labels", names(&users), expected.to_vec())
}

async fn namespaces_come_in_pages(stores: &Stores<'_>) -> Result<(), Problem> {
    let (store, _) = stores.open().await?;
    fill(&*store).await?;
    let all = store.list_namespaces().await?;
    let mut pages = Vec::new();
    for offset in [0, 3, 6, 9] {
        pages.extend(store.list_namespaces().limit(3).offset(offset).await?);
    }
    same("the pages", pages, all)?;
    same("none", store.list_namespaces().limit(0).await?, Vec::new())
}
