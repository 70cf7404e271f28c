//! The resources that a node asks for whenever it runs, as far as its body shows them.
//!
//! A call counts if its type is known here (`cx.resource::<T>()?`, or `cx.model()?`), and if nothing before it
//! can end the node with success: calls inside of a branch, a loop or a closure, and calls without `?`, are not
//! needs. What the body calls in other functions is not known.

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote};
use syn::spanned::Spanned;
use syn::visit_mut::{self, VisitMut};
use syn::{Block, Expr, ExprMethodCall, GenericArgument, Generics, Ident, Pat, Type, parse_quote};

use super::checked::{around, is_self_contained, takes_no_type};
use super::signature::{Argument, is_context};
use crate::function::reference;
use crate::paths::Root;

/// The resources that a body always asks for.
pub(super) struct Needs {
    /// The body, with aliases instead of the resources' types: rustc would report a type that does not exist here
    /// again, with another proposal.
    pub(super) block: Block,
    calls: Vec<Expr>,
    aliases: Vec<(Ident, Type)>,
}

/// Finds the resources; the aliases of their types begin with `prefix`. `None` if there are none, or if the body
/// may name types that are unknown outside.
pub(super) fn read(
    arguments: &[Argument<'_>],
    block: &Block,
    generics: &[&Generics],
    prefix: &str,
) -> Option<Needs> {
    let cx = context(arguments)?;
    if !generics.iter().all(|generics| takes_no_type(generics)) {
        return None;
    }
    let mut block = block.clone();
    let mut finder = Finder::new(cx, prefix);
    finder.visit_block_mut(&mut block);
    let Finder {
        calls,
        aliases,
        is_bound,
        ..
    } = finder;
    (!is_bound && !calls.is_empty()).then_some(Needs {
        block,
        calls,
        aliases,
    })
}

impl Needs {
    /// Prints the items for the module.
    pub(super) fn aliases(&self) -> TokenStream {
        let aliases = self.aliases.iter().map(|(name, ty)| {
            let around = around(ty);
            quote! {
                #[doc(hidden)]
                #[allow(deprecated, dead_code, non_camel_case_types, clippy::type_complexity)]
                type #name #around = #ty;
            }
        });
        aliases.collect()
    }

    /// Prints the body of a function that returns the resources.
    pub(super) fn list(&self, root: &Root, arguments: &[Argument<'_>]) -> TokenStream {
        let cx = context(arguments);
        let needs = Ident::new("needs", Span::mixed_site());
        let calls = self.calls.iter().map(|call| {
            quote! {
                #needs.extend(
                    #root::__private::needed(|#cx: &'static #root::node::Context| #call).resource()
                );
            }
        });
        quote! {
            use #root::__private::NeedsUnknown as _;
            let mut #needs = #root::__private::Vec::new();
            #(#calls)*
            #needs
        }
    }
}

/// Returns the name of the context.
fn context<'a>(arguments: &'a [Argument<'a>]) -> Option<&'a Ident> {
    arguments.iter().find_map(|argument| {
        let is_cx = is_context(&reference(argument.ty)?.elem);
        match argument.pat {
            Pat::Ident(pat) if is_cx => Some(&pat.ident),
            _ => None,
        }
    })
}

struct Finder<'a> {
    cx: &'a Ident,
    prefix: &'a str,
    /// The calls, each once.
    calls: Vec<Expr>,
    aliases: Vec<(Ident, Type)>,
    /// True after what may end the node with success.
    ended: bool,
    /// True inside of what may not run.
    maybe: bool,
    /// True if the body may mean something else outside: it declares items, or parts of it are compiled out.
    is_bound: bool,
}

impl<'a> Finder<'a> {
    fn new(cx: &'a Ident, prefix: &'a str) -> Self {
        Self {
            cx,
            prefix,
            calls: Vec::new(),
            aliases: Vec::new(),
            ended: false,
            maybe: false,
            is_bound: false,
        }
    }

    /// Reads what may not run.
    fn maybe(&mut self, read: impl FnOnce(&mut Self)) {
        let outer = std::mem::replace(&mut self.maybe, true);
        read(self);
        self.maybe = outer;
    }

    /// Adds a call, and puts an alias in the place of its type.
    fn add(&mut self, call: &mut ExprMethodCall) {
        if let Some(turbofish) = &mut call.turbofish
            && let Some(GenericArgument::Type(ty)) = turbofish.args.first_mut()
        {
            let text = |ty: &Type| ty.to_token_stream().to_string();
            let known = self.aliases.iter().find(|(_, old)| text(old) == text(ty));
            let mut alias = match known {
                Some((alias, _)) => alias.clone(),
                None => format_ident!("{}_{}", self.prefix, self.aliases.len()),
            };
            if known.is_none() {
                self.aliases.push((alias.clone(), ty.clone()));
            }
            alias.set_span(ty.span());
            *ty = parse_quote!(#alias);
        }
        let text = |call: &Expr| call.to_token_stream().to_string();
        let call = Expr::MethodCall(call.clone());
        if !self.calls.iter().any(|old| text(old) == text(&call)) {
            self.calls.push(call);
        }
    }

    /// Returns true for `cx.resource::<T>()`, `cx.resource_arc::<T>()` and `cx.model()`.
    fn is_need(&self, call: &ExprMethodCall) -> bool {
        let on_context = match &*call.receiver {
            Expr::Path(path) => path.path.is_ident(self.cx),
            _ => false,
        };
        if self.ended || self.maybe || !on_context || !call.args.is_empty() {
            return false;
        }
        if call.method == "model" {
            return call.turbofish.is_none();
        }
        let Some(turbofish) = &call.turbofish else {
            return false;
        };
        (call.method == "resource" || call.method == "resource_arc")
            && turbofish.args.iter().all(|argument| match argument {
                GenericArgument::Type(ty) => {
                    is_self_contained(ty) && !is_inferred(ty.to_token_stream())
                }
                _ => false,
            })
    }
}

pub(super) fn is_inferred(ty: TokenStream) -> bool {
    ty.into_iter().any(|token| match token {
        TokenTree::Ident(ident) => ident == "_",
        TokenTree::Group(group) => is_inferred(group.stream()),
        _ => false,
    })
}

impl VisitMut for Finder<'_> {
    fn visit_item_mut(&mut self, _: &mut syn::Item) {
        self.is_bound = true;
    }

    fn visit_attribute_mut(&mut self, attribute: &mut syn::Attribute) {
        let path = attribute.path();
        self.is_bound |= path.is_ident("cfg") || path.is_ident("cfg_attr");
    }

    fn visit_pat_ident_mut(&mut self, pattern: &mut syn::PatIdent) {
        // From here on, the name is that of something else.
        self.ended |= pattern.ident == *self.cx;
        visit_mut::visit_pat_ident_mut(self, pattern);
    }

    fn visit_local_init_mut(&mut self, init: &mut syn::LocalInit) {
        self.visit_expr_mut(&mut init.expr);
        if let Some((_, diverge)) = &mut init.diverge {
            self.maybe(|inner| inner.visit_expr_mut(diverge));
        }
    }

    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        match expr {
            Expr::Closure(_) | Expr::Async(_) => {}
            Expr::If(choice) => {
                self.visit_expr_mut(&mut choice.cond);
                self.maybe(|inner| inner.visit_block_mut(&mut choice.then_branch));
                if let Some((_, other)) = &mut choice.else_branch {
                    self.maybe(|inner| inner.visit_expr_mut(other));
                }
            }
            Expr::Match(choice) => {
                self.visit_expr_mut(&mut choice.expr);
                for arm in &mut choice.arms {
                    self.maybe(|inner| inner.visit_arm_mut(arm));
                }
            }
            Expr::Binary(binary) if matches!(binary.op, syn::BinOp::And(_) | syn::BinOp::Or(_)) => {
                self.visit_expr_mut(&mut binary.left);
                self.maybe(|inner| inner.visit_expr_mut(&mut binary.right));
            }
            Expr::While(repeat) => {
                self.visit_expr_mut(&mut repeat.cond);
                self.maybe(|inner| inner.visit_block_mut(&mut repeat.body));
            }
            Expr::ForLoop(repeat) => {
                self.visit_expr_mut(&mut repeat.expr);
                self.maybe(|inner| inner.visit_block_mut(&mut repeat.body));
            }
            Expr::Return(_) | Expr::Break(_) | Expr::Continue(_) => {
                visit_mut::visit_expr_mut(self, expr);
                self.ended = true;
            }
            Expr::Try(tried) => {
                match &mut *tried.expr {
                    Expr::MethodCall(call) if self.is_need(call) => self.add(call),
                    _ => {}
                }
                visit_mut::visit_expr_mut(self, expr);
            }
            _ => visit_mut::visit_expr_mut(self, expr),
        }
    }
}

