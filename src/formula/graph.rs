//! Expressions as a graph of shared nodes: equal subexpressions are one node, and constants are folded.

use super::node::{Function, Node, NodeId};
use std::collections::HashMap;

/// Largest number of nodes; a potential has some tens.
pub const MAX_NODES: usize = 20_000;
/// Largest magnitude of a whole exponent that becomes multiplications.
const MAX_POWER: i32 = 64;

/// A graph. Arguments precede the nodes that use them. The constructors simplify: they fold constants, drop 0
/// and 1, and turn even powers of the root of a variable into powers of the variable.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    nodes: Vec<Node>,
    known: HashMap<(u8, u64, u64), NodeId>,
    /// Results of [`Self::inverse`] and [`Self::power`]: products of shared factors are taken apart once.
    inverses: HashMap<NodeId, NodeId>,
    powers: HashMap<(NodeId, i32), NodeId>,
}

impl Graph {
    /// All nodes.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Whether an expression became too large; its nodes are then meaningless.
    pub fn overflowed(&self) -> bool {
        self.nodes.len() >= MAX_NODES
    }

    /// The operation of a node.
    pub fn node(&self, id: NodeId) -> Node {
        self.nodes.get(id).copied().unwrap_or(Node::Number(f64::NAN))
    }

    /// The number, if the node is one.
    pub fn constant(&self, id: NodeId) -> Option<f64> {
        match self.node(id) {
            Node::Number(value) => Some(value),
            _ => None,
        }
    }

    fn add_node(&mut self, node: Node) -> NodeId {
        // a node of constants is a constant
        let constant = node.arguments().count() > 0 && node.arguments().all(|id| self.constant(id).is_some());
        let node = if constant {
            Node::Number(node.evaluate(|id| self.constant(id).unwrap_or(f64::NAN), &[]))
        } else {
            node
        };
        if let Some(&id) = self.known.get(&node.key()) {
            return id;
        }
        if self.overflowed() {
            return 0;
        }
        self.nodes.push(node);
        let id = self.nodes.len() - 1;
        self.known.insert(node.key(), id);
        id
    }

    /// A number.
    pub fn number(&mut self, value: f64) -> NodeId {
        self.add_node(Node::Number(value))
    }

    /// A variable.
    pub fn variable(&mut self, index: usize) -> NodeId {
        self.add_node(Node::Variable(index))
    }

    /// a + b.
    pub fn add(&mut self, a: NodeId, b: NodeId) -> NodeId {
        match (self.constant(a), self.constant(b)) {
            (Some(0.0), _) => b,
            (_, Some(0.0)) => a,
            _ if a == b => {
                let two = self.number(2.0);
                self.multiply(two, a)
            }
            _ => self.add_node(Node::Add(a.min(b), a.max(b))),
        }
    }

    /// -x.
    pub fn negate(&mut self, x: NodeId) -> NodeId {
        let minus = self.number(-1.0);
        self.multiply(minus, x)
    }

    /// a - b.
    pub fn subtract(&mut self, a: NodeId, b: NodeId) -> NodeId {
        let minus = self.negate(b);
        self.add(a, minus)
    }

    /// a b. Powers of one base are joined, constants move to the front.
    pub fn multiply(&mut self, a: NodeId, b: NodeId) -> NodeId {
        match (self.constant(a), self.constant(b)) {
            (Some(1.0), _) => return b,
            (_, Some(1.0)) => return a,
            (Some(0.0), None) => return a,
            (None, Some(0.0)) => return b,
            (None, Some(_)) => return self.multiply(b, a),
            _ => {}
        }
        if let (Some(factor), Node::Multiply(c, rest)) = (self.constant(a), self.node(b))
            && let Some(other) = self.constant(c)
        {
            let both = self.number(factor * other);
            return self.multiply(both, rest);
        }
        if self.constant(a).is_none() {
            // constants move out of products
            for (x, y) in [(a, b), (b, a)] {
                if let Node::Multiply(c, rest) = self.node(x)
                    && self.constant(c).is_some()
                {
                    let product = self.multiply(rest, y);
                    return self.multiply(c, product);
                }
            }
            let ((base, power), (other, other_power)) = (self.as_power(a), self.as_power(b));
            if base == other && power + other_power <= MAX_POWER {
                return self.power(base, power + other_power);
            }
        }
        self.add_node(Node::Multiply(a.min(b), a.max(b)))
    }

    fn as_power(&self, id: NodeId) -> (NodeId, i32) {
        match self.node(id) {
            Node::Power(base, exponent) => (base, exponent),
            _ => (id, 1),
        }
    }

    /// 1 / x.
    pub fn inverse(&mut self, x: NodeId) -> NodeId {
        if let Some(&known) = self.inverses.get(&x) {
            return known;
        }
        let inverse = self.new_inverse(x);
        self.inverses.insert(x, inverse);
        inverse
    }

    fn new_inverse(&mut self, x: NodeId) -> NodeId {
        match self.node(x) {
            Node::Inverse(inner) => inner,
            Node::Power(base, exponent) => {
                let inverse = self.inverse(base);
                self.power(inverse, exponent)
            }
            Node::Multiply(a, b) => {
                let (a, b) = (self.inverse(a), self.inverse(b));
                self.multiply(a, b)
            }
            _ => self.add_node(Node::Inverse(x)),
        }
    }

