//! `#[derive(State)]`: parses the struct, then prints its update type and its `State` impl.

mod attr;
mod chat;
mod expand;
mod layout;
mod methods;
mod names;
mod overwrite;
mod part;
mod reducers;
mod rows;
mod rule;
mod stored;
#[cfg(test)]
mod tests;
mod update;

use proc_macro2::{Literal, Span, TokenStream};
use quote::{ToTokens, quote};
use syn::spanned::Spanned;
use syn::{Data, DeriveInput, Fields, LitStr, Type};

use crate::diag::Errors;
use crate::paths::Root;
use attr::{Container, FieldOptions};

/// The parsed struct.
struct StateModel<'a> {
    input: &'a DeriveInput,
    root: Root,
    /// The version of stored values, and the path of its migration.
    version: Option<(u32, Option<syn::Path>)>,
    /// The type's names in older versions.
    aliases: Vec<LitStr>,
    fields: Vec<Field<'a>>,
}

/// One field of the struct.
struct Field<'a> {
    ident: &'a syn::Ident,
    /// The name without `r#`.
    name: String,
    ty: &'a Type,
    docs: Vec<&'a syn::Attribute>,
    options: FieldOptions,
}

/// Expands the derive. Mistakes become errors beside an expansion of what could be read.
pub(crate) fn derive(input: TokenStream) -> TokenStream {
    let input: DeriveInput = match syn::parse2(input) {
        Ok(input) => input,
        Err(error) => return error.to_compile_error(),
    };
    let mut errors = Errors::new();
    let Container {
        root,
        version,
        migrate,
        aliases: former,
    } = attr::container(&input.attrs, &mut errors);
    let mut fields: Vec<_> = match &input.data {
        Data::Struct(data) => match &data.fields {
            Fields::Named(fields) => fields
                .named
                .iter()
                .filter_map(|field| read(field, &mut errors))
                .collect(),
            Fields::Unnamed(fields) => {
                errors.on(
                    fields,
                    "a state's fields have names, found a tuple struct: name the fields, or wrap a value that is replaced whole in `Plain<_>`",
                );
                Vec::new()
            }
            Fields::Unit => {
                errors.on(
                    &input.ident,
                    "a state has fields, found a unit struct: give it fields, or write `{}` for none",
                );
                Vec::new()
            }
        },
        Data::Enum(data) => {
            not_a_struct(data.enum_token.span, "an enum", &mut errors);
            Vec::new()
        }
        Data::Union(data) => {
            not_a_struct(data.union_token.span, "a union", &mut errors);
            Vec::new()
        }
    };
    let before = errors.len();
    aliases(&fields, &mut errors);
    if errors.len() > before {
        // rustc would report a duplicate name again.
        for field in &mut fields {
            field.options.aliases.clear();
        }
    }
    for alias in &former {
        if input.ident == alias.value() {
            errors.on(
                alias,
                format!("`{}` is the type's own name already", alias.value()),
            );
        }
    }
    let borrowed = input.generics.lifetimes().next();
    if let Some(lifetime) = borrowed {
        errors.on(
            lifetime,
            "a state owns its data, found a lifetime: it outlives the call that started the run",
        );
    }
    let model = StateModel {
        input: &input,
        root,
        version: version.map(|(_, number)| (number, migrate)),
        aliases: former,
        fields,
    };
    let mut output = errors.to_compile_errors();
    // A type parameter that no field of the update uses would be another error.
    let expandable = errors.is_empty()
        || borrowed.is_none()
            && (!model.fields.is_empty() || input.generics.type_params().next().is_none());
    if expandable {
        output.extend(expand::expand(&model));
    }
    output
}

/// A stored name must belong to one field.
fn aliases(fields: &[Field<'_>], errors: &mut Errors) {
    let mut seen: Vec<&LitStr> = Vec::new();
    for field in fields {
        for alias in &field.options.aliases {
            let name = alias.value();
            if field.options.untracked {
                errors.on(
                    alias,
                    "an alias is a name under which the field was stored, and an untracked field never is",
                );
            } else if field.name == name {
                errors.on(alias, format!("`{name}` is the field's own name already"));
            } else if let Some(other) = fields.iter().find(|other| other.name == name) {
                errors.with_note(
                    (alias, format!("`{name}` is a field of its own: what was stored under that name would be read into one of two fields")),
                    (other.ident, "this one"),
                );
            } else if let Some(first) = seen.iter().find(|first| first.value() == name) {
                errors.with_note(
                    (alias, format!("`{name}` is an alias already")),
                    (first, "the first one is here"),
                );
            }
            seen.push(alias);
        }
    }
}

fn not_a_struct(span: Span, found: &str, errors: &mut Errors) {
    errors.at(
        span,
        format!(
            "a state is a struct with named fields, found {found}: put it into a field, or wrap a value that is replaced whole in `Plain<_>`"
        ),
    );
}

/// The places of the fields in `State::fields`.
fn places() -> impl Iterator<Item = Literal> {
    (0..).map(Literal::usize_unsuffixed)
}

fn read<'a>(field: &'a syn::Field, errors: &mut Errors) -> Option<Field<'a>> {
    let ident = field.ident.as_ref()?;
    Some(Field {
        ident,
        name: syn::ext::IdentExt::unraw(ident).to_string(),
        ty: &field.ty,
        docs: field
            .attrs
            .iter()
            .filter(|attr| attr.path().is_ident("doc"))
            .collect(),
        options: attr::field(&field.attrs, errors),
    })
}

impl Field<'_> {
    /// Returns true if a reducer merges the writes.
    fn is_reduced(&self) -> bool {
        !matches!(self.options.rule, rule::Rule::Replace)
    }

    /// Returns the type of what nodes write.
    fn update(&self) -> &Type {
        self.options.update.as_ref().unwrap_or(self.ty)
    }

    /// Returns true if the updates of the field have a type of their own: then a part of an update is a
    /// `FieldWrite`, an update or a whole value.
    fn has_own_update(&self) -> bool {
        self.options.update.is_some()
    }

    /// Returns the type of the field's part of an update.
    fn part(&self, root: &Root) -> TokenStream {
        let (ty, update) = (self.ty, self.update());
        if self.has_own_update() {
            quote!(#root::state::FieldWrite<#update, #ty>)
        } else {
            update.to_token_stream()
        }
    }

    /// Prints a part of an update that the reducer takes.
    fn update_part(&self, root: &Root, value: &syn::Ident) -> TokenStream {
        if self.has_own_update() {
            quote!(#root::state::FieldWrite::Update(#value))
        } else {
            value.to_token_stream()
        }
    }

    /// Prints a part of an update that is the whole value.
    fn whole_part(&self, root: &Root, value: &impl ToTokens) -> TokenStream {
        if self.has_own_update() {
            quote!(#root::state::FieldWrite::Whole(#value))
        } else {
            value.to_token_stream()
        }
    }

    /// Returns the span for errors about the field's type.
    fn type_span(&self) -> Span {
        self.ty.span()
    }
}
