//! Decides where the lines of a graph break.

use super::style::Style;
use super::syntax::{Arm, ArmBody, Chain, Element, Item, Link, List, Part, Stage};
use super::text::Text;

/// Writes a graph anew.
///
/// What the author put on a line of its own after a delimiter or before an arrow stays there;
/// what does not fit on its line is broken.
pub(super) struct Layout<'a> {
    text: &'a Text<'a>,
    style: &'a Style,
}

/// Where a part begins: the level of its line, its column, and the width of what comes after it.
#[derive(Clone, Copy)]
struct At {
    level: usize,
    column: usize,
    tail: usize,
}

impl<'a> Layout<'a> {
    pub(super) fn new(text: &'a Text<'a>, style: &'a Style) -> Self {
        Self { text, style }
    }

    /// Writes the body of a graph, with its braces.
    pub(super) fn body(&self, items: &[Element<Item>], part: &Part) -> Result<String, String> {
        if let Some(flat) = self.flat_body(items, part) {
            let before = self.style.width(self.text.line_before(part.start));
            let after = self.style.width(self.text.rest_of_line(part.end));
            if before + self.style.width(&flat) + after <= self.style.max_width {
                return Ok(flat);
            }
        }
        let level = self.text.level(part.start) + 1;
        let mut out = "{".to_owned();
        self.text
            .push_elements(&mut out, (items, part), level, |item, _, tail| {
                self.item(item, level, tail)
            })?;
        out.push('}');
        Ok(out)
    }

    fn flat_body(&self, items: &[Element<Item>], part: &Part) -> Option<String> {
        if self.text.get(part).contains('\n') || self.text.has_comment(part) {
            return None;
        }
        let mut out = "{".to_owned();
        for item in items {
            out.push(' ');
            match &item.node {
                Item::Rust(part) => out.push_str(self.text.get(part)),
                Item::Decision(name, stage) => {
                    out.push_str(self.text.get(name));
                    out.push(' ');
                    out.push_str(&self.flat_stage(stage)?);
                }
                Item::Chain(chain) => out.push_str(&self.flat_chain(chain)?),
            }
            self.push_end(&mut out, item);
        }
        out.push_str(" }");
        Some(out)
    }

    fn push_end<T>(&self, out: &mut String, element: &Element<T>) {
        if let Some(end) = &element.end {
            out.push_str(self.text.get(end));
        }
    }

    fn item(&self, item: &Item, level: usize, tail: usize) -> Result<String, String> {
        let column = self.style.width(&self.style.indent(level));
        let at = At {
            level,
            column,
            tail,
        };
        match item {
            Item::Rust(part) => Ok(self.text.moved(part, level)),
            Item::Decision(name, stage) => {
                let name = self.text.get(name);
                let column = column + self.style.width(name) + 1;
                Ok(format!(
                    "{name} {}",
                    self.stage(stage, At { column, ..at })?
                ))
            }
            Item::Chain(chain) => self.chain(chain, at),
        }
    }

    fn chain(&self, chain: &Chain, at: At) -> Result<String, String> {
        if let Some(flat) = self.flat_chain(chain)
            && self.fits(at, &flat)
        {
            return Ok(flat);
        }
        if !self.breaks_before_arrow(chain)
            && let Some(text) = self.open_in_line(chain, at)?
        {
            return Ok(text);
        }
        self.broken(chain, at)
    }

    fn fits(&self, at: At, text: &str) -> bool {
        at.column + self.style.width(text) + at.tail <= self.style.max_width
    }

    /// Writes a chain in one line but for the stages with parts on lines of their own. Returns
    /// `None` if a line would be too long.
    fn open_in_line(&self, chain: &Chain, at: At) -> Result<Option<String>, String> {
        let flats: Vec<_> = chain
            .stages
            .iter()
            .map(|link| self.flat_stage(&link.stage))
            .collect();
        let last = chain.stages.len().saturating_sub(1);
        let opens = |index: usize, link: &Link| {
            flats.get(index).is_none_or(Option::is_none)
                || (index == last && flats.iter().all(Option::is_some) && link.stage.opens())
        };
        // First the lines between the opened stages, as those in them cost more.
        let mut column = at.column;
        for (index, link) in chain.stages.iter().enumerate() {
            column += if index == 0 { 0 } else { " => ".len() };
            if opens(index, link) {
                let (head, tail) = self.ends_of(&link.stage);
                if column + head > self.style.max_width {
                    return Ok(None);
                }
                column = self.style.width(&self.style.indent(at.level)) + tail;
            } else if let Some(Some(flat)) = flats.get(index) {
                column += self.style.width(flat);
            }
        }
        if column + at.tail > self.style.max_width {
            return Ok(None);
        }
        let mut out = String::new();
        for (index, (link, flat)) in chain.stages.iter().zip(&flats).enumerate() {
            out.push_str(if index == 0 { "" } else { " => " });
            match flat {
                Some(flat) if !opens(index, link) => out.push_str(flat),
                _ => out.push_str(&self.open(&link.stage, at.level)?),
            }
        }
        Ok(Some(out))
    }

