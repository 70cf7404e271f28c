//! The expansion of a node function.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{
    GenericParam, Generics, Ident, Lifetime, Pat, ReturnType, Type, parse_quote,
    parse_quote_spanned,
};

use super::answer;
use super::attr::NodeOptions;
use super::checked;
use super::expansion::{Expansion, Scope};
use super::keys;
use super::lifetime::{one_lifetime, shared_lifetime};
use super::needs::{self, Needs};
use super::signature::{Argument, NodeFn, Role, output_span};
use super::uses;
use crate::fields;
use crate::function::{docs, split_attributes, type_span};
use crate::paths::Root;

/// Returns the answer of a node that names the fields that it writes.
fn written(
    node: &NodeFn<'_>,
    options: &NodeOptions,
    output: &Type,
    call: &TokenStream,
) -> Option<answer::Written> {
    let called = if node.is_async() {
        quote!(#call.await)
    } else {
        call.clone()
    };
    match (&options.writes, node.state) {
        _ if options.writes_unread => Some(answer::nothing(&called)),
        (Some(fields), Some(state)) => {
            let root = &options.root;
            Some(answer::written(root, state, fields, Some(output), &called))
        }
        _ => None,
    }
}

/// Prints the function, its marker and the marker's metadata.
pub(super) fn expand(node: &NodeFn<'_>, options: &NodeOptions, place: Scope<'_>) -> Expansion {
    if !node.is_async() && !options.need_a_marker() {
        return super::sync::expand(node, options, place);
    }
    let root = &options.root;
    let marker = marker(&node.item.sig.ident, place);
    let vis = &node.item.vis;
    let name = &node.item.sig.ident;
    let needs = read_needs(node, &marker, place);
    let mut meta = meta(node, options, &marker, place, needs.as_ref());
    let (outer_attrs, inner_attrs) = split_attributes(&node.item.attrs);
    let generics = without_lifetimes(&node.item.sig.generics);
    let shared = shared_lifetime();
    let borrows = node
        .arguments
        .iter()
        .any(|argument| argument.role != Role::Owned);
    let names = outer_names(&node.arguments);
    let types = node
        .arguments
        .iter()
        .map(|argument| one_lifetime(argument.ty));
    let checks = node
        .arguments
        .iter()
        .zip(&names)
        .map(|(argument, name)| check(root, argument, name));
    // A state that is none is reported where it stands.
    let place_of_unit = node.state.map_or_else(|| name.span(), type_span);
    let unit: Type = parse_quote_spanned!(place_of_unit=> ());
    let output = one_lifetime(node.output.unwrap_or(&unit));
    let lifetime = if borrows {
        shared.clone()
    } else {
        parse_quote!('static)
    };
    let (_, turbofish, _) = generics.split_for_impl();
    let call = {
        let turbofish = turbofish.as_turbofish();
        match place {
            Scope::Module => quote_spanned!(name.span()=> #name #turbofish(#(#names),*)),
            Scope::Block(..) => {
                let hidden = hidden(name);
                quote_spanned!(name.span()=> Self::#hidden #turbofish(#(#names),*))
            }
        }
    };
    let written = written(node, options, &output, &call);
    let is_whole = written.is_none();
    let (answer, body) = match written {
        Some(answer::Written { ty, value }) => (ty, quote!(async move { #value })),
        None if node.is_async() => (output, call),
        None => (output, quote!(async move { #call })),
    };
    let known = checked::known(node, root, place, &marker, &answer);
    let is_known = known.is_some();
    let (future, made) = future(node, root, &marker, is_known, &lifetime, &answer);
    meta.extend(known);
    let owned_check = owned_check(node, root, &answer);
    let mut outer_generics = generics.clone();
    if borrows {
        outer_generics
            .params
            .insert(0, GenericParam::Lifetime(syn::LifetimeParam::new(shared)));
    }
    let (outer_params, _, outer_bounds) = outer_generics.split_for_impl();
    let mut inner = inner(node, inner_attrs, (is_known && is_whole).then_some(&marker));
    if let Some(needs) = needs {
        *inner.block = needs.block;
    }
    let made = quote_spanned!(name.span()=> #made(#body));
    // A function inside a function does not know `Self`: in a block it becomes a sibling.
    let (within, without) = match place {
        Scope::Module => (quote!(#[allow(clippy::unused_async)] #inner), None),
        Scope::Block(..) => {
            inner.sig.ident = hidden(name);
            let without = quote!(#[doc(hidden)] #[allow(clippy::unused_async)] #inner);
            (TokenStream::new(), Some(without))
        }
    };
    let function = quote! {
        #(#outer_attrs)*
        #[allow(clippy::type_complexity)]
        #vis fn #name #outer_params(#(#names: #types),*) -> #future #outer_bounds {
            #within
            #(#checks)*
            #owned_check
            #made
        }

        #without
    };
    Expansion {
        function,
        beside: meta,
    }
}

/// Returns the function that the user wrote. With the `marker` that knows the function's output, it names
/// this output: rustc would report a type that does not exist here again, with another proposal.
fn inner(node: &NodeFn<'_>, attrs: Vec<syn::Attribute>, marker: Option<&Ident>) -> syn::ItemFn {
    let mut inner = node.item.clone();
    inner.attrs = attrs;
    inner.vis = syn::Visibility::Inherited;
    if let (ReturnType::Type(_, output), Some(marker)) = (&mut inner.sig.output, marker) {
        let mut answers = checked::answers(marker);
        answers.set_span(output.span());
        **output = parse_quote!(#answers);
    }
    inner
}

/// Returns the name of the function that the user wrote in a block.
fn hidden(name: &Ident) -> Ident {
    let plain = syn::ext::IdentExt::unraw(name);
    format_ident!("__{}_body", plain, span = name.span())
}

/// Returns the type of the future that the function returns, and its constructor.
fn future(
    node: &NodeFn<'_>,
    root: &Root,
    marker: &Ident,
    is_known: bool,
    lifetime: &Lifetime,
    answer: &Type,
) -> (TokenStream, TokenStream) {
    match node.state {
        Some(state) if !node.is_owned() => {
            let state = one_lifetime(state);
            let at_state = root.at(state.span());
            let marker = if is_known {
                quote!(#root::__private::Checked<#marker>)
            } else {
                marker.to_token_stream()
            };
            let future = quote_spanned!(state.span()=>
                #at_state::node::NodeFuture<#lifetime, #state, #answer, #marker>);
            let root = root.at(output_span(node));
            let made = quote_spanned!(output_span(node)=>
                #root::__private::node_future::<#state, #answer, #marker>);
            (future, made)
        }
        _ => {
            let answer = if is_known {
                let mut known = checked::answers(marker);
                known.set_span(output_span(node));
                known.into_token_stream()
            } else {
                answer.to_token_stream()
            };
            let future = quote!(#root::node::OwnedFuture<#lifetime, #answer, #marker>);
            let made = quote!(#root::node::OwnedFuture::<#lifetime, #answer, #marker>::new);
            (future, made)
        }
    }
}

/// Prints an obligation that fails at the output type, if the future does not check it.
fn owned_check(node: &NodeFn<'_>, root: &Root, answer: &Type) -> TokenStream {
    match node.state {
        Some(state) if node.is_owned() => {
            let root = root.at(output_span(node));
            let answers = quote_spanned!(output_span(node)=>
                #root::__private::answers::<#state, #answer>);
            quote!(#answers();)
        }
        _ => TokenStream::new(),
    }
}

/// Returns the hidden type with the metadata of the node.
fn marker(name: &Ident, place: Scope<'_>) -> Ident {
    let plain = syn::ext::IdentExt::unraw(name);
    match place {
        Scope::Module => format_ident!("__{}_node", plain, span = name.span()),
        Scope::Block(of, _) => format_ident!("__{}_{}_node", of, plain, span = name.span()),
    }
}

/// Prints the marker and its metadata.
fn meta(
    node: &NodeFn<'_>,
    options: &NodeOptions,
    marker: &Ident,
    place: Scope<'_>,
    needed: Option<&Needs>,
) -> TokenStream {
    let root = &options.root;
    let vis = &node.item.vis;
    let name = syn::ext::IdentExt::unraw(&node.item.sig.ident).to_string();
    let docs = docs(&node.item.attrs).map(|docs| {
        quote! {
            const DOCS: ::core::option::Option<&'static ::core::primitive::str> = ::core::option::Option::Some(#docs);
        }
    });
    let writes = options.writes.as_ref().map(|fields| {
        let fields = fields
            .iter()
            .map(|field| syn::ext::IdentExt::unraw(field).to_string());
        quote! {
            const WRITES: ::core::option::Option<&'static [&'static ::core::primitive::str]> =
                ::core::option::Option::Some(&[#(#fields),*]);
        }
    });
    let declared = options.writes.as_ref().map(|fields| {
        let names = fields.iter().map(|field| {
            let hash = fields::hash(&syn::ext::IdentExt::unraw(field).to_string());
            quote!(#root::__private::Name<#hash>)
        });
        let names = fields::list(names);
        quote! {
            #[automatically_derived]
            impl #root::__private::DeclaresWrites for #marker {
                type Names = #names;
            }
        }
    });
    let aliases = (!options.aliases.is_empty()).then(|| {
        let aliases = &options.aliases;
        quote!(const ALIASES: &'static [&'static ::core::primitive::str] = &[#(#aliases),*];)
    });
    let interrupts = options.interrupts.as_ref().map(|_| {
        quote!(
            const INTERRUPTS: ::core::primitive::bool = true;
        )
    });
    let needs = needed.map(|needed| needs(node, root, needed));
    let resources = needed.map(Needs::aliases);
    let calls = options.calls.as_ref().map(|calls| {
        let (model, tool) = (calls.model, calls.tool);
        quote!(
            const CALLS: #root::graph::Calls = #root::graph::Calls { model: #model, tool: #tool };
        )
    });
    let uses = uses::of(node, options);
    let (used, used_types) = (uses.constant(), uses.types(root, marker));
    let keys = keys::function(root, &node.item.block, &all_generics(node, place));
    quote! {
        #[doc(hidden)]
        #[allow(non_camel_case_types, dead_code, unreachable_pub, missing_debug_implementations)]
        #vis enum #marker {}

        #[automatically_derived]
        impl #root::node::NodeMeta for #marker {
            const NAME: &'static ::core::primitive::str = #name;
            #docs
            #writes
            #aliases
            #interrupts
            #calls
            #keys
            #used
            #needs
        }

        #resources
        #declared
        #used_types
    }
}

/// Returns the generics of the function, and those of the block around it.
fn all_generics<'a>(node: &NodeFn<'a>, place: Scope<'a>) -> Vec<&'a Generics> {
    let mut generics = vec![&node.item.sig.generics];
    if let Scope::Block(_, of_block) = place {
        generics.push(of_block);
    }
    generics
}

/// Finds the resources that the node always asks for.
fn read_needs(node: &NodeFn<'_>, marker: &Ident, place: Scope<'_>) -> Option<Needs> {
    let generics = all_generics(node, place);
    let prefix = format!("{marker}_needs");
    needs::read(&node.arguments, &node.item.block, &generics, &prefix)
}

/// Prints the function that returns these resources.
fn needs(node: &NodeFn<'_>, root: &Root, needs: &Needs) -> TokenStream {
    let list = needs.list(root, &node.arguments);
    quote! {
        #[allow(deprecated, clippy::all, clippy::pedantic)]
        fn needs() -> #root::__private::Vec<#root::node::NeededResource> {
            #list
        }
    }
}

fn without_lifetimes(generics: &Generics) -> Generics {
    let mut generics = generics.clone();
    generics.params = generics
        .params
        .into_iter()
        .filter(|param| !matches!(param, GenericParam::Lifetime(_)))
        .collect();
    if let Some(bounds) = &mut generics.where_clause {
        bounds.predicates = std::mem::take(&mut bounds.predicates)
            .into_iter()
            .filter(|predicate| !matches!(predicate, syn::WherePredicate::Lifetime(_)))
            .collect();
    }
    generics
}

/// Returns the names of the arguments in the outer function, which documentation shows.
pub(super) fn outer_names(arguments: &[Argument<'_>]) -> Vec<Ident> {
    let mut names: Vec<Ident> = Vec::new();
    for argument in arguments {
        let role = match argument.role {
            Role::State => "state",
            Role::Owned => "item",
            Role::Context => "cx",
            Role::StateOrContext => "borrowed",
        };
        let written = match argument.pat {
            Pat::Ident(pat) => pat.ident.to_string(),
            _ => String::new(),
        };
        // A leading underscore means that the body does not use it, but the call does.
        let mut name = syn::parse_str::<Ident>(written.trim_start_matches('_'))
            .unwrap_or_else(|_| Ident::new(role, Span::mixed_site()));
        if names.contains(&name) {
            name = format_ident!("other_{}", syn::ext::IdentExt::unraw(&name));
        }
        while names.contains(&name) {
            name = format_ident!("{name}_");
        }
        name.set_span(Span::mixed_site());
        names.push(name);
    }
    names
}

/// Prints an obligation that fails at the context's type if it is wrong.
pub(super) fn check(root: &Root, argument: &Argument<'_>, name: &Ident) -> TokenStream {
    if argument.role != Role::Context {
        return TokenStream::new();
    }
    let span = type_span(argument.ty);
    let root = root.at(span);
    let cx = Ident::new(&name.to_string(), span.resolved_at(Span::mixed_site()));
    quote_spanned!(span=> let _: &#root::node::Context = #cx;)
}