    /// a / b.
    pub fn divide(&mut self, a: NodeId, b: NodeId) -> NodeId {
        let inverse = self.inverse(b);
        self.multiply(a, inverse)
    }

    /// A whole power.
    pub fn power(&mut self, x: NodeId, exponent: i32) -> NodeId {
        if exponent.unsigned_abs() > MAX_POWER.unsigned_abs() {
            let exponent = self.number(f64::from(exponent));
            return self.add_node(Node::RealPower(x, exponent));
        }
        if let Some(&known) = self.powers.get(&(x, exponent)) {
            return known;
        }
        let power = self.new_power(x, exponent);
        self.powers.insert((x, exponent), power);
        power
    }

    fn new_power(&mut self, x: NodeId, exponent: i32) -> NodeId {
        match (self.node(x), exponent) {
            (_, 0) => self.number(1.0),
            (_, 1) => x,
            (_, _) if exponent < 0 => {
                let inverse = self.inverse(x);
                self.power(inverse, -exponent)
            }
            (Node::Number(value), _) => self.number(value.powi(exponent)),
            (Node::Power(base, inner), _) if inner.saturating_mul(exponent) <= MAX_POWER => {
                self.power(base, inner * exponent)
            }
            (Node::Multiply(a, b), _) => {
                let (a, b) = (self.power(a, exponent), self.power(b, exponent));
                self.multiply(a, b)
            }
            (Node::Inverse(root), _) if exponent % 2 == 0 => match self.square_of_root(root) {
                Some(square) => {
                    let inverse = self.inverse(square);
                    self.power(inverse, exponent / 2)
                }
                None => self.add_node(Node::Power(x, exponent)),
            },
            _ => match self.square_of_root(x) {
                Some(square) if exponent % 2 == 0 => self.power(square, exponent / 2),
                _ => self.add_node(Node::Power(x, exponent)),
            },
        }
    }

    /// The variable whose root the node is. Variables under roots are squares, not negative.
    fn square_of_root(&self, id: NodeId) -> Option<NodeId> {
        match self.node(id) {
            Node::Apply(Function::Sqrt, square) if matches!(self.node(square), Node::Variable(_)) => {
                Some(square)
            }
            _ => None,
        }
    }

    /// Any power; a whole constant exponent becomes multiplications.
    pub fn real_power(&mut self, base: NodeId, exponent: NodeId) -> NodeId {
        match self.constant(exponent) {
            Some(whole) if whole.fract() == 0.0 && whole.abs() <= f64::from(MAX_POWER) => {
                self.power(base, whole as i32)
            }
            Some(0.5) => self.apply(Function::Sqrt, base),
            _ => self.add_node(Node::RealPower(base, exponent)),
        }
    }

    /// The smaller one.
    pub fn minimum(&mut self, a: NodeId, b: NodeId) -> NodeId {
        self.add_node(Node::Minimum(a, b))
    }

    /// The larger one.
    pub fn maximum(&mut self, a: NodeId, b: NodeId) -> NodeId {
        self.add_node(Node::Maximum(a, b))
    }

    /// A function.
    pub fn apply(&mut self, function: Function, x: NodeId) -> NodeId {
        self.add_node(Node::Apply(function, x))
    }

    /// Copies a node of another graph with these expressions in place of its variables.
    pub fn substitute(&mut self, other: &Graph, id: NodeId, variables: &[NodeId]) -> NodeId {
        let mut copies: Vec<NodeId> = Vec::new();
        for node in other.nodes.iter().take(id + 1) {
            let at = |id: NodeId| copies.get(id).copied().unwrap_or(0);
            let copy = match *node {
                Node::Number(value) => self.number(value),
                Node::Variable(index) => variables.get(index).copied().unwrap_or(0),
                Node::Add(a, b) => self.add(at(a), at(b)),
                Node::Multiply(a, b) => self.multiply(at(a), at(b)),
                Node::Inverse(x) => self.inverse(at(x)),
                Node::Power(x, exponent) => self.power(at(x), exponent),
                Node::RealPower(a, b) => self.real_power(at(a), at(b)),
                Node::Minimum(a, b) => self.minimum(at(a), at(b)),
                Node::Maximum(a, b) => self.maximum(at(a), at(b)),
                Node::Apply(function, x) => self.apply(function, at(x)),
            };
            copies.push(copy);
        }
        copies.pop().unwrap_or(0)
    }

    /// Values of nodes at a point. `values` is scratch.
    pub fn evaluate<const N: usize>(
        &self,
        ids: [NodeId; N],
        variables: &[f64],
        values: &mut Vec<f64>,
    ) -> [f64; N] {
        values.clear();
        let last = ids.iter().copied().max().unwrap_or(0);
        for node in self.nodes.iter().take(last + 1) {
            let value = node.evaluate(|id| values.get(id).copied().unwrap_or(f64::NAN), variables);
            values.push(value);
        }
        ids.map(|id| values.get(id).copied().unwrap_or(f64::NAN))
    }

    /// Whether a node depends on a variable.
    pub fn depends_on(&self, id: NodeId, variable: usize) -> bool {
        let mut found: Vec<bool> = Vec::new();
        for node in self.nodes.iter().take(id + 1) {
            let own = matches!(node, Node::Variable(index) if *index == variable);
            let inherited = node.arguments().any(|id| found.get(id).copied().unwrap_or(false));
            found.push(own || inherited);
        }
        found.pop().unwrap_or(false)
    }
}
