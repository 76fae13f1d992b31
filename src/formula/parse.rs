//! Parses expressions by precedence.

use super::graph::Graph;
use super::node::{Function, NodeId};
use super::tokens::{FormulaMistake, Spanned, Token, mistake, tokens};
use std::collections::BTreeMap;
use std::ops::Range;

/// Deepest nesting of parentheses, signs, powers and definitions.
const MAX_DEPTH: usize = 100;

/// Parses `text`: an expression, then definitions `name = expression`, separated by semicolons. `variables`
/// are the names that it may use. Returns the graph and the expression's node.
pub fn parse(text: &str, variables: &[String]) -> Result<(Graph, NodeId), FormulaMistake> {
    let all = tokens(text)?;
    let mut statements = all.split(|(token, _)| *token == Token::Sign(';'));
    let first = statements.next().unwrap_or_default();
    let mut parser = Parser {
        graph: Graph::default(),
        variables,
        definitions: BTreeMap::new(),
        known: BTreeMap::new(),
        open: Vec::new(),
        depth: 0,
        end: text.len(),
    };
    for statement in statements.filter(|statement| !statement.is_empty()) {
        parser.define(statement)?;
    }
    let node = parser.statement(first)?;
    // definitions that nothing uses may still be wrong
    let names: Vec<String> = parser.definitions.keys().cloned().collect();
    for name in names {
        parser.definition(&name, 0..0)?;
    }
    if parser.graph.overflowed() {
        return mistake(
            0..text.len(),
            "the formula is too long",
            "shorten it, or write it as [interaction.table]",
        );
    }
    Ok((parser.graph, node))
}

struct Parser<'a> {
    graph: Graph,
    variables: &'a [String],
    /// Tokens of each definition.
    definitions: BTreeMap<String, &'a [Spanned]>,
    /// Nodes of the definitions parsed so far.
    known: BTreeMap<String, NodeId>,
    /// Definitions that are being parsed.
    open: Vec<String>,
    depth: usize,
    end: usize,
}

/// Tokens of a statement, and the position.
struct Cursor<'a> {
    tokens: &'a [Spanned],
    at: usize,
}

impl Cursor<'_> {
    fn sign(&self) -> Option<char> {
        match self.tokens.get(self.at) {
            Some((Token::Sign(sign), _)) => Some(*sign),
            _ => None,
        }
    }

    fn take(&mut self, sign: char) -> bool {
        let found = self.sign() == Some(sign);
        self.at += usize::from(found);
        found
    }
}

impl<'a> Parser<'a> {
    /// Records a definition.
    fn define(&mut self, statement: &'a [Spanned]) -> Result<(), FormulaMistake> {
        let [(Token::Name(name), span), (Token::Sign('='), _), value @ ..] = statement else {
            let span = statement.first().map_or(0..0, |(_, span)| span.clone());
            return mistake(
                span,
                "after a semicolon comes `name = expression`",
                "as in \"x^2; x = sigma/r\"",
            );
        };
        if self.variables.contains(name)
            || is_function(name)
            || CONSTANTS.iter().any(|(known, _)| known == name)
        {
            return mistake(span.clone(), format!("`{name}` has a meaning already"), "choose another name");
        }
        if self.definitions.insert(name.clone(), value).is_some() {
            return mistake(span.clone(), format!("`{name}` is defined twice"), "keep one of the two");
        }
        Ok(())
    }

    /// The node of a definition.
    fn definition(&mut self, name: &str, span: Range<usize>) -> Result<NodeId, FormulaMistake> {
        if let Some(&node) = self.known.get(name) {
            return Ok(node);
        }
        if self.open.iter().any(|open| open == name) {
            return mistake(
                span,
                format!("the definition of `{name}` is circular"),
                "let definitions use others only",
            );
        }
        self.open.push(name.to_string());
        let tokens = self.definitions.get(name).copied().unwrap_or_default();
        let node = self.statement(tokens)?;
        self.open.pop();
        self.known.insert(name.to_string(), node);
        Ok(node)
    }