    /// Returns the widths of the first and the last line of an opened stage.
    fn ends_of(&self, stage: &Stage) -> (usize, usize) {
        let width = |part: &Part| {
            let first = self.text.get(part).lines().next().unwrap_or_default();
            self.style.width(first)
        };
        match stage {
            Stage::Node(part) => (width(part), 0),
            Stage::AnyOf(nodes) => (nodes.iter().map(|node| width(node) + 3).sum(), 0),
            Stage::Group(_) => (1, 1),
            Stage::Goto(_) => ("goto [".len(), 1),
            Stage::Match(router, _) => ("match  {".len() + width(router), 1),
            Stage::If(branches) => {
                let router = branches.first().and_then(|(router, _)| router.as_ref());
                ("if  {".len() + router.map_or(0, width), 1)
            }
            Stage::For(pattern, items, _) => {
                ("for  in  {".len() + width(pattern) + width(items), 1)
            }
        }
    }

    /// Writes each stage on a line of its own, but the first node on the line of START.
    fn broken(&self, chain: &Chain, at: At) -> Result<String, String> {
        let mut out = String::new();
        let indent = self.style.width(&self.style.indent(at.level + 1));
        let last = chain.stages.len().saturating_sub(1);
        let mut end = None;
        for (index, link) in chain.stages.iter().enumerate() {
            let mut stage = At {
                tail: if index == last { at.tail } else { 0 },
                ..at
            };
            if let Some(arrow) = &link.arrow {
                let gap = end.unwrap_or(arrow.start)..arrow.start;
                self.text.push_comments(&mut out, &gap, at.level + 1, false);
                if index == 1 && !self.text.has_comment(&gap) && self.starts(chain) {
                    out.push(' ');
                } else {
                    out.push_str(&self.text.line(at.level + 1));
                    stage.level += 1;
                    stage.column = indent + "=> ".len();
                }
                out.push_str("=> ");
            }
            out.push_str(&self.stage(&link.stage, stage)?);
            end = Some(link.part.end);
        }
        Ok(out)
    }

    /// Returns true if the chain begins with START and a node.
    fn starts(&self, chain: &Chain) -> bool {
        let mut stages = chain.stages.iter().map(|link| &link.stage);
        let (Some(Stage::Node(start)), Some(Stage::Node(_)), Some(_)) =
            (stages.next(), stages.next(), stages.next())
        else {
            return false;
        };
        self.text.get(start).ends_with("START")
    }

    /// Returns true if the author broke the line before an arrow of the chain itself.
    fn breaks_before_arrow(&self, chain: &Chain) -> bool {
        let mut arrows = chain.stages.iter().filter_map(|link| link.arrow.as_ref());
        arrows.any(|arrow| self.text.begins_line(arrow.start))
    }

    fn stage(&self, stage: &Stage, at: At) -> Result<String, String> {
        match self.flat_stage(stage) {
            Some(flat) if self.fits(at, &flat) || !stage.opens() => Ok(flat),
            _ => self.open(stage, at.level),
        }
    }

    /// Writes a stage with its elements on lines of their own.
    fn open(&self, stage: &Stage, level: usize) -> Result<String, String> {
        let get = |part: &Part| self.text.moved(part, level);
        Ok(match stage {
            Stage::Node(part) => get(part),
            Stage::AnyOf(nodes) => nodes.iter().map(get).collect::<Vec<_>>().join(" | "),
            Stage::Group(group) => self.open_chains("[", group, level)? + "]",
            Stage::Goto(group) => self.open_chains("goto [", group, level)? + "]",
            Stage::Match(router, arms) => {
                let mut out = format!("match {} {{", get(router));
                let elements = (&*arms.elements, &arms.part);
                self.text
                    .push_elements(&mut out, elements, level + 1, |arm, _, tail| {
                        self.arm(arm, level + 1, tail)
                    })?;
                out + "}"
            }
            Stage::If(branches) => {
                let mut out = String::new();
                for (index, (router, block)) in branches.iter().enumerate() {
                    out.push_str(if index == 0 { "" } else { " else " });
                    let head = match router {
                        Some(router) => format!("if {} {{", get(router)),
                        None => "{".to_owned(),
                    };
                    out.push_str(&self.open_chains(&head, block, level)?);
                    out.push('}');
                }
                out
            }
            Stage::For(pattern, items, body) => {
                let head = format!("for {} in {} {{", get(pattern), get(items));
                self.open_chains(&head, body, level)? + "}"
            }
        })
    }

