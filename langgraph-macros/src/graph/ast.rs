//! The syntax tree of a graph.

use proc_macro2::{Ident, Span, TokenStream};
use syn::{Expr, ExprPath, Pat, Path, Type, token};

/// The whole input of `graph!`.
#[derive(Default)]
pub(crate) struct Graph {
    /// `type State = …;`
    pub(crate) state: Option<Type>,
    /// `crate = …;`, for a runtime crate under another name.
    pub(crate) root: Option<Path>,
    /// `#![…]`
    pub(crate) attributes: Attributes,
    /// The `let`s, in order.
    pub(crate) lets: Vec<Let>,
    /// The decisions with a name, in order.
    pub(crate) decisions: Vec<Decision>,
    /// The chains, in order.
    pub(crate) chains: Vec<Chain>,
    /// The first token, for errors about missing parts.
    pub(crate) first: Option<Span>,
    /// The parsed pieces of broken parts: an editor still resolves their names.
    pub(crate) fragments: Vec<TokenStream>,
    /// True if a part did not parse: then the macro reports nothing about reachability.
    pub(crate) broken: bool,
}

/// What a graph says about itself.
#[derive(Default)]
pub(crate) struct Attributes {
    /// `#![bounded]`: every loop and every map has a bound.
    pub(crate) bounded: bool,
    /// `#![input(topic)]`: the fields that have a value when a run starts.
    pub(crate) input: Option<Vec<Ident>>,
    /// `#![output(report)]`: the fields that others than nodes read.
    pub(crate) output: Option<Vec<Ident>>,
}

/// A `let` statement, which is passed through unchanged.
#[derive(Default)]
pub(crate) struct Let {
    /// The statement; empty if it did not parse.
    pub(crate) statement: TokenStream,
    /// The names that it would bind, if it did not parse.
    pub(crate) lost: Vec<Ident>,
    /// Those of its names that have to be used.
    pub(crate) names: Vec<Ident>,
    /// All the names that it binds.
    pub(crate) bound: Vec<Ident>,
    /// The tokens that contain the names it uses.
    pub(crate) value: TokenStream,
    /// Those of its names that nothing in the graph uses.
    pub(crate) unused: Vec<Ident>,
    /// The value as a decision, if it can be read as one.
    pub(crate) decision: Option<Box<SwitchSyntax>>,
    /// The value as a node with options, if it is one.
    pub(crate) options: Option<Box<WithOptions>>,
}

/// `let name = node.retry(3);`
pub(crate) struct WithOptions {
    /// The variable that holds the node.
    pub(crate) variable: Ident,
    /// The node without its options.
    pub(crate) node: Expr,
    /// The statement up to the value, such as `let name =`.
    pub(crate) head: TokenStream,
    /// The value, with the variable instead of the node.
    pub(crate) value: TokenStream,
}

/// `let name = match router { … };`
pub(crate) struct Decision {
    pub(crate) name: Ident,
    /// The places that lead to it.
    pub(crate) mentions: Vec<Ident>,
    pub(crate) switch: Box<SwitchSyntax>,
}

/// Stages with arrows between them.
#[derive(Default)]
pub(crate) struct Chain {
    pub(crate) stages: Vec<Stage>,
}

/// A stage of a chain, between two arrows.
pub(crate) enum Stage {
    /// START, as written.
    Start(ExprPath),
    /// END, as written.
    End(ExprPath),
    /// A node.
    Node(ExprPath),
    /// `node at_most 5 else exit`
    Bounded(Box<Bounded>),
    /// `a | b`
    AnyOf(AnyOf),
    /// `[chain, …]`
    Group(Group),
    /// `match router { … }` or `if router { … } else if router { … } else { … }`
    Switch(Box<SwitchSyntax>),
    /// The name of a decision.
    Named(Ident),
    /// `goto [..]`
    Goto(GotoSyntax),
    /// `for pat in items { worker(item) }`
    For(Box<For>),
}

/// A node, with the bound of the edge that leads to it.
pub(crate) struct Bounded {
    pub(crate) node: ExprPath,
    pub(crate) bound: BoundSyntax,
}

/// `at_most 5 else exit`
pub(crate) struct BoundSyntax {
    /// `at_most`
    pub(crate) keyword: Span,
    pub(crate) at_most: u32,
    /// A node or END.
    pub(crate) exit: Option<Stage>,
}

