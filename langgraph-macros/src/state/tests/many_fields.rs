//! What a state with many fields is written out to.

use expect_test::expect;
use proc_macro2::TokenStream;
use quote::format_ident;
use syn::{Fields, File, Item, ItemEnum, ItemStruct, Visibility};

use super::derive;

/// Expands a state with so many fields, of which most are merged.
fn expansion(fields: usize) -> File {
    let fields = (0..fields).map(|index| {
        let (name, ty) = (format_ident!("f{index}"), format_ident!("T{index}"));
        let rule = (index % 7 != 0).then(|| quote::quote!(#[reducer(append)]));
        quote::quote!(#rule #name: #ty,)
    });
    let fields: TokenStream = fields.collect();
    let output = derive(quote::quote!(pub struct S { #fields }));
    syn::parse2(output).expect("the expansion is a list of items")
}

fn update(file: &File) -> &ItemStruct {
    let update = file.items.iter().find_map(|item| match item {
        Item::Struct(item) => Some(item),
        _ => None,
    });
    update.expect("the update is a struct")
}

fn part(file: &File) -> Option<&ItemEnum> {
    file.items.iter().find_map(|item| match item {
        Item::Enum(item) => Some(item),
        _ => None,
    })
}

#[test]
fn an_update_has_a_field_for_each_of_up_to_32() {
    let file = expansion(32);
    let Fields::Named(fields) = &update(&file).fields else {
        panic!("the fields of the update have names");
    };
    assert_eq!(fields.named.len(), 32);
    let is_public = |vis: &Visibility| matches!(vis, Visibility::Public(_));
    assert!(fields.named.iter().all(|field| is_public(&field.vis)));
    assert!(part(&file).is_none());

    let file = expansion(33);
    let [field] = Vec::from_iter(&update(&file).fields)[..] else {
        panic!("the update is its list");
    };
    assert!(!is_public(&field.vis));
    let part = part(&file).expect("the parts are an enum");
    assert_eq!(part.variants.len(), 33);
}

/// The items that make, copy and compare an update, and what asks it for its fields.
fn of_the_whole(fields: usize) -> String {
    let text = prettyplease::unparse(&expansion(fields));
    let lines: Vec<_> = text.lines().collect();
    let mut found = String::new();
    for start in [
        "pub struct SUpdate",
        "impl ::core::default::Default for SUpdate",
        "impl ::core::clone::Clone for SUpdate",
        "        fn written(",
        "        fn discard(",
        "    fn __written(",
    ] {
        let first = lines.iter().position(|line| line.starts_with(start));
        let first = first.expect("the item is there");
        let indent = &start[..start.len() - start.trim_start().len()];
        let end = format!("{indent}}}");
        for line in &lines[first..] {
            found.extend([line, "\n"]);
            if **line == *end {
                break;
            }
        }
    }
    found
}

#[test]
fn an_update_of_many_fields_does_not_grow_with_them() {
    let of_33 = of_the_whole(33);
    assert_eq!(of_33, of_the_whole(70));
    expect![[r#"
        pub struct SUpdate {
            parts: ::langgraph::__private::Parts<__SPart>,
        }
        impl ::core::default::Default for SUpdate {
            fn default() -> Self {
                Self {
                    parts: ::core::default::Default::default(),
                }
            }
        }
        impl ::core::clone::Clone for SUpdate {
            fn clone(&self) -> Self {
                Self {
                    parts: ::core::clone::Clone::clone(&self.parts),
                }
            }
        }
                fn written(&self, update: &Self::Update) -> ::langgraph::state::FieldSet {
                    update.parts.written()
                }
                fn discard(
                    &self,
                    update: &mut Self::Update,
                    fields: &::langgraph::state::FieldSet,
                ) {
                    update.parts.discard(fields);
                }
            fn __written(self) -> ::core::option::Option<Self> {
                let empty = self.parts.is_empty();
                if empty {
                    ::core::option::Option::None
                } else {
                    ::core::option::Option::Some(self)
                }
            }
    "#]]
    .assert_eq(&of_33);
}

#[test]
fn a_renamed_crate_is_named_everywhere() {
    let fields = (0..40).map(|index| format!("#[reducer(append)] f{index}: Vec<u8>,"));
    let text = format!(
        "#[state(crate = lg)] struct S {{ {} #[reducer(f, update = u8)] last: u8 }}",
        fields.collect::<String>()
    );
    let output = derive(text.parse().expect("the text is tokens")).to_string();
    assert!(output.contains("lg :: __private :: Parts"));
    assert!(!output.contains("langgraph"), "{output}");
}

#[test]
fn the_text_of_plain_fields_grows_with_their_number_and_not_with_its_square() {
    let length = |fields: usize| {
        let fields = (0..fields).map(|index| format!("f{index}: u8,"));
        let text = format!("struct S {{ {} }}", fields.collect::<String>());
        let output = derive(text.parse().expect("the text is tokens"));
        output.to_string().len()
    };
    let (some, many) = (length(100), length(400));
    assert!(many < 5 * some, "{some} and {many}");
}
