//! Expressions as a graph of shared nodes: equal subexpressions are one node, and constants are folded.

use std::collections::HashMap;
use std::f64::consts::PI;

/// Index of a node in its graph.
pub type NodeId = usize;

/// Largest number of nodes; a potential has some tens.
pub const MAX_NODES: usize = 20_000;
/// Largest magnitude of a whole exponent that becomes multiplications.
const MAX_POWER: i32 = 64;

/// A function of one argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Function {
    /// Square root.
    Sqrt,
    /// Exponential.
    Exp,
    /// Natural logarithm.
    Ln,
    /// Sine.
    Sin,
    /// Cosine.
    Cos,
    /// Hyperbolic tangent.
    Tanh,
    /// Error function.
    Erf,
    /// Complementary error function.
    Erfc,
    /// Absolute value.
    Abs,
    /// 0 below 0, 1 from 0 on.
    Step,
}

impl Function {
    /// Names in a formula.
    pub const NAMES: &[(&str, Self)] = &[
        ("sqrt", Self::Sqrt),
        ("exp", Self::Exp),
        ("ln", Self::Ln),
        ("log", Self::Ln),
        ("sin", Self::Sin),
        ("cos", Self::Cos),
        ("tanh", Self::Tanh),
        ("erf", Self::Erf),
        ("erfc", Self::Erfc),
        ("abs", Self::Abs),
        ("step", Self::Step),
    ];

    /// Value at x.
    pub fn evaluate(self, x: f64) -> f64 {
        match self {
            Self::Sqrt => x.sqrt(),
            Self::Exp => x.exp(),
            Self::Ln => x.ln(),
            Self::Sin => x.sin(),
            Self::Cos => x.cos(),
            Self::Tanh => x.tanh(),
            Self::Erf => libm::erf(x),
            Self::Erfc => libm::erfc(x),
            Self::Abs => x.abs(),
            Self::Step => f64::from(u8::from(x >= 0.0)),
        }
    }
}

/// An operation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Node {
    /// A number.
    Number(f64),
    /// A variable, by its index.
    Variable(usize),
    /// Sum.
    Add(NodeId, NodeId),
    /// Product.
    Multiply(NodeId, NodeId),
    /// 1 / x.
    Inverse(NodeId),
    /// Whole power, at least 2.
    Power(NodeId, i32),
    /// Any other power.
    RealPower(NodeId, NodeId),
    /// The smaller one.
    Minimum(NodeId, NodeId),
    /// The larger one.
    Maximum(NodeId, NodeId),
    /// A function.
    Apply(Function, NodeId),
}

impl Node {
    /// Arguments, up to two.
    pub fn arguments(&self) -> impl Iterator<Item = NodeId> {
        let both = match *self {
            Node::Number(_) | Node::Variable(_) => [None, None],
            Node::Inverse(x) | Node::Power(x, _) | Node::Apply(_, x) => [Some(x), None],
            Node::Add(a, b)
            | Node::Multiply(a, b)
            | Node::RealPower(a, b)
            | Node::Minimum(a, b)
            | Node::Maximum(a, b) => [Some(a), Some(b)],
        };
        both.into_iter().flatten()
    }

    /// Value, given those of its arguments and of the variables.
    fn evaluate(&self, at: impl Fn(NodeId) -> f64, variables: &[f64]) -> f64 {
        match *self {
            Node::Number(value) => value,
            Node::Variable(index) => variables.get(index).copied().unwrap_or(f64::NAN),
            Node::Add(a, b) => at(a) + at(b),
            Node::Multiply(a, b) => at(a) * at(b),
            Node::Inverse(x) => 1.0 / at(x),
            Node::Power(x, exponent) => at(x).powi(exponent),
            Node::RealPower(a, b) => at(a).powf(at(b)),
            Node::Minimum(a, b) => {
                if at(b) < at(a) {
                    at(b)
                } else {
                    at(a)
                }
            }
            Node::Maximum(a, b) => {
                if at(b) > at(a) {
                    at(b)
                } else {
                    at(a)
                }
            }
            Node::Apply(function, x) => function.evaluate(at(x)),
        }
    }

