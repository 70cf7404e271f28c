//! What a user wrote, as it was written.

use proc_macro2::{Ident, Span, TokenStream};
use syn::{Expr, ExprPath, Pat, Path, Type, token};

/// The whole input of `graph!`.
#[derive(Default)]
pub(crate) struct Graph {
    /// `type State = …;`
    pub(crate) state: Option<Type>,
    /// `crate = …;`, for a runtime crate under another name.
    pub(crate) root: Option<Path>,
    /// The `let`s, in order.
    pub(crate) lets: Vec<Let>,
    /// The chains, in order.
    pub(crate) chains: Vec<Chain>,
    /// The first token, for what is missing everywhere.
    pub(crate) first: Option<Span>,
    /// What could be read of a part that could not: an editor still knows the names in it.
    pub(crate) fragments: Vec<TokenStream>,
    /// True when a part could not be read: then nothing is said about what the rest leads to.
    pub(crate) broken: bool,
}

/// A `let` statement, passed through as it is.
#[derive(Default)]
pub(crate) struct Let {
    /// The statement; empty when it could not be read.
    pub(crate) statement: TokenStream,
    /// The names that it would bind, if it could not be read.
    pub(crate) lost: Vec<Ident>,
    /// The names that it binds.
    pub(crate) names: Vec<Ident>,
    /// What the names that it uses stand in.
    pub(crate) value: TokenStream,
    /// Those of its names that nothing in the graph uses.
    pub(crate) unused: Vec<Ident>,
}

/// Stages with arrows between them.
#[derive(Default)]
pub(crate) struct Chain {
    pub(crate) stages: Vec<Stage>,
}

/// What stands between two arrows.
pub(crate) enum Stage {
    /// START, as it was written.
    Start(ExprPath),
    /// END, as it was written.
    End(ExprPath),
    /// A node.
    Node(ExprPath),
    /// `[chain, …]`
    Group(Group),
    /// `match router { … }` or `if router { … } else if router { … } else { … }`
    Switch(Box<Switch>),
    /// `goto [..]`
    Goto(Goto),
    /// `for pat in items { worker(item) }`
    For(Box<For>),
}

/// `[chain, …]`
pub(crate) struct Group {
    pub(crate) chains: Vec<Chain>,
    pub(crate) bracket: token::Bracket,
}

/// A decision of a router.
pub(crate) struct Switch {
    /// `match` or `if`.
    pub(crate) keyword: Span,
    pub(crate) form: Form,
    pub(crate) router: Expr,
    pub(crate) brace: token::Brace,
    pub(crate) arms: Vec<Arm>,
    /// True when an arm could not be read, so that those that are there need not be all.
    pub(crate) broken: bool,
}

/// How a decision is written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    Match,
    If,
    IfLet,
}

/// One way out of a decision.
pub(crate) struct Arm {
    /// What the answer must look like; `None` for the branches of a plain `if`.
    pub(crate) pattern: Option<Pat>,
    pub(crate) guard: Option<(token::If, Expr)>,
    /// The router of an `else if`, which is asked when none before it has decided.
    pub(crate) asks: Option<Asks>,
    pub(crate) chain: Chain,
}

/// A router that is asked after others.
pub(crate) struct Asks {
    /// `if`.
    pub(crate) keyword: Span,
    pub(crate) router: Expr,
}

/// `goto [..]`
pub(crate) struct Goto {
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
    /// What follows the worker inside the braces.
    pub(crate) rest: Vec<Stage>,
}

/// `worker(item)`
pub(crate) struct Worker {
    pub(crate) path: ExprPath,
    pub(crate) paren: token::Paren,
    pub(crate) item: Expr,
}

impl Stage {
    /// What the stage is called in a message.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::Start(_) => "START",
            Self::End(_) => "END",
            Self::Node(_) => "a node",
            Self::Group(_) => "a group",
            Self::Switch(switch) => switch.form.keyword(),
            Self::Goto(_) => "`goto`",
            Self::For(_) => "`for`",
        }
    }

    /// True for what decides where to go, so that nothing can follow it.
    pub(crate) fn decides(&self) -> bool {
        matches!(self, Self::Switch(_) | Self::Goto(_))
    }

    /// Where the stage begins.
    pub(crate) fn span(&self) -> Span {
        match self {
            Self::Start(path) | Self::End(path) | Self::Node(path) => name_span(path),
            Self::Group(group) => group.bracket.span.join(),
            Self::Switch(switch) => switch.keyword,
            Self::Goto(goto) => goto.keyword,
            Self::For(each) => each.keyword,
        }
    }
}

impl Form {
    /// The keyword in a message.
    pub(crate) fn keyword(self) -> &'static str {
        match self {
            Self::Match => "`match`",
            Self::If | Self::IfLet => "`if`",
        }
    }
}

/// The span of the name that a path ends with: one token, so that it can be underlined.
pub(crate) fn name_span(path: &ExprPath) -> Span {
    path.path
        .segments
        .last()
        .map_or_else(Span::call_site, |segment| segment.ident.span())
}
