#![allow(unused)]

use langgraph::prelude::*;

#[derive(Clone)]
struct Notes;

#[node]
async fn plan(_: &Notes) {}

fn main() {}