/// `a | b`: what follows comes after each of them.
pub(crate) struct AnyOf {
    /// Each is a node, START or END.
    pub(crate) members: Vec<Stage>,
    /// The first `|`.
    pub(crate) bar: Span,
}

/// `[chain, …]`
pub(crate) struct Group {
    pub(crate) chains: Vec<Chain>,
    pub(crate) bracket: token::Bracket,
}

/// A decision of a router.
pub(crate) struct SwitchSyntax {
    /// `match` or `if`.
    pub(crate) keyword: Span,
    pub(crate) form: Form,
    pub(crate) router: Expr,
    pub(crate) brace: token::Brace,
    pub(crate) arms: Vec<ArmSyntax>,
    /// True if an arm did not parse, so the list of arms may be incomplete.
    pub(crate) broken: bool,
}

/// The form of a decision.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    Match,
    If,
    IfLet,
}

/// An arm of a decision.
pub(crate) struct ArmSyntax {
    /// The pattern of the answer; `None` for the branches of a plain `if`.
    pub(crate) pattern: Option<Pat>,
    pub(crate) guard: Option<(token::If, Expr)>,
    /// The router of an `else if`, which runs if none before it matched.
    pub(crate) asks: Option<Asks>,
    pub(crate) chain: Chain,
}

/// A router that runs after others.
pub(crate) struct Asks {
    /// `if`.
    pub(crate) keyword: Span,
    pub(crate) router: Expr,
}

/// `goto [..]`
pub(crate) struct GotoSyntax {
    pub(crate) keyword: Span,
    /// Each is a node or END.
    pub(crate) targets: Vec<Stage>,
}

/// `for pat in items { worker(item) => … }`
pub(crate) struct For {
    pub(crate) keyword: Span,
    pub(crate) pattern: Pat,
    pub(crate) items: Expr,
    pub(crate) worker: Option<Worker>,
    /// The successors of the worker inside the braces.
    pub(crate) rest: Vec<Stage>,
}

/// `worker(item) at_most 10 else exit`
pub(crate) struct Worker {
    pub(crate) path: ExprPath,
    pub(crate) paren: token::Paren,
    pub(crate) item: Expr,
    pub(crate) bound: Option<BoundSyntax>,
}

impl Stage {
    /// Returns the name of the stage in a message.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::Start(_) => "START",
            Self::End(_) => "END",
            Self::Node(_) | Self::Bounded(_) => "a node",
            Self::AnyOf(_) => "a list",
            Self::Group(_) => "a group",
            Self::Named(_) => "a decision",
            Self::Switch(switch) => switch.form.keyword(),
            Self::Goto(_) => "`goto`",
            Self::For(_) => "`for`",
        }
    }

    /// Returns true for a decision, which nothing can follow.
    pub(crate) fn decides(&self) -> bool {
        matches!(self, Self::Switch(_) | Self::Named(_) | Self::Goto(_))
    }

    /// Returns the first span of the stage.
    pub(crate) fn span(&self) -> Span {
        match self {
            Self::Start(path) | Self::End(path) | Self::Node(path) => name_span(path),
            Self::Bounded(bounded) => name_span(&bounded.node),
            Self::AnyOf(list) => list.members.first().map_or(list.bar, Self::span),
            Self::Group(group) => group.bracket.span.join(),
            Self::Named(name) => name.span(),
            Self::Switch(switch) => switch.keyword,
            Self::Goto(goto) => goto.keyword,
            Self::For(each) => each.keyword,
        }
    }
}

impl SwitchSyntax {
    /// Returns true if an arm cannot be an expression of Rust: then the whole is a decision, however its name
    /// is used.
    pub(crate) fn is_certain(&self) -> bool {
        self.arms
            .iter()
            .any(|arm| !matches!(arm.chain.stages.as_slice(), [Stage::Node(_)] | []))
    }
}

impl Form {
    /// Returns the keyword for a message.
    pub(crate) fn keyword(self) -> &'static str {
        match self {
            Self::Match => "`match`",
            Self::If | Self::IfLet => "`if`",
        }
    }
}

/// Returns the span of a path's last name: a single token, so that it can be underlined.
pub(crate) fn name_span(path: &ExprPath) -> Span {
    path.path
        .segments
        .last()
        .map_or_else(Span::call_site, |segment| segment.ident.span())
}
