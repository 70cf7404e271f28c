//! The methods of a state.

use proc_macro2::{Literal, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};

use super::chat::dismiss;
use super::layout::{Access, Bodies};
use super::names::Names;
use super::reducers::reducer_name;
use super::{Field, StateModel, places};
use crate::compact::compact;
use crate::paths::Root;

/// The parts of the state's methods, field by field.
#[derive(Default)]
struct Parts<'m> {
    fields: TokenStream,
    try_merge: Bodies<'m>,
    overwrite: Bodies<'m>,
    reset: TokenStream,
    prepare: Bodies<'m>,
    prepare_whole: TokenStream,
    make_reusable: Bodies<'m>,
    messages: Bodies<'m>,
}

impl<'m> Parts<'m> {
    fn new(model: &'m StateModel<'_>, names: &Names<'_>) -> Self {
        let root = &model.root;
        let mut parts = Self::default();
        for (field, place) in model.fields.iter().zip(places()) {
            let kind = kind(root, field);
            parts.fields.extend(quote!(#kind,));
            parts.add_merge(root, names, field);
            parts.add_reset(field, &place);
            parts.add_messages(root, field);
        }
        parts
    }

    /// Adds how an update reaches the field, with its reducer and without.
    fn add_merge(&mut self, root: &Root, names: &Names<'_>, field: &'m Field<'m>) {
        let Field { ident, name, .. } = field;
        let set = quote!(self.#ident = value;);
        if !field.is_reduced() {
            self.try_merge.push((field, set.clone()));
            self.overwrite.push((field, set));
            return;
        }
        let turbofish = names.ty_generics.as_turbofish();
        let reducer = reducer_name(field);
        let at_type = root.at(field.type_span());
        let merge = quote_spanned!(field.type_span()=> #at_type::__private::merge_field);
        let reducer = quote!(#reducer #turbofish());
        let merge = quote!(#merge(&#reducer, &mut self.#ident, value, #name));
        let prepare = quote!(#root::state::Reducer::prepare(&#reducer, value););
        if field.has_own_update() {
            self.add_own_merge(root, field, &merge, &prepare);
            return;
        }
        self.try_merge.push((field, quote!(#merge?;)));
        self.overwrite.push((field, set));
        self.prepare.push((field, prepare));
    }

    /// Adds how an update or a whole value reaches a field whose updates have a type of their own.
    fn add_own_merge(
        &mut self,
        root: &Root,
        field: &'m Field<'m>,
        merge: &TokenStream,
        prepare: &TokenStream,
    ) {
        let ident = field.ident;
        let write = quote!(#root::state::FieldWrite);
        let merged = quote! {
            match value {
                #write::Update(value) => #merge?,
                #write::Whole(value) => self.#ident = value,
            }
        };
        // Without a value of its own type, the field begins anew and takes the update.
        let overwritten = quote! {
            match value {
                #write::Update(value) => {
                    self.#ident = ::core::default::Default::default();
                    let _ = #merge;
                }
                #write::Whole(value) => self.#ident = value,
            }
        };
        let prepared = quote!(if let #write::Update(value) = value { #prepare });
        self.try_merge.push((field, merged));
        self.overwrite.push((field, overwritten));
        self.prepare.push((field, prepared));
    }

    /// Adds the default of a field that does not outlive its superstep, or is not stored.
    fn add_reset(&mut self, field: &Field<'_>, place: &Literal) {
        let Field { ident, ty, .. } = field;
        if field.options.ephemeral || field.options.untracked {
            let default =
                quote_spanned!(field.type_span()=> <#ty as ::core::default::Default>::default());
            self.reset.extend(quote! {
                if fields.contains(#place) {
                    self.#ident = #default;
                }
            });
        }
    }

    /// Adds the chat messages of the field.
    fn add_messages(&mut self, root: &Root, field: &'m Field<'m>) {
        let ident = field.ident;
        if field.options.rule.is_messages() {
            self.prepare_whole
                .extend(quote!(#root::__private::give_ids(&mut self.#ident);));
            let forget = quote!(#root::__private::forget_new_ids(&self.#ident, value););
            self.make_reusable.push((field, forget));
            self.messages
                .push((field, quote!(#root::__private::see_messages(value, see);)));
        }
    }
}

/// Prints the description of the field.
fn kind(root: &Root, field: &Field<'_>) -> TokenStream {
    let Field {
        name, ty, options, ..
    } = field;
    let type_text = match &options.update {
        Some(update) => format!("{} <- {}", compact(ty), compact(update)),
        None => compact(ty),
    };
    let mut kind = quote!(#root::state::Field::plain(#name).typed(#type_text));
    if !options.aliases.is_empty() {
        let aliases = &options.aliases;
        kind.extend(quote!(.aliases(&[#(#aliases),*])));
    }
    if let Some(reducer) = options.rule.name() {
        kind.extend(quote!(.reduced_by(#reducer)));
    }
    if options.ephemeral {
        kind.extend(quote!(.ephemeral()));
    }
    if options.untracked {
        kind.extend(quote!(.untracked()));
    }
    kind
}

/// Prints the `State` impl of the struct, and its update as the output of a node.
pub(super) fn state_impl(model: &StateModel<'_>, names: &Names<'_>) -> TokenStream {
    let root = &model.root;
    let Names {
        state,
        update,
        impl_generics,
        ty_generics,
        state_bounds,
        layout,
        ..
    } = names;
    let Parts {
        fields,
        try_merge,
        overwrite,
        reset,
        prepare,
        prepare_whole,
        make_reusable,
        messages,
    } = Parts::new(model, names);
    let (written, discard) = (layout.written(), layout.discard());
    let visit = |access, bodies: &Bodies<'_>| layout.visit(&quote!(update), access, bodies);
    let try_merge = visit(Access::Owned, &try_merge);
    let overwrite = visit(Access::Owned, &overwrite);
    let prepare = visit(Access::Mutable, &prepare);
    let messages = visit(Access::Shared, &messages);
    let output_bounds = names.of_update();
    // At the derive, like the rest of the header: a missing bound is then one error.
    let mut this = (*state).clone();
    this.set_span(Span::call_site());
    let prepare_whole =
        (!prepare_whole.is_empty()).then(|| quote!(fn prepare_whole(&mut self) { #prepare_whole }));
    let make_reusable = (!make_reusable.is_empty()).then(|| {
        let forget = visit(Access::Mutable, &make_reusable);
        quote!(fn make_reusable(&self, update: &mut Self::Update) { #forget })
    });
    let codec = codec(model);
    let dismiss = dismiss(model);
    let name = name(model);
    let version = version(model);
    quote! {
        #[automatically_derived]
        #[allow(unused_variables, unused_mut)]
        impl #impl_generics #root::state::State for #this #ty_generics #state_bounds {
            type Update = #update #ty_generics;

            fn fields(&self) -> &[#root::state::Field] {
                const FIELDS: &[#root::state::Field] = &[#fields];
                FIELDS
            }

            fn written(&self, update: &Self::Update) -> #root::state::FieldSet {
                #written
            }

            fn try_merge(
                &mut self,
                update: Self::Update,
            ) -> ::core::result::Result<(), #root::error::ReducerError> {
                #try_merge
                ::core::result::Result::Ok(())
            }

            fn overwrite(&mut self, update: Self::Update) {
                #overwrite
            }

            fn discard(&self, update: &mut Self::Update, fields: &#root::state::FieldSet) {
                #discard
            }

            fn reset(&mut self, fields: &#root::state::FieldSet) {
                #reset
            }

            fn prepare(&self, update: &mut Self::Update) {
                #prepare
            }

            #prepare_whole

            #make_reusable

            fn messages(
                update: &Self::Update,
                see: &mut dyn ::core::ops::FnMut(&#root::message::Message),
            ) {
                #messages
            }

            #dismiss

            #codec

            #name

            #version
        }

        #[automatically_derived]
        impl #impl_generics #root::node::IntoOutput<#state #ty_generics> for #update #ty_generics
        #output_bounds
        {
            fn into_output(
                self,
            ) -> ::core::result::Result<#root::node::Output<#state #ty_generics>, #root::error::NodeError>
            {
                ::core::result::Result::Ok(#root::node::Output::update(self))
            }
        }
    }
}

/// Prints the names of the type, today's and older ones.
fn name(model: &StateModel<'_>) -> TokenStream {
    let root = &model.root;
    let name = syn::ext::IdentExt::unraw(&model.input.ident).to_string();
    let parameters: Vec<_> = model
        .input
        .generics
        .type_params()
        .map(|parameter| &parameter.ident)
        .collect();
    let name = if parameters.is_empty() {
        quote!(<#root::__private::String as ::core::convert::From<_>>::from(#name))
    } else {
        quote!(#root::__private::generic_name(
            #name,
            &[#(#root::state::short_name::<#parameters>()),*],
        ))
    };
    let aliases = &model.aliases;
    let former = (!aliases.is_empty()).then(|| {
        quote! {
            fn former_names() -> &'static [&'static ::core::primitive::str] {
                &[#(#aliases),*]
            }
        }
    });
    quote! {
        fn name() -> #root::__private::String {
            #name
        }

        #former
    }
}

/// Prints the version of stored values, if there is one.
fn version(model: &StateModel<'_>) -> TokenStream {
    let root = &model.root;
    let Some((number, migrate)) = &model.version else {
        return TokenStream::new();
    };
    let migrated = migrate.as_ref().map(|path| quote!(.migrated_by(#path)));
    quote! {
        fn version() -> #root::state::StateVersion {
            #root::state::StateVersion::new(#number) #migrated
        }
    }
}

/// Prints whether the state can be stored as bytes, which the compiler determines for each type.
///
/// A state that borrows has no codec: `&'static str` deserializes only from a text that lives as
/// long, which no thread does, and the compiler would report an error instead of a missing codec.
fn codec(model: &StateModel<'_>) -> TokenStream {
    let root = &model.root;
    let borrows = |field: &Field<'_>| {
        let and = |token| matches!(token, TokenTree::Punct(punct) if punct.as_char() == '&');
        !field.options.untracked && flat(field.ty.to_token_stream()).into_iter().any(and)
    };
    if model.fields.iter().any(borrows) {
        return TokenStream::new();
    }
    quote! {
        fn codec() -> ::core::option::Option<#root::state::StateCodec<Self>> {
            #[allow(unused_imports)]
            use #root::__private::{WithCodec as _, WithoutCodec as _};
            (&#root::__private::CodecOf::<Self>::NEW).codec()
        }
    }
}

/// Returns the tokens without their groups.
fn flat(tokens: TokenStream) -> Vec<TokenTree> {
    let one = |token| match token {
        TokenTree::Group(group) => flat(group.stream()),
        token => vec![token],
    };
    tokens.into_iter().flat_map(one).collect()
}
