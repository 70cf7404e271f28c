//! Parses single nodes, lists of them, and groups.

use syn::parse::ParseStream;
use syn::{ExprPath, Token, token};

use super::tokens::{bracketed, not_a_node, skip_one};
use super::{Read, Reader, STAGES};
use crate::graph::ast::{AnyOf, Chain, Group, Stage};

impl Reader<'_> {
    /// Parses `| b | c` after a node.
    pub(super) fn any_of(&mut self, input: ParseStream<'_>, first: Stage) -> Read<Stage> {
        if !is_bar(input) || !matches!(first, Stage::Node(_) | Stage::Start(_) | Stage::End(_)) {
            return Ok(first);
        }
        let bar = input.span();
        let mut members = vec![first];
        while is_bar(input) {
            let here = input.span();
            skip_one(input);
            if !input.peek(syn::Ident) && !input.peek(Token![::]) {
                return Err(self.fail_at(here, "expected a node after `|`, as in `a | b => c`"));
            }
            members.push(self.mention(input)?);
        }
        Ok(Stage::AnyOf(AnyOf { members, bar }))
    }

    /// Parses a node, START or END.
    pub(super) fn mention(&mut self, input: ParseStream<'_>) -> Read<Stage> {
        if let Some(hint) = not_a_node(input) {
            return Err(self.fail_at(input.span(), hint));
        }
        let path: ExprPath = self.ok(input.parse())?;
        let name = path
            .path
            .segments
            .last()
            .map(|segment| segment.ident.clone());
        let Some(name) = name else {
            return Err(self.fail_at(input.span(), format_args!("expected {STAGES}")));
        };
        if name == "goto" && (input.peek(syn::Ident) || input.peek(token::Paren)) {
            return Err(self.fail_at(
                name.span(),
                "`goto` takes a list of the nodes that may follow, as in `goto [search, END]`",
            ));
        }
        if input.peek(token::Paren) {
            self.fail_at(
                input.span(),
                format_args!(
                    "a node is named here, not called: write `{name}`; a value with options gets \
                     its own name, as in `let {name} = {name}.retry(3);`"
                ),
            );
            skip_one(input);
        }
        if input.peek(Token![.])
            || input.peek(Token![?])
            || input.peek(Token![!])
            || input.peek(token::Brace)
        {
            return Err(self.fail_at(
                input.span(),
                format_args!(
                    "only a name can stand here; give the value one with \
                     `let {name} = …;` before the chains"
                ),
            ));
        }
        if path.path.get_ident().is_some() {
            let meant = match &*name.to_string() {
                "Start" => Some("START"),
                "End" => Some("END"),
                _ => None,
            };
            if let Some(meant) = meant {
                self.fail_at(
                    name.span(),
                    format_args!("`{name}` is written `{meant}` here"),
                );
                return Ok(if meant == "START" {
                    Stage::Start(path)
                } else {
                    Stage::End(path)
                });
            }
        }
        Ok(match &*name.to_string() {
            "START" => Stage::Start(path),
            "END" => Stage::End(path),
            _ => Stage::Node(path),
        })
    }

    /// `[chain, …]`
    pub(super) fn group(&mut self, input: ParseStream<'_>) -> Read<Stage> {
        let content;
        let bracket = match bracketed(input) {
            Ok((bracket, inside)) => {
                content = inside;
                bracket
            }
            Err(error) => return Err(self.fail(error)),
        };
        let mut chains = Vec::new();
        if content.is_empty() {
            self.fail_at(
                bracket.span.join(),
                "this group is empty: name at least one node in it",
            );
        }
        while !content.is_empty() {
            let mut chain = Chain::default();
            let read = self.chain(&content, &mut chain);
            chains.push(chain);
            self.comma(&content, read.is_ok(), "in a group");
        }
        Ok(Stage::Group(Group { chains, bracket }))
    }
}

fn is_bar(input: ParseStream<'_>) -> bool {
    input.peek(Token![|]) && !input.peek(Token![||])
}
