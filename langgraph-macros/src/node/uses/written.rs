//! The fields of the update that a function returns.

use proc_macro2::{TokenStream, TokenTree};
use syn::visit_mut::{self, VisitMut};
use syn::{
    Block, Expr, ExprCall, ExprMethodCall, GenericArgument, Ident, Member, PathArguments, Stmt,
    Type,
};

/// Finds the fields that a function writes, by its return type and what it returns. `body` is its block as tokens.
pub(super) fn written(
    output: Option<&Type>,
    block: &Block,
    body: &TokenStream,
) -> Option<Vec<String>> {
    let Some(output) = output.map(value_type) else {
        return Some(Vec::new());
    };
    let update = match output {
        Type::Tuple(tuple) if tuple.elems.is_empty() => return Some(Vec::new()),
        Type::Path(path) => &path.path.segments.last()?.ident,
        _ => return None,
    };
    if update == "Next" {
        return Some(Vec::new());
    }
    if !update.to_string().ends_with("Update") {
        return None;
    }
    let mut values = Values {
        update,
        fields: Vec::new(),
        unknown: false,
    };
    values.block(block);
    if returns(body.clone()) {
        values.visit_block_mut(&mut block.clone());
    }
    (!values.unknown).then_some(values.fields)
}

/// Returns the type in a `Result`, and beside a `Next`.
fn value_type(ty: &Type) -> &Type {
    match ty {
        Type::Paren(inner) => value_type(&inner.elem),
        Type::Group(inner) => value_type(&inner.elem),
        Type::Tuple(tuple) if tuple.elems.len() == 2 => {
            tuple.elems.first().map_or(ty, |first| value_type(first))
        }
        Type::Path(path) => match path.path.segments.last() {
            Some(last) if last.ident == "Result" => match &last.arguments {
                PathArguments::AngleBracketed(arguments) => match arguments.args.first() {
                    Some(GenericArgument::Type(ok)) => value_type(ok),
                    _ => ty,
                },
                _ => ty,
            },
            _ => ty,
        },
        _ => ty,
    }
}

/// Reads the values that a function returns.
struct Values<'a> {
    /// The type of the update.
    update: &'a Ident,
    fields: Vec<String>,
    unknown: bool,
}

impl Values<'_> {
    fn add(&mut self, field: &Ident) {
        let field = super::name(field);
        if !self.fields.contains(&field) {
            self.fields.push(field);
        }
    }

    /// Reads the value of a block. A block without one returns elsewhere.
    fn block(&mut self, block: &Block) {
        match block.stmts.last() {
            Some(Stmt::Expr(value, None)) => self.value(value),
            Some(Stmt::Macro(last)) if last.semi_token.is_none() => self.diverges(&last.mac),
            _ => {}
        }
    }

    fn value(&mut self, value: &Expr) {
        match value {
            Expr::Paren(inner) => self.value(&inner.expr),
            Expr::Group(inner) => self.value(&inner.expr),
            Expr::Block(inner) => self.block(&inner.block),
            Expr::If(choice) => {
                self.block(&choice.then_branch);
                if let Some((_, other)) = &choice.else_branch {
                    self.value(other);
                }
            }
            Expr::Match(choice) => {
                for arm in &choice.arms {
                    self.value(&arm.body);
                }
            }
            Expr::Tuple(tuple) if tuple.elems.len() == 2 => {
                if let Some(first) = tuple.elems.first() {
                    self.value(first);
                }
            }
            Expr::Macro(call) => self.diverges(&call.mac),
            // Read by the visitor.
            Expr::Return(_) => {}
            Expr::Call(call) => self.call(call),
            Expr::MethodCall(call) => self.setter(call),
            Expr::Struct(made) => {
                let is_ours = made.path.segments.last();
                self.unknown |= is_ours.is_none_or(|last| last.ident != *self.update);
                for field in &made.fields {
                    if let Member::Named(field) = &field.member {
                        self.add(field);
                    }
                }
                match made.rest.as_deref() {
                    Some(Expr::Call(call)) if is_default(call) => {}
                    Some(rest) => self.value(rest),
                    None => {}
                }
            }
            _ => self.unknown = true,
        }
    }

    /// Reads `Ok(value)`, `Err(error)`, and the update without fields.
    fn call(&mut self, call: &ExprCall) {
        let Expr::Path(function) = &*call.func else {
            self.unknown = true;
            return;
        };
        let mut names = function.path.segments.iter().rev();
        let (last, of) = (names.next(), names.next());
        match (last, call.args.first()) {
            (Some(last), Some(value)) if last.ident == "Ok" => self.value(value),
            (Some(last), Some(_)) if last.ident == "Err" => {}
            (Some(last), None) if last.ident == "default" => {
                self.unknown |= of.is_none_or(|of| of.ident != *self.update);
            }
            _ => self.unknown = true,
        }
    }

    /// Reads a call of a setter.
    fn setter(&mut self, call: &ExprMethodCall) {
        let is_chain = matches!(*call.receiver, Expr::Call(_) | Expr::MethodCall(_));
        if call.turbofish.is_some() || call.args.len() != 1 || !is_chain {
            self.unknown = true;
            return;
        }
        self.add(&call.method);
        self.value(&call.receiver);
    }

    /// Reads a macro, which returns no value if it panics.
    fn diverges(&mut self, mac: &syn::Macro) {
        let name = mac.path.segments.last().map(|last| last.ident.to_string());
        let name = name.unwrap_or_default();
        self.unknown |= !["panic", "unreachable", "todo", "unimplemented"].contains(&&*name);
    }
}