#[cfg(test)]
mod tests {
    use syn::parse_quote;

    use super::{Argument, ToTokens, read};
    use crate::compact::compact;
    use crate::node::signature::Role;

    fn needs(body: &str) -> Vec<String> {
        let block =
            syn::parse_str(&format!("{{ {body} }}")).expect("the text of a test is a block");
        let (pat, ty) = (parse_quote!(cx), parse_quote!(&Context));
        let argument = Argument {
            pat: &pat,
            ty: &ty,
            role: Role::Context,
        };
        let Some(needs) = read(&[argument], &block, &[], "need") else {
            return Vec::new();
        };
        let calls = needs.calls.iter();
        let calls = calls.map(|call| compact(&call.to_token_stream()));
        let aliases = needs.aliases.iter();
        let aliases = aliases.map(|(_, ty)| compact(&ty.to_token_stream()));
        calls.chain(aliases).collect()
    }

    #[test]
    fn what_each_run_of_a_node_asks_for_is_needed() {
        let found = needs(
            "let clock = cx.resource::<dyn Clock>()?;
             let reply = Update { messages: [cx.model()?.invoke(&[], cx).await?] };
             if cx.resource::<Switch>()?.is_on() { log(); }
             loop { cx.resource_arc::<Db>()?; break; }",
        );
        let all = [
            "cx.resource::<need_0>()",
            "cx.model()",
            "cx.resource::<need_1>()",
            "cx.resource_arc::<need_2>()",
            "dyn Clock",
            "Switch",
            "Db",
        ];
        assert_eq!(found, all);
    }

    #[test]
    fn what_may_not_be_asked_for_is_not_needed() {
        let found = needs(
            "let maybe = cx.resource::<A>().ok();
             let inferred: &B = cx.resource()?;
             let other = cx.resource::<_>()?;
             if state.new { cx.resource::<C>()?; }
             for _ in items { cx.resource::<D>()?; }
             let later = || cx.resource::<E>()?;
             ready && *cx.resource::<F>()?;
             match state.kind { Kind::A => cx.model()?, Kind::B => other.model()? };
             let Some(x) = state.x else { return Ok(()) };
             cx.resource::<G>()?;",
        );
        assert_eq!(found, [""; 0]);
        for body in [
            "use a::Clock; cx.resource::<Clock>()?;",
            "#[cfg(test)] let clock = cx.resource::<Clock>()?;",
            "#[cfg(test)] { cx.resource::<Clock>()?; }",
            "let cx = Other::of(cx); cx.resource::<Clock>()?;",
        ] {
            assert_eq!(needs(body), [""; 0], "{body}");
        }
    }
}
