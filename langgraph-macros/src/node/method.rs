//! `#[node] impl Foo`: the method `run` makes the type a node.

use proc_macro2::{TokenStream, TokenTree};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{FnArg, ImplItem, ImplItemFn, ItemImpl, Pat, ReturnType, Type, parse_quote};

use super::answer;
use super::attr::NodeOptions;
use super::lifetime::{one_lifetime, shared_lifetime};
use super::needs::{self, Needs};
use super::signature::{Argument, Role, is_context, roles};
use crate::diag::Errors;
use crate::function::{docs, qualifiers, reference};

/// The method that runs the node.
pub(super) struct Method<'a> {
    run: &'a ImplItemFn,
    arguments: Vec<Argument<'a>>,
    state: Type,
    /// The type of the item, for a worker.
    item: Option<&'a Type>,
    needs: Option<Needs>,
}

/// Checks the block and reports every mistake. A block with node `functions` needs no `run`.
pub(super) fn read<'a>(
    block: &'a ItemImpl,
    options: &NodeOptions,
    functions: bool,
    errors: &mut Errors,
) -> Option<Method<'a>> {
    let before = errors.len();
    if let Some((path, _)) = &block.trait_ {
        errors.on(
            path,
            "`#[node]` belongs on an `impl` block of the type itself: it writes the `impl Node`",
        );
        return None;
    }
    refuse_options_of_functions(options, errors);
    let method = run_method(block, functions, errors)?;
    let typed = inputs(method, errors)?;
    let arguments = roles(&typed, &method.sig, errors);
    let (state, item) = state_and_item(&arguments, options)?;
    (errors.len() == before).then(|| Method {
        needs: read_needs(block, method, &arguments),
        run: method,
        arguments,
        state,
        item,
    })
}

/// Reports the options that only a node function has.
fn refuse_options_of_functions(options: &NodeOptions, errors: &mut Errors) {
    if let Some(alias) = options.aliases.first() {
        errors.on(
            alias,
            "an alias of a value is given where it is added: `.alias(\"…\")`",
        );
    }
    if let Some(reads) = &options.reads {
        errors.on(
            reads.first(),
            "`reads` is an option of a function: what a method reads is not known",
        );
    }
    if let Some(interrupts) = &options.interrupts {
        errors.on(
            interrupts,
            "a value declares where it is added that it interrupts: `.interrupts()`",
        );
    }
    if let Some(calls) = options.calls.as_ref().and_then(|calls| calls.word.as_ref()) {
        errors.on(
            calls,
            "a value declares where it is added what it calls: `.calls(…)`",
        );
    }
}

/// Returns the method that runs the node. A block with node `functions` may have a function of that name instead.
fn run_method<'a>(
    block: &'a ItemImpl,
    functions: bool,
    errors: &mut Errors,
) -> Option<&'a ImplItemFn> {
    let mut methods = block.items.iter().filter_map(|item| match item {
        ImplItem::Fn(method) => Some(method),
        _ => None,
    });
    let run = methods.find(|method| {
        method.sig.ident == "run" && !(functions && method.sig.receiver().is_none())
    });
    if run.is_none() && !functions {
        errors.on(
            &block.self_ty,
            "a node's block has a method `run`: `async fn run(&self, state: &State, cx: &Context)`; \
             a function of it becomes a node by a `#[node]` of its own",
        );
    }
    run
}

/// Returns the arguments behind `&self`; `None` if there is no receiver.
fn inputs<'a>(method: &'a ImplItemFn, errors: &mut Errors) -> Option<Vec<(&'a Pat, &'a Type)>> {
    qualifiers(&method.sig, "node", errors);
    let mut inputs = method.sig.inputs.iter();
    match inputs.next() {
        Some(FnArg::Receiver(receiver)) if is_shared(receiver) => {}
        Some(FnArg::Receiver(receiver)) => errors.on(
            receiver,
            "a node is shared by the runs of its graph: take `&self`",
        ),
        _ => {
            errors.on(&method.sig.ident, "a node's `run` takes `&self` first");
            return None;
        }
    }
    let typed = inputs.filter_map(|input| match input {
        FnArg::Typed(argument) => Some((&*argument.pat, &*argument.ty)),
        FnArg::Receiver(_) => None,
    });
    Some(typed.collect())
}

