//! Parses the body of a graph into places in its source.

use proc_macro2::{Delimiter, Ident, TokenStream};
use syn::parse::discouraged::Speculative as _;
use syn::parse::{Parse as _, ParseStream, Parser as _};
use syn::{Attribute, Block, Expr, ExprPath, LitInt, Pat, Path, Result, Token, Type, token};

use super::syntax::{Arm, ArmBody, Chain, Element, Item, Link, List, Part, Stage};

/// Parses the tokens between the braces of a `graph!`.
pub(super) fn parse(tokens: TokenStream) -> Result<Vec<Element<Item>>> {
    items.parse2(tokens)
}

/// Returns the part of the source that `read` consumes.
fn part<T>(
    input: ParseStream<'_>,
    read: impl FnOnce(ParseStream<'_>) -> Result<T>,
) -> Result<Part> {
    Ok(with_part(input, read)?.1)
}

fn with_part<T>(
    input: ParseStream<'_>,
    read: impl FnOnce(ParseStream<'_>) -> Result<T>,
) -> Result<(T, Part)> {
    let mut cursor = input.cursor();
    let value = read(input)?;
    let end = input.cursor();
    let mut part: Option<Part> = None;
    while cursor != end
        && let Some((tree, next)) = cursor.token_tree()
    {
        let range = tree.span().byte_range();
        part = Some(part.map_or(range.start, |part| part.start)..range.end);
        cursor = next;
    }
    match part {
        Some(part) => Ok((value, part)),
        None => Err(input.error("expected more")),
    }
}

fn items(input: ParseStream<'_>) -> Result<Vec<Element<Item>>> {
    let mut items = Vec::new();
    while !input.is_empty() {
        let (node, part) = with_part(input, item)?;
        let end = end_of(input, token_semicolon)?;
        items.push(Element { node, part, end });
    }
    Ok(items)
}

fn token_semicolon(input: ParseStream<'_>) -> Result<bool> {
    Ok(input.parse::<Option<Token![;]>>()?.is_some())
}

fn token_comma(input: ParseStream<'_>) -> Result<bool> {
    Ok(input.parse::<Option<Token![,]>>()?.is_some())
}

/// Parses the token that ends an element, if it is there.
fn end_of(
    input: ParseStream<'_>,
    read: impl FnOnce(ParseStream<'_>) -> Result<bool>,
) -> Result<Option<Part>> {
    let span = input.span();
    Ok(read(input)?.then(|| span.byte_range()))
}

fn item(input: ParseStream<'_>) -> Result<Item> {
    if input.peek(Token![type]) {
        return Ok(Item::Rust(part(input, |input| {
            input.parse::<Token![type]>()?;
            input.parse::<Ident>()?;
            input.parse::<Token![=]>()?;
            input.parse::<Type>()
        })?));
    }
    if input.peek(Token![crate]) && input.peek2(Token![=]) && !input.peek2(Token![=>]) {
        return Ok(Item::Rust(part(input, |input| {
            input.parse::<Token![crate]>()?;
            input.parse::<Token![=]>()?;
            input.call(Path::parse_mod_style)
        })?));
    }
    if input.peek(Token![#]) && input.peek2(Token![!]) {
        return Ok(Item::Rust(part(input, inner_attribute)?));
    }
    if input.peek(Token![let]) || input.peek(Token![#]) {
        let fork = input.fork();
        if let Ok(decision) = decision(&fork) {
            input.advance_to(&fork);
            return Ok(decision);
        }
        return Ok(Item::Rust(part(input, rust_let)?));
    }
    chain(input).map(Item::Chain)
}

/// `let name = match … { … }`, whose arms are chains.
fn decision(input: ParseStream<'_>) -> Result<Item> {
    let name = part(input, |input| {
        input.parse::<Token![let]>()?;
        input.parse::<Ident>()?;
        input.parse::<Token![=]>()
    })?;
    let stage = if input.peek(Token![match]) {
        match_stage(input)?
    } else {
        if_stage(input)?
    };
    if !input.is_empty() && !input.peek(Token![;]) {
        return Err(input.error("expected `;`"));
    }
    Ok(Item::Decision(name, Box::new(stage)))
}

/// `#![bounded]`, `#![input(…)]`
fn inner_attribute(input: ParseStream<'_>) -> Result<()> {
    input.parse::<Token![#]>()?;
    input.parse::<Token![!]>()?;
    let content;
    syn::bracketed!(content in input);
    content.parse::<TokenStream>().map(drop)
}

fn rust_let(input: ParseStream<'_>) -> Result<()> {
    input.call(Attribute::parse_outer)?;
    input.parse::<Token![let]>()?;
    input.call(Pat::parse_single)?;
    if input.parse::<Option<Token![:]>>()?.is_some() {
        input.parse::<Type>()?;
    }
    input.parse::<Token![=]>()?;
    input.parse::<Expr>()?;
    if input.parse::<Option<Token![else]>>()?.is_some() {
        input.parse::<Block>()?;
    }
    Ok(())
}

fn chain(input: ParseStream<'_>) -> Result<Chain> {
    let mut stages = Vec::new();
    let mut arrow = None;
    loop {
        let (stage, part) = with_part(input, stage)?;
        stages.push(Link { arrow, stage, part });
        if !input.peek(Token![=>]) {
            return Ok(Chain { stages });
        }
        arrow = Some(part_of_arrow(input)?);
    }
}

fn part_of_arrow(input: ParseStream<'_>) -> Result<Part> {
    part(input, <Token![=>]>::parse)
}

fn stage(input: ParseStream<'_>) -> Result<Stage> {
    if input.peek(Token![match]) {
        return match_stage(input);
    }
    if input.peek(Token![if]) {
        return if_stage(input);
    }
    if input.peek(Token![for]) {
        return for_stage(input);
    }
    if input.peek(token::Bracket) {
        return list(input, Delimiter::Bracket, |input| elements(input, chain)).map(Stage::Group);
    }
    if input.peek2(token::Bracket)
        && input
            .fork()
            .parse::<Ident>()
            .is_ok_and(|word| word == "goto")
    {
        input.parse::<Ident>()?;
        return list(input, Delimiter::Bracket, |input| elements(input, chain)).map(Stage::Goto);
    }
    let mut nodes = vec![part(input, node)?];
    while input.parse::<Option<Token![|]>>()?.is_some() {
        nodes.push(part(input, node)?);
    }
    match <[Part; 1]>::try_from(nodes) {
        Ok([node]) => Ok(Stage::Node(node)),
        Err(nodes) => Ok(Stage::AnyOf(nodes)),
    }
}

/// `node` or `node at_most 5 else exit`
fn node(input: ParseStream<'_>) -> Result<()> {
    input.parse::<ExprPath>()?;
    bound(input)
}

/// `at_most 5 else exit`, if it follows.
fn bound(input: ParseStream<'_>) -> Result<()> {
    let word = input.fork().parse::<Ident>();
    if !word.is_ok_and(|word| word == "at_most") {
        return Ok(());
    }
    input.parse::<Ident>()?;
    input.parse::<LitInt>()?;
    if input.parse::<Option<Token![else]>>()?.is_some() {
        input.parse::<ExprPath>()?;
    }
    Ok(())
}

/// Parses delimiters and what stands between them.
fn list<T>(
    input: ParseStream<'_>,
    delimiter: Delimiter,
    read: impl FnOnce(ParseStream<'_>) -> Result<Vec<Element<T>>>,
) -> Result<List<T>> {
    let (elements, part) = with_part(input, |input| {
        let content;
        if delimiter == Delimiter::Bracket {
            syn::bracketed!(content in input);
        } else {
            syn::braced!(content in input);
        }
        let elements = read(&content)?;
        if content.is_empty() {
            Ok(elements)
        } else {
            Err(content.error("unexpected token"))
        }
    })?;
    Ok(List { part, elements })
}

/// Parses elements with commas between them.
fn elements<T>(
    input: ParseStream<'_>,
    read: impl Fn(ParseStream<'_>) -> Result<T>,
) -> Result<Vec<Element<T>>> {
    let mut elements = Vec::new();
    while !input.is_empty() {
        let (node, part) = with_part(input, &read)?;
        let end = end_of(input, token_comma)?;
        if end.is_none() && !input.is_empty() {
            return Err(input.error("expected `,`"));
        }
        elements.push(Element { node, part, end });
    }
    Ok(elements)
}

/// `{ chain }`
fn block(input: ParseStream<'_>) -> Result<List<Chain>> {
    block_of(input, chain)
}

fn block_of(
    input: ParseStream<'_>,
    read: impl FnOnce(ParseStream<'_>) -> Result<Chain>,
) -> Result<List<Chain>> {
    list(input, Delimiter::Brace, |input| {
        let (node, part) = with_part(input, read)?;
        let end = end_of(input, token_semicolon)?;
        Ok(vec![Element { node, part, end }])
    })
}

fn router(input: ParseStream<'_>) -> Result<Part> {
    part(input, Expr::parse_without_eager_brace)
}

fn match_stage(input: ParseStream<'_>) -> Result<Stage> {
    input.parse::<Token![match]>()?;
    let router = router(input)?;
    let arms = list(input, Delimiter::Brace, |input| {
        let mut arms = Vec::new();
        while !input.is_empty() {
            let (node, part) = with_part(input, arm)?;
            let end = end_of(input, token_comma)?;
            arms.push(Element { node, part, end });
        }
        Ok(arms)
    })?;
    Ok(Stage::Match(router, arms))
}

fn arm(input: ParseStream<'_>) -> Result<Arm> {
    let pattern = part(input, |input| {
        input.call(Pat::parse_multi_with_leading_vert)?;
        if input.parse::<Option<Token![if]>>()?.is_some() {
            input.parse::<Expr>()?;
        }
        Ok(())
    })?;
    input.parse::<Token![=>]>()?;
    let body = if input.peek(token::Brace) {
        ArmBody::Block(block(input)?)
    } else {
        ArmBody::Chain(chain(input)?)
    };
    Ok(Arm { pattern, body })
}

fn if_stage(input: ParseStream<'_>) -> Result<Stage> {
    let mut branches = Vec::new();
    loop {
        input.parse::<Token![if]>()?;
        branches.push((Some(router(input)?), block(input)?));
        if input.parse::<Option<Token![else]>>()?.is_none() {
            break;
        }
        if !input.peek(Token![if]) {
            branches.push((None, block(input)?));
            break;
        }
    }
    Ok(Stage::If(branches))
}

fn for_stage(input: ParseStream<'_>) -> Result<Stage> {
    input.parse::<Token![for]>()?;
    let pattern = part(input, Pat::parse_multi_with_leading_vert)?;
    input.parse::<Token![in]>()?;
    let items = router(input)?;
    let body = block_of(input, |input| {
        let worker = part(input, |input| {
            input.parse::<ExprPath>()?;
            let arguments;
            syn::parenthesized!(arguments in input);
            arguments.parse::<TokenStream>()?;
            bound(input)
        })?;
        let mut stages = vec![Link {
            arrow: None,
            part: worker.clone(),
            stage: Stage::Node(worker),
        }];
        if input.peek(Token![=>]) {
            let arrow = Some(part_of_arrow(input)?);
            let mut rest = chain(input)?;
            if let Some(first) = rest.stages.first_mut() {
                first.arrow = arrow;
            }
            stages.append(&mut rest.stages);
        }
        Ok(Chain { stages })
    })?;
    Ok(Stage::For(pattern, items, body))
}
