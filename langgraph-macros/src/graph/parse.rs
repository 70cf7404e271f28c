//! Parses the input, continues after mistakes, and recognizes common slips.
//!
//! Every mistake gives one error, at the token where the parser stumbles. It keeps the pieces
//! around the mistake, so that they still expand and completion works in them.

use proc_macro2::{Delimiter, Group as TokenGroup, Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::parse::{ParseStream, Parser};
use syn::{Path, Token, Type, token};

use self::tokens::{
    arrow_before_semicolon, begins_stage, ends_chain, found, input_span, skip_one,
    skip_past_semicolon, word,
};
use super::ast::{Chain, Graph, Stage};
use crate::diag::{Errors, last_span};

mod attributes;
mod bounds;
mod decisions;
mod lets;
mod options;
mod stages;
mod tokens;

/// What may follow an arrow, for a message.
const STAGES: &str = "a node, `[..]`, `match`, `if`, `for`, `goto [..]` or `END`";

/// Parses the input of `graph!`.
pub(crate) fn parse(input: TokenStream, errors: &mut Errors) -> Graph {
    let mut graph = Graph {
        first: input.clone().into_iter().next().map(|tree| tree.span()),
        ..Graph::default()
    };
    // In brackets of our own, whose end is the last token: `syn` then reports a missing token
    // there, and not on the whole macro.
    let end = last_span(&input).unwrap_or_else(Span::call_site);
    let mut group = TokenGroup::new(Delimiter::Brace, input);
    group.set_span(end);
    let mut reader = Reader::new(errors);
    let read = |input: ParseStream<'_>| -> syn::Result<()> {
        let content;
        syn::braced!(content in input);
        reader.items(&content, &mut graph);
        Ok(())
    };
    let read = read.parse2(group.into_token_stream());
    // After a mistake, `syn` also remembers brackets that it has not read to their end.
    if let (Err(error), false) = (read, reader.broken) {
        reader.fail(error);
    }
    graph.fragments = reader.fragments;
    graph.broken = reader.broken;
    graph
}

struct Reader<'e> {
    errors: &'e mut Errors,
    fragments: Vec<TokenStream>,
    broken: bool,
    /// True if the next chain begins where an error has been reported.
    resumed: bool,
}

/// The error has been reported; the caller continues after it.
struct Reported;

type Read<T> = Result<T, Reported>;

impl<'e> Reader<'e> {
    fn new(errors: &'e mut Errors) -> Self {
        Self {
            errors,
            fragments: Vec::new(),
            broken: false,
            resumed: false,
        }
    }
}