    /// A whole statement.
    fn statement(&mut self, tokens: &'a [Spanned]) -> Result<NodeId, FormulaMistake> {
        let mut cursor = Cursor { tokens, at: 0 };
        let node = self.sum(&mut cursor)?;
        match tokens.get(cursor.at) {
            None => Ok(node),
            Some((Token::Sign(')'), span)) => {
                mistake(span.clone(), "this parenthesis closes none", "remove it, or open one before")
            }
            Some((Token::Sign('='), span)) => {
                let help = "the expression comes first, then definitions: \"4*x; x = sigma/r\"";
                mistake(span.clone(), "`=` belongs to a definition after a semicolon", help)
            }
            Some((_, span)) => mistake(span.clone(), "an operator is missing here", "write products with *"),
        }
    }

    fn sum(&mut self, cursor: &mut Cursor<'a>) -> Result<NodeId, FormulaMistake> {
        let mut left = self.product(cursor)?;
        loop {
            if cursor.take('+') {
                let right = self.product(cursor)?;
                left = self.graph.add(left, right);
            } else if cursor.take('-') {
                let right = self.product(cursor)?;
                left = self.graph.subtract(left, right);
            } else {
                return Ok(left);
            }
        }
    }

    fn product(&mut self, cursor: &mut Cursor<'a>) -> Result<NodeId, FormulaMistake> {
        let mut left = self.signed(cursor)?;
        loop {
            if cursor.take('*') {
                let right = self.signed(cursor)?;
                left = self.graph.multiply(left, right);
            } else if cursor.take('/') {
                let right = self.signed(cursor)?;
                left = self.graph.divide(left, right);
            } else {
                return Ok(left);
            }
        }
    }

