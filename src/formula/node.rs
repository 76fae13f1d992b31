//! Operations of a formula's graph.

/// Index of a node in its graph.
pub type NodeId = usize;

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
    pub fn evaluate(&self, at: impl Fn(NodeId) -> f64, variables: &[f64]) -> f64 {
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
    pub fn key(&self) -> (u8, u64, u64) {
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
