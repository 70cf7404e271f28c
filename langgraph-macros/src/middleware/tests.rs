use quote::quote;

use super::expand;

fn shown(options: proc_macro2::TokenStream, item: proc_macro2::TokenStream) -> String {
    expand(options, item).to_string()
}

#[test]
fn the_hooks_that_are_written_are_noted() {
    let expansion = shown(
        quote!(crate = mine),
        quote! {
            impl AgentMiddleware for Log {
                fn name(&self) -> &str { "log" }
                async fn after_model(&self) {}
                async fn before_model(&self) {}
            }
        },
    );
    assert!(expansion.starts_with("# [mine :: async_trait] impl AgentMiddleware for Log"));
    let hooks = "& [mine :: Hook :: AfterModel , mine :: Hook :: BeforeModel]";
    assert!(expansion.contains(hooks), "{expansion}");
    assert!(!expansion.contains("compile_error"), "{expansion}");
}

#[test]
fn mistakes_are_named() {
    for (item, message) in [
        (
            quote!(
                fn log() {}
            ),
            "belongs on an `impl AgentMiddleware for ..`",
        ),
        (
            quote!(impl Log { async fn before_model(&self) {} }),
            "this `impl` has no trait",
        ),
        (
            quote!(impl AgentMiddleware for Log { fn before_model(&self) {} }),
            "`before_model` is an `async fn`",
        ),
        (
            quote!(impl AgentMiddleware for Log { fn name(&self) -> &str { "log" } }),
            "this middleware has no hook and no tools",
        ),
        (
            quote!(impl AgentMiddleware for Log { fn hooks(&self) {} async fn after_tool(&self) {} }),
            "`#[middleware]` writes `hooks`; remove this one",
        ),
    ] {
        let expansion = shown(quote!(), item);
        assert!(expansion.contains(message), "{expansion}");
    }
    let expansion = shown(
        quote!(crat = x),
        quote!(impl A for L { async fn after_tool(&self) {} }),
    );
    assert!(
        expansion.contains("unknown option `crat` of `#[middleware]`"),
        "{expansion}"
    );
}
