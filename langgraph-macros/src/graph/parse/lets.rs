//! Parses `let` statements.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote};
use syn::parse::ParseStream;
use syn::parse::discouraged::Speculative as _;
use syn::{Attribute, Expr, Pat, Token, Type};

use super::tokens::{bound_names, ends_in_braces, input_span, skip_past_semicolon};
use super::{Read, Reader, options};
use crate::diag::{Errors, last_span};
use crate::graph::ast::{Let, Stage, SwitchSyntax, WithOptions};
use crate::graph::lets;

impl Reader<'_> {
    /// `let pattern = value;`
    pub(super) fn let_statement(&mut self, input: ParseStream<'_>) -> Let {
        let mut lost = Vec::new();
        if let Ok(read) = self.read_let(input, &mut lost) {
            return read;
        }
        skip_past_semicolon(input);
        Let {
            lost,
            ..Let::default()
        }
    }

    fn read_let(&mut self, input: ParseStream<'_>, lost: &mut Vec<Ident>) -> Read<Let> {
        let attributes = self.attributes_of_let(input)?;
        let keyword: Token![let] = self.ok(input.parse())?;
        if input.is_empty() || input.peek(Token![;]) || input.peek(Token![=]) {
            return Err(self.fail_at(keyword.span, "expected a name after `let`"));
        }
        let pattern = self.ok(input.call(Pat::parse_single))?;
        bound_names(&pattern.to_token_stream(), lost);
        let names = lets::names(&pattern, &attributes);
        let mut statement = quote!(#(#attributes)* #keyword #pattern);
        if input.peek(Token![:]) {
            let colon: Token![:] = self.ok(input.parse())?;
            let of: Type = self.ok(input.parse())?;
            statement.extend(quote!(#colon #of));
        }
        let equals = self.equals(input, &statement, keyword)?;
        if let Pat::Ident(name) = &pattern
            && attributes.is_empty()
            && let Some((decision, value)) = decision(input)
        {
            let named = [name.ident.clone()];
            statement.extend(quote!(#equals #value));
            self.semicolon(input, &statement, "a `let`");
            statement.extend(quote!(;));
            return Ok(Let {
                statement,
                bound: lost.clone(),
                names: named.into(),
                value,
                decision: Some(decision),
                ..Let::default()
            });
        }
        let value: Expr = self.ok(input.parse())?;
        self.check_lent(&value);
        statement.extend(quote!(#equals));
        let options = match &pattern {
            Pat::Ident(name) if attributes.is_empty() => options::read(&name.ident, &value),
            _ => None,
        };
        let options = options.map(|options| {
            let head = statement.clone();
            Box::new(WithOptions { head, ..options })
        });
        statement.extend(quote!(#value));
        let mut uses = value.to_token_stream();
        if let Some((otherwise, block)) = self.otherwise(input, &value)? {
            statement.extend(quote!(#otherwise #block));
            uses.extend(block.into_token_stream());
        }
        self.semicolon(input, &statement, "a `let`");
        statement.extend(quote!(;));
        Ok(Let {
            statement,
            bound: lost.clone(),
            names,
            value: uses,
            options,
            ..Let::default()
        })
    }

    /// Reads the attributes of a `let`, which follows them.
    fn attributes_of_let(&mut self, input: ParseStream<'_>) -> Read<Vec<Attribute>> {
        let attributes = self.ok(input.call(Attribute::parse_outer))?;
        if !input.peek(Token![let]) {
            let written = last_span(&quote!(#(#attributes)*));
            let span = input_span(input, written.unwrap_or_else(|| input.span()));
            return Err(self.fail_at(span, "attributes can only stand before a `let`"));
        }
        Ok(attributes)
    }

    /// Reads the `=` of a `let`; a value follows.
    fn equals(
        &mut self,
        input: ParseStream<'_>,
        statement: &TokenStream,
        keyword: Token![let],
    ) -> Read<Token![=]> {
        if !input.peek(Token![=]) || input.peek(Token![=>]) {
            let span = input_span(input, last_span(statement).unwrap_or(keyword.span));
            return Err(self.fail_at(
                span,
                "expected `=` and a value, as in `let a = b.retry(3);`",
            ));
        }
        let equals: Token![=] = self.ok(input.parse())?;
        if input.is_empty() || input.peek(Token![;]) {
            return Err(self.fail_at(equals.span, "expected a value after `=`"));
        }
        Ok(equals)
    }

    /// Reports a closure whose future borrows what it cannot lend.
    fn check_lent(&mut self, value: &Expr) {
        if let Some((argument, of)) = lets::lent(value) {
            let of = of.to_token_stream();
            let message = format!(
                "the future borrows `{argument}`, which this closure cannot lend: write `async |{argument}: &{of}| ..`; \
                 or, if the closure captures something, `move |{argument}: {of}| async move {{ .. }}`"
            );
            self.errors.on(argument, message);
        }
    }

    /// Reads the `else` of a `let`, if it has one.
    fn otherwise(
        &mut self,
        input: ParseStream<'_>,
        value: &Expr,
    ) -> Read<Option<(Token![else], syn::Block)>> {
        if !input.peek(Token![else]) {
            return Ok(None);
        }
        if ends_in_braces(value) {
            let message = "the value before this `else` ends in braces: put it in parentheses";
            return Err(self.fail_at(input.span(), message));
        }
        let otherwise = self.ok(input.parse())?;
        Ok(Some((otherwise, self.ok(input.parse())?)))
    }
}

/// Parses a value that can be a decision, with its tokens.
///
/// It may be ordinary Rust all the same: the use of its name decides.
fn decision(input: ParseStream<'_>) -> Option<(Box<SwitchSyntax>, TokenStream)> {
    let is_match = input.peek(Token![match]);
    if !is_match && !input.peek(Token![if]) {
        return None;
    }
    let mut errors = Errors::new();
    let mut reader = Reader::new(&mut errors);
    let fork = input.fork();
    let stage = if is_match {
        reader.match_stage(&fork)
    } else {
        reader.if_stage(&fork)
    };
    let Ok(Stage::Switch(switch)) = stage else {
        return None;
    };
    if !errors.is_empty() || !(fork.is_empty() || fork.peek(Token![;])) {
        return None;
    }
    let rest = fork.cursor();
    let mut tokens = TokenStream::new();
    let mut cursor = input.cursor();
    while cursor != rest
        && let Some((tree, next)) = cursor.token_tree()
    {
        tokens.extend([tree]);
        cursor = next;
    }
    input.advance_to(&fork);
    Some((switch, tokens))
}