    /// Hashable form.
    fn key(&self) -> (u8, u64, u64) {
        match *self {
            Node::Number(value) => (0, value.to_bits(), 0),
            Node::Variable(index) => (1, index as u64, 0),
            Node::Add(a, b) => (2, a as u64, b as u64),
            Node::Multiply(a, b) => (3, a as u64, b as u64),
            Node::Inverse(x) => (4, x as u64, 0),
            Node::Power(x, exponent) => (5, x as u64, exponent as u64),
            Node::RealPower(a, b) => (6, a as u64, b as u64),
            Node::Minimum(a, b) => (7, a as u64, b as u64),
            Node::Maximum(a, b) => (8, a as u64, b as u64),
            Node::Apply(function, x) => (9 + function as u8, x as u64, 0),
        }
    }
}

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

    fn node(&self, id: NodeId) -> Node {
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

    /// The derivative of a node with respect to a variable.
    pub fn derivative(&mut self, id: NodeId, variable: usize) -> NodeId {
        let mut known: Vec<NodeId> = Vec::new();
        for k in 0..=id {
            let derivative = self.derivative_of(k, variable, &known);
            known.push(derivative);
        }
        known.pop().unwrap_or(0)
    }

    /// The derivative of a node, given those of all nodes before it.
    fn derivative_of(&mut self, id: NodeId, variable: usize, known: &[NodeId]) -> NodeId {
        let of = |id: NodeId| known.get(id).copied().unwrap_or(0);
        match self.node(id) {
            Node::Number(_) => self.number(0.0),
            Node::Variable(index) => self.number(f64::from(u8::from(index == variable))),
            Node::Add(a, b) => self.add(of(a), of(b)),
            Node::Multiply(a, b) => {
                let (left, right) = (self.multiply(of(a), b), self.multiply(a, of(b)));
                self.add(left, right)
            }
            Node::Inverse(x) => {
                let square = self.power(id, 2);
                let product = self.multiply(square, of(x));
                self.negate(product)
            }
            Node::Power(x, exponent) => {
                let (factor, lower) = (self.number(f64::from(exponent)), self.power(x, exponent - 1));
                let outer = self.multiply(factor, lower);
                self.multiply(outer, of(x))
            }
            Node::RealPower(a, b) => {
                if let Some(exponent) = self.constant(b) {
                    // also where x = 0
                    let (factor, lower) = (self.number(exponent), self.number(exponent - 1.0));
                    let power = self.real_power(a, lower);
                    let outer = self.multiply(factor, power);
                    return self.multiply(outer, of(a));
                }
                // x^y (y' ln x + y x' / x)
                let ratio = self.divide(of(a), a);
                let mut sum = self.multiply(b, ratio);
                if self.constant(of(b)) != Some(0.0) {
                    let logarithm = self.apply(Function::Ln, a);
                    let term = self.multiply(of(b), logarithm);
                    sum = self.add(sum, term);
                }
                self.multiply(id, sum)
            }
            Node::Minimum(a, b) => self.selected(b, a, of(a), of(b)),
            Node::Maximum(a, b) => self.selected(a, b, of(a), of(b)),
            Node::Apply(function, x) => {
                let outer = self.derivative_of_function(function, x, id);
                self.multiply(outer, of(x))
            }
        }
    }

    /// `yes` where larger >= smaller, else `no`.
    fn selected(&mut self, larger: NodeId, smaller: NodeId, yes: NodeId, no: NodeId) -> NodeId {
        let difference = self.subtract(larger, smaller);
        let share = self.apply(Function::Step, difference);
        let change = self.subtract(yes, no);
        let product = self.multiply(share, change);
        self.add(no, product)
    }

    /// f'(x); `id` is f(x).
    fn derivative_of_function(&mut self, function: Function, x: NodeId, id: NodeId) -> NodeId {
        match function {
            Function::Sqrt => {
                let (half, inverse) = (self.number(0.5), self.inverse(id));
                self.multiply(half, inverse)
            }
            Function::Exp => id,
            Function::Ln => self.inverse(x),
            Function::Sin => self.apply(Function::Cos, x),
            Function::Cos => {
                let sine = self.apply(Function::Sin, x);
                self.negate(sine)
            }
            Function::Tanh => {
                let (one, square) = (self.number(1.0), self.power(id, 2));
                self.subtract(one, square)
            }
            Function::Erf | Function::Erfc => {
                let sign = if function == Function::Erf { 1.0 } else { -1.0 };
                let (factor, square) = (self.number(sign * 2.0 / PI.sqrt()), self.power(x, 2));
                let exponent = self.negate(square);
                let bell = self.apply(Function::Exp, exponent);
                self.multiply(factor, bell)
            }
            Function::Abs => {
                let (one, two, step) = (self.number(1.0), self.number(2.0), self.apply(Function::Step, x));
                let twice = self.multiply(two, step);
                self.subtract(twice, one)
            }
            Function::Step => self.number(0.0),
        }
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
