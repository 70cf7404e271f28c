//! Parses stages with braces, `match`, `if` and `for`, and also `goto [..]`.

use proc_macro2::{Ident, Span};
use quote::ToTokens;
use syn::parse::ParseStream;
use syn::{Expr, ExprPath, Pat, Token, token};

use super::tokens::{arguments, braced, bracketed, ends_chain, found, not_a_node, skip_one};
use super::{Read, Reader, Reported, STAGES};
use crate::diag::last_span;
use crate::graph::ast::{
    ArmSyntax, Asks, Chain, For, Form, GotoSyntax, Stage, SwitchSyntax, Worker, name_span,
};

impl Reader<'_> {
    /// Parses the router of a `match` or an `if`, or the items of a `for`.
    fn router(
        &mut self,
        input: ParseStream<'_>,
        keyword: Span,
        after: &str,
        what: &str,
    ) -> Read<Expr> {
        if ends_chain(input) || input.peek(token::Brace) {
            return Err(self.fail_at(keyword, format_args!("expected {what} after `{after}`")));
        }
        let router = input.call(Expr::parse_without_eager_brace);
        let router = self.ok(router)?;
        if !input.peek(token::Brace) {
            let span = last_span(&router.to_token_stream()).unwrap_or(keyword);
            self.fragments.push(router.into_token_stream());
            return Err(self.fail_at(span, format_args!("expected `{{` after {what}")));
        }
        Ok(router)
    }

    /// `match router { pattern => chain, … }`
    pub(super) fn match_stage(&mut self, input: ParseStream<'_>) -> Read<Stage> {
        let keyword: Token![match] = self.ok(input.parse())?;
        let what = "a router, a function of the state,";
        let router = self.router(input, keyword.span, "match", what)?;
        let (brace, content) = match braced(input) {
            Ok(content) => content,
            Err(error) => return Err(self.fail(error)),
        };
        let before = self.errors.len();
        let mut arms = Vec::new();
        if content.is_empty() {
            self.fail_at(
                brace.span.join(),
                "this `match` has no arms: say where each answer leads, as in `Route::Done => END,`",
            );
        }
        while !content.is_empty() {
            self.arm(&content, &mut arms);
        }
        Ok(Stage::Switch(Box::new(SwitchSyntax {
            keyword: keyword.span,
            form: Form::Match,
            router,
            brace,
            arms,
            broken: self.errors.len() > before,
        })))
    }

    /// `pattern if guard => chain,`
    fn arm(&mut self, content: ParseStream<'_>, arms: &mut Vec<ArmSyntax>) {
        let mut chain = Chain::default();
        let read = self.read_arm(content, &mut chain);
        let braces = matches!(chain.stages.last(), Some(Stage::Switch(_) | Stage::For(_)));
        let read = read.map(|(pattern, guard, block)| {
            arms.push(ArmSyntax {
                pattern: Some(pattern),
                guard,
                asks: None,
                chain,
            });
            block
        });
        match read {
            // As in Rust, no comma is needed after braces.
            Ok(block) if (block || braces) && !content.peek(Token![,]) => {}
            read => self.comma(content, read.is_ok(), "of a `match`"),
        }
    }

    #[allow(clippy::type_complexity)] // one arm, in the order in which it is written
    fn read_arm(
        &mut self,
        content: ParseStream<'_>,
        chain: &mut Chain,
    ) -> Read<(Pat, Option<(token::If, Expr)>, bool)> {
        let start = content.span();
        let pattern = self.ok(content.call(Pat::parse_multi_with_leading_vert))?;
        let mut last = last_span(&pattern.to_token_stream()).unwrap_or(start);
        let guard = if content.peek(Token![if]) {
            let keyword: Token![if] = self.ok(content.parse())?;
            if ends_chain(content) || content.peek(Token![=>]) {
                return Err(self.fail_at(keyword.span, "expected a condition after `if`"));
            }
            let condition: Expr = self.ok(content.parse())?;
            last = last_span(&condition.to_token_stream()).unwrap_or(last);
            Some((keyword, condition))
        } else {
            None
        };
        let slipped = self.errors.len();
        let Some(arrow) = self.arrow(content) else {
            self.fragments.push(pattern.into_token_stream());
            return Err(self.fail_at(
                last,
                "expected `=>` and where this answer leads: a node, `[..]`, `for` or `END`",
            ));
        };
        if ends_chain(content) {
            return Err(if self.errors.len() > slipped {
                Reported
            } else {
                self.fail_on(
                    arrow,
                    "expected where this answer leads after `=>`: a node, `[..]`, `for` or `END`",
                )
            });
        }
        let block = content.peek(token::Brace);
        let read = if block {
            self.block(content, "an arm", chain).map(|_| ())
        } else {
            self.chain(content, chain)
        };
        match read {
            Ok(()) => {}
            // The pattern is known: with the parsed part of the chain, the `match` stays complete.
            Err(Reported) if !chain.stages.is_empty() => {
                while !content.is_empty() && !content.peek(Token![,]) {
                    skip_one(content);
                }
            }
            Err(Reported) => return Err(Reported),
        }
        Ok((pattern, guard, block))
    }

    /// `{ chain }`
    fn block(
        &mut self,
        input: ParseStream<'_>,
        what: &str,
        chain: &mut Chain,
    ) -> Read<token::Brace> {
        let (brace, content) = match braced(input) {
            Ok(content) => content,
            Err(error) => return Err(self.fail(error)),
        };
        if content.is_empty() {
            let message =
                format_args!("expected where {what} leads in these braces: a node or `END`");
            return Err(self.fail_at(brace.span.join(), message));
        }
        let read = self.chain(&content, chain);
        if read.is_ok() && content.peek(Token![;]) {
            skip_one(&content);
        }
        if read.is_ok() && !content.is_empty() {
            let found = found(&content);
            self.fail_at(
                content.span(),
                format_args!("expected one chain in these braces, found {found}"),
            );
        }
        while !content.is_empty() {
            skip_one(&content);
        }
        Ok(brace)
    }

    /// `if router { chain } else if router { chain } else { chain }`
    pub(super) fn if_stage(&mut self, input: ParseStream<'_>) -> Read<Stage> {
        let (keyword, router, pattern) = self.condition(input)?;
        let before = self.errors.len();
        let form = if pattern.is_some() {
            Form::IfLet
        } else {
            Form::If
        };
        let mut arms = Vec::new();
        let arm = |pattern, asks, chain| ArmSyntax {
            pattern,
            guard: None,
            asks,
            chain,
        };
        let mut chain = Chain::default();
        let brace = self.block(input, "`if`", &mut chain)?;
        arms.push(arm(pattern, None, chain));
        let mut last = keyword;
        let mut closed = false;
        while !closed && input.peek(Token![else]) {
            let word: Token![else] = self.ok(input.parse())?;
            let mut chain = Chain::default();
            if input.peek(Token![if]) {
                let (keyword, router, pattern) = self.condition(input)?;
                self.block(input, "`else if`", &mut chain)?;
                arms.push(arm(pattern, Some(Asks { keyword, router }), chain));
                last = keyword;
            } else {
                if !input.peek(token::Brace) {
                    return Err(self.fail_at(word.span, "expected `{` after `else`"));
                }
                self.block(input, "`else`", &mut chain)?;
                arms.push(arm(None, None, chain));
                closed = true;
            }
        }
        if !closed {
            if self.errors.len() == before {
                self.fail_at(
                    last,
                    "this `if` needs an `else` that says where to go otherwise, as in \
                     `else { END }`",
                );
            }
            arms.push(arm(None, None, Chain::default()));
        }
        Ok(Stage::Switch(Box::new(SwitchSyntax {
            keyword,
            form,
            router,
            brace,
            arms,
            broken: self.errors.len() > before,
        })))
    }

    /// `if router`, or `if let pattern = router`.
    fn condition(&mut self, input: ParseStream<'_>) -> Read<(Span, Expr, Option<Pat>)> {
        let keyword: Token![if] = self.ok(input.parse())?;
        let what = "a router, a function of the state that answers `bool`,";
        Ok(match self.router(input, keyword.span, "if", what)? {
            Expr::Let(condition) => (keyword.span, *condition.expr, Some(*condition.pat)),
            router => (keyword.span, router, None),
        })
    }

    /// `goto [a, END]`
    pub(super) fn goto(&mut self, input: ParseStream<'_>) -> Read<Stage> {
        let keyword: Ident = self.ok(input.parse())?;
        let (bracket, content) = match bracketed(input) {
            Ok(content) => content,
            Err(error) => return Err(self.fail(error)),
        };
        let mut targets = Vec::new();
        if content.is_empty() {
            self.fail_at(
                bracket.span.join(),
                "expected the nodes that may follow, or `END`",
            );
        }
        while !content.is_empty() {
            let read = match self.stage(&content) {
                Ok(stage @ (Stage::Node(_) | Stage::End(_) | Stage::Start(_))) => {
                    targets.push(stage);
                    if content.peek(Token![=>]) {
                        Err(self.fail_at(
                            content.span(),
                            "`goto` lists single nodes; what follows them is a chain of its own",
                        ))
                    } else {
                        Ok(())
                    }
                }
                Ok(stage) => {
                    let message =
                        format_args!("`goto` lists nodes and `END`, found {}", stage.kind());
                    Err(self.fail_at(stage.span(), message))
                }
                Err(Reported) => Err(Reported),
            };
            self.comma(&content, read.is_ok(), "in a list");
        }
        Ok(Stage::Goto(GotoSyntax {
            keyword: keyword.span(),
            targets,
        }))
    }

    /// `for pattern in items { worker(item) => … }`
    pub(super) fn for_stage(&mut self, input: ParseStream<'_>) -> Read<Stage> {
        let keyword: Token![for] = self.ok(input.parse())?;
        let example = "as in `for topic in topics { write(topic) }`";
        if ends_chain(input) {
            return Err(self.fail_at(
                keyword.span,
                format_args!("expected a name after `for`, {example}"),
            ));
        }
        let pattern = self.ok(input.call(Pat::parse_multi_with_leading_vert))?;
        if !input.peek(Token![in]) {
            let span = last_span(&pattern.to_token_stream()).unwrap_or(keyword.span);
            return Err(self.fail_at(span, format_args!("expected `in` and the items, {example}")));
        }
        let word: Token![in] = self.ok(input.parse())?;
        let items = self.router(
            input,
            word.span,
            "in",
            "the items, a function of the state,",
        )?;
        let (brace, content) = match braced(input) {
            Ok(content) => content,
            Err(error) => return Err(self.fail(error)),
        };
        let mut each = For {
            keyword: keyword.span,
            pattern,
            items,
            worker: None,
            rest: Vec::new(),
        };
        let read = self.for_body(&content, brace, &mut each);
        if read.is_ok() && !content.is_empty() {
            let found = found(&content);
            self.fail_at(
                content.span(),
                format_args!("expected one call of a node in these braces, found {found}"),
            );
        }
        while !content.is_empty() {
            skip_one(&content);
        }
        Ok(Stage::For(Box::new(each)))
    }

    fn for_body(
        &mut self,
        content: ParseStream<'_>,
        brace: token::Brace,
        each: &mut For,
    ) -> Read<()> {
        let example = "the node that takes the item, as in `write(topic)`";
        if content.is_empty() {
            return Err(self.fail_at(brace.span.join(), format_args!("expected {example}")));
        }
        if let Some(hint) = not_a_node(content) {
            return Err(self.fail_at(content.span(), hint));
        }
        let path: ExprPath = self.ok(content.parse())?;
        if !content.peek(token::Paren) {
            let span = name_span(&path);
            self.fragments.push(path.into_token_stream());
            return Err(self.fail_at(span, format_args!("expected {example}")));
        }
        let (paren, arguments) = self.ok(arguments(content))?;
        let item = match arguments.len() {
            1 => arguments.into_iter().next(),
            0 => None,
            _ => {
                let message = "a worker takes one item; give it several values as a tuple, as in \
                               `write((topic, style))`";
                return Err(self.fail_at(paren.span.join(), message));
            }
        };
        let Some(item) = item else {
            let message = format_args!("expected the item in these parentheses: {example}");
            return Err(self.fail_at(paren.span.join(), message));
        };
        let bound = self.bound(content)?;
        each.worker = Some(Worker {
            path,
            paren,
            item,
            bound,
        });
        let slipped = self.errors.len();
        if let Some(arrow) = self.arrow(content) {
            if ends_chain(content) {
                return Err(if self.errors.len() > slipped {
                    Reported
                } else {
                    self.fail_on(arrow, format_args!("expected {STAGES} after `=>`"))
                });
            }
            let mut rest = Chain::default();
            let read = self.chain(content, &mut rest);
            each.rest = rest.stages;
            read?;
        }
        if content.peek(Token![;]) {
            skip_one(content);
        }
        Ok(())
    }
}
