//! The macros of `langgraph`.

mod diag;
mod graph;
mod paths;
mod similar;

use proc_macro::TokenStream;

/// Writes a graph.
#[proc_macro]
pub fn graph(input: TokenStream) -> TokenStream {
    entry(input.into(), graph::expand)
}

/// Runs a macro; prints what it expands to when `LANGGRAPH_MACROS_DEBUG` is set.
fn entry(
    input: proc_macro2::TokenStream,
    expand: impl FnOnce(proc_macro2::TokenStream) -> proc_macro2::TokenStream,
) -> TokenStream {
    let output = expand(input);
    if std::env::var_os("LANGGRAPH_MACROS_DEBUG").is_some() {
        eprintln!("{output}");
    }
    output.into()
}