    fn open_chains(&self, head: &str, list: &List<Chain>, level: usize) -> Result<String, String> {
        let mut out = head.to_owned();
        let level = level + 1;
        let column = self.style.width(&self.style.indent(level));
        let elements = (&*list.elements, &list.part);
        self.text
            .push_elements(&mut out, elements, level, |chain, _, tail| {
                let at = At {
                    level,
                    column,
                    tail,
                };
                self.chain(chain, at)
            })?;
        Ok(out)
    }

    fn arm(&self, arm: &Arm, level: usize, tail: usize) -> Result<String, String> {
        let pattern = self.text.moved(&arm.pattern, level);
        let last = pattern.lines().last().unwrap_or_default();
        let indent = if pattern.contains('\n') {
            0
        } else {
            self.style.width(&self.style.indent(level))
        };
        let at = At {
            level,
            column: indent + self.style.width(last) + " => ".len(),
            tail,
        };
        let body = match &arm.body {
            ArmBody::Chain(chain) => self.chain(chain, at)?,
            ArmBody::Block(block) => match self.flat_list("{ ", block, " }") {
                Some(flat) if self.fits(at, &flat) => flat,
                _ => self.open_chains("{", block, level)? + "}",
            },
        };
        Ok(format!("{pattern} => {body}"))
    }

    /// Returns a chain in one line, or `None` if a part of it has lines of its own.
    fn flat_chain(&self, chain: &Chain) -> Option<String> {
        if self.breaks_before_arrow(chain) {
            return None;
        }
        let mut out = String::new();
        for (index, link) in chain.stages.iter().enumerate() {
            out.push_str(if index == 0 { "" } else { " => " });
            out.push_str(&self.flat_stage(&link.stage)?);
        }
        Some(out)
    }

    fn flat_stage(&self, stage: &Stage) -> Option<String> {
        let get = |part: &Part| {
            let text = self.text.get(part);
            (!text.contains('\n')).then_some(text)
        };
        Some(match stage {
            Stage::Node(part) => get(part)?.to_owned(),
            Stage::AnyOf(nodes) => nodes
                .iter()
                .map(get)
                .collect::<Option<Vec<_>>>()?
                .join(" | "),
            Stage::Group(group) => self.flat_list("[", group, "]")?,
            Stage::Goto(group) => self.flat_list("goto [", group, "]")?,
            Stage::Match(router, arms) => {
                let mut out = format!("match {} {{ ", get(router)?);
                if self.is_open(&arms.elements, &arms.part) {
                    return None;
                }
                for (index, arm) in arms.elements.iter().enumerate() {
                    out.push_str(if index == 0 { "" } else { " " });
                    out.push_str(get(&arm.node.pattern)?);
                    out.push_str(" => ");
                    out.push_str(&match &arm.node.body {
                        ArmBody::Chain(chain) => self.flat_chain(chain)?,
                        ArmBody::Block(block) => self.flat_list("{ ", block, " }")?,
                    });
                    self.push_end(&mut out, arm);
                }
                out + " }"
            }
            Stage::If(branches) => {
                let mut out = Vec::new();
                for (router, block) in branches {
                    let head = match router {
                        Some(router) => format!("if {} {{ ", get(router)?),
                        None => "{ ".to_owned(),
                    };
                    out.push(self.flat_list(&head, block, " }")?);
                }
                out.join(" else ")
            }
            Stage::For(pattern, items, body) => {
                let head = format!("for {} in {} {{ ", get(pattern)?, get(items)?);
                self.flat_list(&head, body, " }")?
            }
        })
    }

    fn flat_list(&self, open: &str, list: &List<Chain>, close: &str) -> Option<String> {
        if self.is_open(&list.elements, &list.part) {
            return None;
        }
        let mut out = open.to_owned();
        for (index, element) in list.elements.iter().enumerate() {
            out.push_str(if index == 0 { "" } else { " " });
            out.push_str(&self.flat_chain(&element.node)?);
            self.push_end(&mut out, element);
        }
        Some(out + close)
    }

    /// Returns true if the author began a line after the opening delimiter, or put a comment into it.
    fn is_open<T>(&self, elements: &[Element<T>], part: &Part) -> bool {
        let first = elements
            .first()
            .map_or(part.end, |element| element.part.start);
        self.text.get(&(part.start..first)).contains('\n') || self.text.has_comment(part)
    }
}

impl Stage {
    /// Returns true if the stage has parts that can stand on lines of their own.
    fn opens(&self) -> bool {
        !matches!(self, Self::Node(_) | Self::AnyOf(_))
    }
}
