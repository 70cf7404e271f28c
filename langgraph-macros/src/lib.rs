//! The macros of `langgraph`.

mod compact;
mod debug;
mod diag;
mod fields;
mod function;
mod functional;
mod graph;
mod middleware;
mod node;
mod paths;
mod state;
mod tool;

use proc_macro::TokenStream;

// The examples of these pages are doctests of `langgraph-tests`, which has the crates that they use.
#[cfg_attr(not(doctest), doc = include_str!("state.md"))]
#[proc_macro_derive(State, attributes(reducer, state))]
pub fn derive_state(input: TokenStream) -> TokenStream {
    entry(input.into(), state::derive)
}

#[cfg_attr(not(doctest), doc = include_str!("node.md"))]
#[proc_macro_attribute]
pub fn node(options: TokenStream, item: TokenStream) -> TokenStream {
    entry(item.into(), |item| node::expand(options.into(), item))
}

#[cfg_attr(not(doctest), doc = include_str!("graph.md"))]
#[proc_macro]
pub fn graph(input: TokenStream) -> TokenStream {
    entry(input.into(), |input| {
        debug::timed("graph!", || graph::expand(input))
    })
}

#[cfg_attr(not(doctest), doc = include_str!("tool.md"))]
#[proc_macro_attribute]
pub fn tool(options: TokenStream, item: TokenStream) -> TokenStream {
    entry(item.into(), |item| tool::expand(options.into(), item))
}

#[cfg_attr(not(doctest), doc = include_str!("task.md"))]
#[proc_macro_attribute]
pub fn task(options: TokenStream, item: TokenStream) -> TokenStream {
    entry(item.into(), |item| functional::task(options.into(), item))
}

#[cfg_attr(not(doctest), doc = include_str!("entrypoint.md"))]
#[proc_macro_attribute]
pub fn entrypoint(options: TokenStream, item: TokenStream) -> TokenStream {
    entry(item.into(), |item| {
        functional::entrypoint(options.into(), item)
    })
}

/// Notes which hooks an `impl AgentMiddleware` has, and lets them be `async fn`s.
///
/// It writes `AgentMiddleware::hooks`. Option: `crate = path`, the path of `langgraph_agent`.
#[proc_macro_attribute]
pub fn middleware(options: TokenStream, item: TokenStream) -> TokenStream {
    entry(item.into(), |item| middleware::expand(options.into(), item))
}

/// Runs a macro; prints its expansion if `LANGGRAPH_MACROS_DEBUG` is set.
fn entry(
    input: proc_macro2::TokenStream,
    expand: impl FnOnce(proc_macro2::TokenStream) -> proc_macro2::TokenStream,
) -> TokenStream {
    let output = expand(input);
    debug::print(&output);
    output.into()
}
