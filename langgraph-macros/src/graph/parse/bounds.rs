//! Parses bounds: `at_most 5 else exit` after a node.

use proc_macro2::Ident;
use syn::ext::IdentExt as _;
use syn::parse::ParseStream;
use syn::{LitInt, Token};

use super::tokens::{input_span, word};
use super::{Read, Reader};
use crate::graph::ast::{BoundSyntax, Bounded, Stage};

impl Reader<'_> {
    /// Parses `at_most 5 else exit` after a node.
    pub(super) fn bounded(&mut self, input: ParseStream<'_>, stage: Stage) -> Read<Stage> {
        let Some(bound) = self.bound(input)? else {
            return Ok(stage);
        };
        match stage {
            Stage::Node(node) => Ok(Stage::Bounded(Box::new(Bounded { node, bound }))),
            other => Err(self.fail_at(
                bound.keyword,
                format_args!(
                    "`at_most` bounds the edge to a node, found {}: write it after a node",
                    other.kind()
                ),
            )),
        }
    }

    /// Parses `at_most 5 else exit`, if it follows.
    pub(super) fn bound(&mut self, input: ParseStream<'_>) -> Read<Option<BoundSyntax>> {
        if !input.fork().call(word).is_ok_and(|word| word == "at_most") {
            return Ok(None);
        }
        let keyword = self.ok(input.call(word))?.span();
        let example = "as in `write at_most 5 else END`";
        if !input.peek(LitInt) {
            let message = format_args!("expected a number after `at_most`, {example}");
            return Err(self.fail_at(input_span(input, keyword), message));
        }
        let number: LitInt = self.ok(input.parse())?;
        let at_most = match number.base10_parse() {
            Ok(0) => {
                let message = "a bound of 0 forbids the edge: remove the edge";
                return Err(self.fail_at(number.span(), message));
            }
            read => self.ok(read)?,
        };
        let mut exit = None;
        if input.peek(Token![else]) {
            let word: Token![else] = self.ok(input.parse())?;
            if !input.peek(Ident::peek_any) && !input.peek(Token![::]) {
                let message = format_args!("expected a node or `END` after `else`, {example}");
                return Err(self.fail_at(word.span, message));
            }
            exit = Some(self.mention(input)?);
        }
        Ok(Some(BoundSyntax {
            keyword,
            at_most,
            exit,
        }))
    }
}