impl Reader<'_> {
    fn fail(&mut self, error: syn::Error) -> Reported {
        self.broken = true;
        self.errors.push(error);
        Reported
    }

    fn fail_at(&mut self, span: Span, message: impl std::fmt::Display) -> Reported {
        self.fail(syn::Error::new(span, message))
    }

    fn fail_on(&mut self, tokens: impl ToTokens, message: impl std::fmt::Display) -> Reported {
        self.fail(syn::Error::new_spanned(tokens, message))
    }

    fn ok<T>(&mut self, result: syn::Result<T>) -> Read<T> {
        result.map_err(|error| self.fail(error))
    }

    fn items(&mut self, input: ParseStream<'_>, graph: &mut Graph) {
        while !input.is_empty() {
            if input.peek(Token![;]) {
                skip_one(input);
            } else if input.peek(Token![type]) {
                if let Ok(state) = self.state(input, graph.state.is_some()) {
                    graph.state = graph.state.take().or(Some(state));
                } else {
                    skip_past_semicolon(input);
                }
            } else if input.peek(Token![crate])
                && input.peek2(Token![=])
                && !input.peek2(Token![=>])
            {
                match self.root(input) {
                    Ok(root) => graph.root = Some(root),
                    Err(Reported) => skip_past_semicolon(input),
                }
            } else if input.peek(Token![#]) && input.peek2(Token![!]) {
                self.attribute(input, &mut graph.attributes);
            } else if input.peek(Token![let]) || input.peek(Token![#]) {
                let statement = self.let_statement(input);
                graph.lets.push(statement);
            } else {
                self.item_chain(input, graph);
            }
        }
    }

    /// `type State = Type;`
    fn state(&mut self, input: ParseStream<'_>, again: bool) -> Read<Type> {
        let keyword: Token![type] = self.ok(input.parse())?;
        let example = "the state of a graph is given as `type State = …;`";
        if !input.peek(syn::Ident) {
            return Err(self.fail_at(input_span(input, keyword.span), example));
        }
        let name: Ident = self.ok(input.parse())?;
        if name != "State" {
            self.fail_at(name.span(), format_args!("{example}, found `type {name}`"));
        } else if again {
            self.fail_at(
                keyword.span,
                "the state of a graph is given once; remove this line",
            );
        }
        if !input.peek(Token![=]) {
            return Err(self.fail_at(input_span(input, name.span()), example));
        }
        let equals: Token![=] = self.ok(input.parse())?;
        if input.is_empty() || input.peek(Token![;]) {
            return Err(self.fail_at(equals.span, "expected a type after `=`"));
        }
        let state: Type = self.ok(input.parse())?;
        self.semicolon(input, &state, "`type State = …`");
        Ok(state)
    }

    /// `crate = path;`
    fn root(&mut self, input: ParseStream<'_>) -> Read<Path> {
        let keyword: Token![crate] = self.ok(input.parse())?;
        let equals: Token![=] = self.ok(input.parse())?;
        if input.is_empty() || input.peek(Token![;]) {
            let message = "expected the path of the runtime crate, as in `crate = ::my_langgraph;`";
            return Err(self.fail_on(quote!(#keyword #equals), message));
        }
        let path: Path = self.ok(input.call(Path::parse_mod_style))?;
        self.semicolon(input, &path, "`crate = …`");
        Ok(path)
    }

    /// Parses the `;` after a statement; without it, the parser continues as if it existed.
    fn semicolon(&mut self, input: ParseStream<'_>, before: &impl ToTokens, what: &str) {
        if input.peek(Token![;]) {
            skip_one(input);
        } else {
            let span = last_span(&before.to_token_stream()).unwrap_or_else(|| input.span());
            self.fail_at(span, format_args!("expected `;` after {what}"));
            // A chain may follow; anything else belongs to the statement.
            if arrow_before_semicolon(input) {
                self.resumed = true;
            } else {
                skip_past_semicolon(input);
            }
        }
    }

    /// Parses a chain and its `;`.
    fn item_chain(&mut self, input: ParseStream<'_>, graph: &mut Graph) {
        let mut chain = Chain::default();
        let resumed = std::mem::take(&mut self.resumed);
        let read = self.chain(input, &mut chain);
        let alone = match chain.stages.as_slice() {
            [Stage::Switch(_) | Stage::Goto(_) | Stage::For(_)] => None,
            [only] => Some((only.kind(), only.span())),
            _ => None,
        };
        let braces = matches!(chain.stages.last(), Some(Stage::Switch(_) | Stage::For(_)));
        graph.chains.push(chain);
        if read.is_err() {
            skip_past_semicolon(input);
            return;
        }
        if input.peek(Token![,]) {
            self.fail_at(
                input.span(),
                "nodes that run side by side stand in brackets, as in `[a, b] => c`; \
                 chains end with `;`",
            );
            skip_past_semicolon(input);
            return;
        }
        if alone.is_some() && resumed {
            skip_past_semicolon(input);
            return;
        }
        if let Some((kind, span)) = alone {
            let hint = match kind {
                "a node" => {
                    "a node alone is no chain: say what leads to it and what follows, as in \
                             `START => a => END`"
                }
                _ => "expected `=>` and what follows, as in `START => a => END`",
            };
            self.fail_at(span, hint);
            skip_past_semicolon(input);
            return;
        }
        if input.is_empty() {
            return;
        }
        if input.peek(Token![;]) {
            skip_one(input);
            return;
        }
        if braces {
            return;
        }
        let found = found(input);
        self.fail_at(
            input.span(),
            format_args!("expected `=>`, or `;` between two chains, found {found}"),
        );
        if begins_stage(input) {
            self.resumed = true;
        } else {
            skip_past_semicolon(input);
        }
    }

    /// Parses stages and arrows, up to a token that cannot continue a chain.
    fn chain(&mut self, input: ParseStream<'_>, chain: &mut Chain) -> Read<()> {
        loop {
            let stage = self.stage(input)?;
            let stage = self.any_of(input, stage)?;
            let stage = self.bounded(input, stage)?;
            let decides = stage.decides().then(|| stage.kind());
            chain.stages.push(stage);
            let slipped = self.errors.len();
            let Some(arrow) = self.arrow(input) else {
                return Ok(());
            };
            if let Some(kind) = decides {
                return Err(self.fail_on(
                    arrow,
                    format_args!("nothing can follow {kind}: it says itself where to go"),
                ));
            }
            if ends_chain(input) {
                return Err(if self.errors.len() > slipped {
                    // The arrow was a slip, and has been reported.
                    Reported
                } else {
                    self.fail_on(arrow, format_args!("expected {STAGES} after `=>`"))
                });
            }
        }
    }

    /// Parses `=>`, or a common slip for it.
    fn arrow(&mut self, input: ParseStream<'_>) -> Option<TokenStream> {
        if input.peek(Token![=>]) {
            return input
                .parse::<Token![=>]>()
                .ok()
                .map(ToTokens::into_token_stream);
        }
        let mut written = TokenStream::new();
        let mut text = String::new();
        while let Some((TokenTree::Punct(punct), _)) = input.cursor().token_tree() {
            if !matches!(punct.as_char(), '-' | '=' | '>' | '<' | '~' | '|' | '+') {
                break;
            }
            text.push(punct.as_char());
            written.extend([TokenTree::Punct(punct)]);
            skip_one(input);
        }
        if text.is_empty() {
            return None;
        }
        self.fail_on(&written, format_args!("expected `=>`, found `{text}`"));
        Some(written)
    }

    fn stage(&mut self, input: ParseStream<'_>) -> Read<Stage> {
        if input.peek(token::Bracket) {
            return self.group(input);
        }
        if input.peek(Token![match]) {
            return self.match_stage(input);
        }
        if input.peek(Token![if]) {
            return self.if_stage(input);
        }
        if input.peek(Token![for]) {
            return self.for_stage(input);
        }
        if input.peek(syn::Ident)
            && input.peek2(token::Bracket)
            && input.fork().call(word).is_ok_and(|word| word == "goto")
        {
            return self.goto(input);
        }
        self.mention(input)
    }

    /// Parses the separator of chains in a group, or of arms; after a mistake, the parser continues
    /// after it.
    fn comma(&mut self, content: ParseStream<'_>, read: bool, place: &str) {
        if read && !content.is_empty() && !content.peek(Token![,]) {
            let found = found(content);
            self.fail_at(
                content.span(),
                format_args!("expected `=>`, or `,` between two chains {place}, found {found}"),
            );
            if content.peek(Token![;]) {
                skip_one(content);
                return;
            }
            if begins_stage(content) {
                return;
            }
        }
        while !content.is_empty() && !content.peek(Token![,]) {
            skip_one(content);
        }
        if !content.is_empty() {
            skip_one(content);
        }
    }
}