/// Returns the type of the state, and that of the item if the node is a worker.
fn state_and_item<'a>(
    arguments: &[Argument<'a>],
    options: &NodeOptions,
) -> Option<(Type, Option<&'a Type>)> {
    let borrowed = arguments.iter().find_map(|argument| {
        let target = &*reference(argument.ty)?.elem;
        (argument.role != Role::Context && !is_context(target)).then_some(target)
    });
    let owned = arguments
        .first()
        .filter(|argument| argument.role == Role::Owned)
        .map(|argument| argument.ty);
    // What is owned is the item of a worker if the state is known otherwise.
    let state = options.state.as_ref().or(borrowed);
    let item = owned.filter(|owned| state.is_some_and(|state| !same(state, owned)));
    Some((state.or(owned)?.clone(), item))
}

fn same(left: &Type, right: &Type) -> bool {
    let text = |ty: &Type| quote!(#ty).to_string();
    text(left) == text(right)
}

fn borrows_context(argument: &Argument<'_>) -> bool {
    reference(argument.ty).is_some_and(|reference| is_context(&reference.elem))
}

fn is_shared(receiver: &syn::Receiver) -> bool {
    matches!(&receiver.kind, syn::ReceiverKind::Reference(_, _, None))
}

/// Returns the block itself: a node is async and has a receiver by contract, whatever its body
/// does.
pub(super) fn as_written(mut block: ItemImpl, node: Option<&Method<'_>>) -> ItemImpl {
    for item in &mut block.items {
        if let ImplItem::Fn(method) = item
            && method.sig.ident == "run"
        {
            method
                .attrs
                .push(parse_quote!(#[allow(clippy::unused_async, clippy::unused_self)]));
            if let Some(needs) = node.and_then(|node| node.needs.as_ref()) {
                method.block = needs.block.clone();
            }
        }
    }
    block
}

/// The `impl Node` that calls the method.
pub(super) fn expand(block: &ItemImpl, method: &Method<'_>, options: &NodeOptions) -> TokenStream {
    let root = &options.root;
    let (state, this) = (&method.state, &block.self_ty);
    let shared = shared_lifetime();
    let mut generics = block.generics.clone();
    generics.make_where_clause().predicates.push(parse_quote! {
        #this: ::core::marker::Send + ::core::marker::Sync + 'static
    });
    let (params, _, bounds) = generics.split_for_impl();
    let Body { answers, made } = body(method, options);
    let docs = docs_method(block, method);
    let writes = writes_method(options);
    let needs = needs_method(method, options);
    let aliases = method.needs.as_ref().map(Needs::aliases);
    let jumps = jumps(block, method, options);
    let (of, item) = match method.item {
        Some(item) => (quote!(WorkerNode<#state, #item>), quote!(item: #item,)),
        None => (quote!(Node<#state>), TokenStream::new()),
    };
    quote! {
        #[automatically_derived]
        impl #params #root::node::#of for #this #bounds {
            #[allow(unused_variables)]
            fn run<#shared>(
                &#shared self,
                #item
                state: &#shared #state,
                cx: &#shared #root::node::Context,
            ) -> #root::node::NodeRun<#shared, #state> {
                #made
            }

            fn may_goto(&self) -> ::core::primitive::bool {
                #answers.may_goto
            }

            #docs
            #writes
            #needs
        }

        #aliases
        #jumps
    }
}

/// Prints the marker of a node whose method returns `Command` or `Next`, by these names: a trait with the type
/// itself would make a private one public.
fn jumps(block: &ItemImpl, method: &Method<'_>, options: &NodeOptions) -> Option<TokenStream> {
    let ReturnType::Type(_, output) = &method.run.sig.output else {
        return None;
    };
    let state = &method.state;
    if same(state, output) || !names_targets(quote!(#output)) {
        return None;
    }
    let (root, this) = (&options.root, &block.self_ty);
    let (params, _, bounds) = block.generics.split_for_impl();
    let jumping = if let Some(item) = method.item {
        quote!(JumpingWorkerMethod<#state, #item>)
    } else {
        quote!(JumpingMethod<#state>)
    };
    Some(quote! {
        #[automatically_derived]
        impl #params #root::__private::#jumping for #this #bounds {}
    })
}

fn names_targets(output: TokenStream) -> bool {
    output.into_iter().any(|token| match token {
        TokenTree::Ident(ident) => ident == "Command" || ident == "Next",
        TokenTree::Group(group) => names_targets(group.stream()),
        _ => false,
    })
}

/// The body of the node's `run`.
struct Body {
    /// What the runtime knows of the method's answer by its type.
    answers: TokenStream,
    made: TokenStream,
}

/// Prints the call of the method, and what becomes of its answer.
fn body(method: &Method<'_>, options: &NodeOptions) -> Body {
    let (root, state) = (&options.root, &method.state);
    let signature = &method.run.sig;
    let run = &signature.ident;
    let passed = method.arguments.iter().map(|argument| match argument.role {
        Role::Owned if method.item.is_some() => quote!(item),
        Role::Owned => quote!(::core::clone::Clone::clone(state)),
        Role::StateOrContext if !borrows_context(argument) => quote!(state),
        Role::State => quote!(state),
        Role::Context | Role::StateOrContext => quote_spanned!(argument.ty.span()=> cx),
    });
    let unit: Type = parse_quote!(());
    let (output, span) = match &signature.output {
        ReturnType::Default => (&unit, run.span()),
        ReturnType::Type(_, ty) => (&**ty, ty.span()),
    };
    let output = one_lifetime(output);
    let is_async = signature.asyncness.is_some();
    let call = quote_spanned!(run.span()=> <Self>::#run(self, #(#passed),*));
    let called = if is_async {
        quote!(#call.await)
    } else {
        call.clone()
    };
    let written = match &options.writes {
        _ if options.writes_unread => Some(answer::nothing(&called)),
        Some(fields) => {
            let written = answer::written(root, state, fields, Some(&output), &called);
            Some(written)
        }
        None => None,
    };
    let (answer, value) = match written {
        Some(answer::Written { ty, value }) if is_async => (ty, quote!(async move { #value })),
        Some(answer::Written { ty, value }) => (ty, value),
        None => (output, call),
    };
    let at_output = root.at(span);
    let answers = quote_spanned!(span=> #at_output::__private::answer_of::<#state, #answer>());
    let made = if is_async {
        quote_spanned!(run.span()=> #answers.future(#value))
    } else {
        quote_spanned!(run.span()=> #answers.ready(#value))
    };
    Body { answers, made }
}

/// Prints the method that returns the documentation of the node, if it has one.
fn docs_method(block: &ItemImpl, method: &Method<'_>) -> Option<TokenStream> {
    let docs = docs(&method.run.attrs).or_else(|| docs(&block.attrs))?;
    Some(quote! {
        fn docs(&self) -> ::core::option::Option<&::core::primitive::str> {
            ::core::option::Option::Some(#docs)
        }
    })
}

/// Prints the method that returns the fields that the node writes, if they are declared.
fn writes_method(options: &NodeOptions) -> Option<TokenStream> {
    let names = options.writes.as_ref()?.iter();
    let names = names.map(|field| syn::ext::IdentExt::unraw(field).to_string());
    Some(quote! {
        fn writes(&self) -> ::core::option::Option<&[&::core::primitive::str]> {
            ::core::option::Option::Some(&[#(#names),*])
        }
    })
}

/// Finds the resources that the node always asks for.
fn read_needs(block: &ItemImpl, method: &ImplItemFn, arguments: &[Argument<'_>]) -> Option<Needs> {
    let generics = [&block.generics, &method.sig.generics];
    let prefix = format!("__{}_run_needs", super::block::name(&block.self_ty));
    needs::read(arguments, &method.block, &generics, &prefix)
}

/// Prints the method that returns these resources.
fn needs_method(method: &Method<'_>, options: &NodeOptions) -> Option<TokenStream> {
    let root = &options.root;
    let list = method.needs.as_ref()?.list(root, &method.arguments);
    Some(quote! {
        #[allow(deprecated, clippy::all, clippy::pedantic)]
        fn needs(&self) -> #root::__private::Vec<#root::node::NeededResource> {
            #list
        }
    })
}