    /// Signs bind less than powers: -r^2 is -(r^2).
    fn signed(&mut self, cursor: &mut Cursor<'a>) -> Result<NodeId, FormulaMistake> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            let span = cursor.tokens.get(cursor.at).map_or(self.end..self.end, |(_, span)| span.clone());
            return mistake(
                span,
                format!("more than {MAX_DEPTH} levels of nesting"),
                "write it with definitions",
            );
        }
        let node = if cursor.take('-') {
            let inner = self.signed(cursor)?;
            self.graph.negate(inner)
        } else if cursor.take('+') {
            self.signed(cursor)?
        } else {
            let base = self.atom(cursor)?;
            if cursor.take('^') {
                // from right to left: 2^3^2 is 2^9
                let exponent = self.signed(cursor)?;
                self.graph.real_power(base, exponent)
            } else {
                base
            }
        };
        self.depth -= 1;
        Ok(node)
    }

    fn atom(&mut self, cursor: &mut Cursor<'a>) -> Result<NodeId, FormulaMistake> {
        let Some((token, span)) = cursor.tokens.get(cursor.at) else {
            let last = cursor.tokens.last().map_or(self.end..self.end, |(_, span)| span.clone());
            let help = "a formula is like \"4*epsilon*((sigma/r)^12 - (sigma/r)^6)\"";
            return mistake(last, "the formula ends where a value should follow", help);
        };
        cursor.at += 1;
        match token {
            Token::Number(value) => Ok(self.graph.number(*value)),
            Token::Name(name) if cursor.sign() == Some('(') => self.call(name, span.clone(), cursor),
            Token::Name(name) => self.name(name, span.clone()),
            Token::Sign('(') => {
                let node = self.sum(cursor)?;
                self.close(cursor, span.clone())?;
                Ok(node)
            }
            Token::Sign(sign) => {
                let help = "write a number, a name or a parenthesis here";
                mistake(span.clone(), format!("`{sign}` where a value should stand"), help)
            }
        }
    }

    fn close(&self, cursor: &mut Cursor<'a>, opened: Range<usize>) -> Result<(), FormulaMistake> {
        if cursor.take(')') {
            return Ok(());
        }
        match cursor.tokens.get(cursor.at) {
            None => mistake(opened, "this parenthesis is not closed", "add `)`"),
            Some((_, span)) => {
                mistake(span.clone(), "an operator or `)` is missing here", "write products with *")
            }
        }
    }

    fn name(&mut self, name: &str, span: Range<usize>) -> Result<NodeId, FormulaMistake> {
        if self.definitions.contains_key(name) {
            return self.definition(name, span);
        }
        if let Some(index) = self.variables.iter().position(|known| known == name) {
            return Ok(self.graph.variable(index));
        }
        if let Some((_, value)) = CONSTANTS.iter().find(|(known, _)| *known == name) {
            return Ok(self.graph.number(*value));
        }
        if function(name).is_some() || TWO_ARGUMENTS.contains(&name) {
            return mistake(
                span,
                format!("the function `{name}` lacks its argument"),
                format!("write {name}(...)"),
            );
        }
        self.unknown(name, span)
    }

    fn unknown(&self, name: &str, span: Range<usize>) -> Result<NodeId, FormulaMistake> {
        let of_species = format!("{name}_i");
        let help = if self.variables.contains(&of_species) {
            format!(
                "species have a `{name}` each: write {name}_i and {name}_j, or define it, as in \"; {name} = \
                 ({name}_i + {name}_j)/2\""
            )
        } else {
            let known: Vec<&str> = self
                .variables
                .iter()
                .map(String::as_str)
                .chain(self.definitions.keys().map(String::as_str))
                .chain(CONSTANTS.iter().map(|(known, _)| *known))
                .collect();
            format!(
                "known here are {}; give `{name} = ...` in [interaction.formula.parameters], or in \
                 [species.NAME.parameters] for {name}_i and {name}_j",
                known.join(", ")
            )
        };
        mistake(span, format!("`{name}` is unknown"), help)
    }

    fn call(
        &mut self,
        name: &str,
        span: Range<usize>,
        cursor: &mut Cursor<'a>,
    ) -> Result<NodeId, FormulaMistake> {
        let opened = cursor.tokens.get(cursor.at).map_or(span.clone(), |(_, span)| span.clone());
        cursor.at += 1;
        let wanted = match (function(name), TWO_ARGUMENTS.contains(&name)) {
            (Some(_), _) => 1,
            (None, true) => 2,
            (None, false) => {
                let functions: Vec<&str> =
                    Function::NAMES.iter().map(|(known, _)| *known).chain(TWO_ARGUMENTS).collect();
                let known =
                    self.variables.iter().any(|known| known == name) || self.definitions.contains_key(name);
                let help = match known {
                    true => "write a product with *".into(),
                    false => format!("the functions are {}", functions.join(", ")),
                };
                return mistake(span, format!("`{name}` is no function"), help);
            }
        };
        let mut arguments = vec![self.sum(cursor)?];
        while cursor.take(',') {
            arguments.push(self.sum(cursor)?);
        }
        self.close(cursor, opened)?;
        match (arguments.as_slice(), function(name)) {
            (&[x], Some(function)) => Ok(self.graph.apply(function, x)),
            (&[a, b], None) if name == "min" => Ok(self.graph.minimum(a, b)),
            (&[a, b], None) => Ok(self.graph.maximum(a, b)),
            _ => {
                let message = format!("`{name}` has {} arguments, not {wanted}", arguments.len());
                mistake(span, message, format!("give it {wanted}"))
            }
        }
    }
}

/// Constants.
const CONSTANTS: &[(&str, f64)] = &[("pi", std::f64::consts::PI)];
/// Functions of two arguments.
const TWO_ARGUMENTS: [&str; 2] = ["min", "max"];

/// Whether a name is that of a function.
pub fn is_function(name: &str) -> bool {
    function(name).is_some() || TWO_ARGUMENTS.contains(&name)
}

fn function(name: &str) -> Option<Function> {
    Function::NAMES.iter().find(|(known, _)| *known == name).map(|(_, function)| *function)
}