fn is_default(call: &ExprCall) -> bool {
    let path = match &*call.func {
        Expr::Path(path) => &path.path,
        _ => return false,
    };
    let last = path.segments.last();
    call.args.is_empty() && last.is_some_and(|last| last.ident == "default")
}

impl VisitMut for Values<'_> {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        match expr {
            Expr::Closure(_) | Expr::Async(_) => {}
            Expr::Return(end) => {
                match end.expr.as_deref() {
                    Some(value) => self.value(value),
                    None => self.unknown = true,
                }
                visit_mut::visit_expr_mut(self, expr);
            }
            _ => visit_mut::visit_expr_mut(self, expr),
        }
    }

    fn visit_item_mut(&mut self, _: &mut syn::Item) {}

    fn visit_macro_mut(&mut self, mac: &mut syn::Macro) {
        self.unknown |= returns(mac.tokens.clone());
    }
}

/// Returns true if tokens hold the word `return`.
fn returns(tokens: TokenStream) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Ident(word) => word == "return",
        TokenTree::Group(group) => returns(group.stream()),
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use proc_macro2::TokenStream;
    use quote::ToTokens as _;
    use syn::{Block, Type, parse_quote};

    use super::written;

    #[allow(clippy::needless_pass_by_value)] // as `parse_quote!` gives it
    fn writes(output: Type, body: &str) -> Option<Vec<String>> {
        let block = syn::parse_str(&format!("{{ {body} }}"));
        let block: Block = block.expect("the text of a test is a block");
        written(Some(&output), &block, &block.to_token_stream())
    }

    #[test]
    fn writes_are_the_setters_of_what_is_returned() {
        let update: Type = parse_quote!(TripUpdate);
        for (output, body, fields) in [
            (
                &update,
                "TripUpdate::default().plan(a).days(3)",
                "days plan",
            ),
            (&update, "a::TripUpdate::default()", ""),
            (
                &update,
                "if a { return TripUpdate::default().plan(1); } match b { 1 => TripUpdate::default().days(2), _ => unreachable!() }",
                "days plan",
            ),
            (
                &update,
                "TripUpdate { plan: Some(1), ..Default::default() }",
                "plan",
            ),
            (
                &update,
                "let f = || return other; { TripUpdate::default().plan(f) }",
                "plan",
            ),
            (
                &parse_quote!(Result<TripUpdate, NodeError>),
                "if a { return Err(b); } Ok(TripUpdate::default().plan(c()?))",
                "plan",
            ),
            (
                &parse_quote!((TripUpdate, Next)),
                "(TripUpdate::default().plan(1), Next::end())",
                "plan",
            ),
            (&parse_quote!(Result<Next, E>), "next()", ""),
            (&parse_quote!(()), "next()", ""),
        ] {
            let mut found = writes(output.clone(), body).expect(body);
            found.sort();
            assert_eq!(found.join(" "), fields, "{body}");
        }
        let nothing = parse_quote!({});
        assert_eq!(written(None, &nothing, &TokenStream::new()), Some(vec![]));
    }

    #[test]
    fn what_is_made_elsewhere_writes_what_is_unknown() {
        let update: Type = parse_quote!(TripUpdate);
        for body in [
            "update",
            "helper(trip).await",
            "Default::default()",
            "helper()?.plan(1)",
            "if a { TripUpdate::default().plan(1) } else { other }",
            "if a { return other; } TripUpdate::default().plan(1)",
            "TripUpdate { plan: Some(1), ..other }",
            "give!(1)",
            "select! { a => return other } TripUpdate::default()",
        ] {
            assert_eq!(writes(update.clone(), body), None, "{body}");
        }
        assert_eq!(writes(parse_quote!(Trip), "Trip::default()"), None);
        assert_eq!(writes(parse_quote!(Command<Trip>), "Command::new()"), None);
    }
}
