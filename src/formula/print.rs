//! Prints a formula as C++.

use super::Formula;
use super::node::{Function, Node, NodeId};
use std::collections::BTreeMap;
use std::fmt::Write;

impl Formula {
    /// C++ statements that evaluate the formula, of type Real: `square` is the squared distance, `parameters`
    /// are the C++ expressions of the parameters, `literal` prints a number. Returns the statements and the
    /// names of V and dV/d(r^2).
    pub fn printed(
        &self,
        square: &str,
        parameters: &[String],
        literal: fn(f64) -> String,
    ) -> (String, [String; 2]) {
        let mut printer =
            Printer { formula: self, names: BTreeMap::new(), powers: BTreeMap::new(), body: String::new() };
        let mut needed = vec![false; self.graph.nodes().len()];
        for k in (0..needed.len()).rev() {
            if k == self.energy || k == self.slope || needed.get(k) == Some(&true) {
                let arguments = self.graph.nodes().get(k).into_iter().flat_map(Node::arguments);
                needed.get_mut(k).into_iter().for_each(|needed| *needed = true);
                for argument in arguments {
                    needed.get_mut(argument).into_iter().for_each(|needed| *needed = true);
                }
            }
        }
        for (id, node) in
            self.graph.nodes().iter().enumerate().filter(|(id, _)| needed.get(*id) == Some(&true))
        {
            let name = match *node {
                Node::Number(value) => literal(value),
                Node::Variable(0) => square.to_string(),
                Node::Variable(index) => parameters.get(index - 1).cloned().unwrap_or_default(),
                Node::Power(x, exponent) => printer.power(x, exponent),
                _ => printer.statement(&printer.operation(node)),
            };
            printer.names.insert(id, name);
        }
        let ends = [self.energy, self.slope].map(|id| printer.name(id));
        (printer.body, ends)
    }
}

struct Printer<'a> {
    formula: &'a Formula,
    /// C++ expression of every node printed so far.
    names: BTreeMap<NodeId, String>,
    /// Names of whole powers of a node.
    powers: BTreeMap<(NodeId, i32), String>,
    body: String,
}

impl Printer<'_> {
    fn name(&self, id: NodeId) -> String {
        self.names.get(&id).cloned().unwrap_or_default()
    }

    fn statement(&mut self, value: &str) -> String {
        let name = format!("x{}", self.body.lines().count());
        let _ = writeln!(self.body, "    const Real {name} = {value};");
        name
    }

    /// A power by multiplications; powers of one base share them.
    fn power(&mut self, x: NodeId, exponent: i32) -> String {
        if exponent == 1 {
            return self.name(x);
        }
        if let Some(name) = self.powers.get(&(x, exponent)) {
            return name.clone();
        }
        let (half, rest) = (exponent / 2, exponent - exponent / 2);
        let (a, b) = (self.power(x, half), self.power(x, rest));
        let name = self.statement(&format!("{a} * {b}"));
        self.powers.insert((x, exponent), name.clone());
        name
    }

    fn operation(&self, node: &Node) -> String {
        let of = |id: NodeId| self.name(id);
        match *node {
            Node::Add(a, b) => format!("{} + {}", of(a), of(b)),
            Node::Multiply(a, b) => format!("{} * {}", of(a), of(b)),
            Node::Inverse(x) => match self.formula.graph.nodes().get(x) {
                Some(Node::Apply(Function::Sqrt, square)) => format!("reciprocal_root({})", of(*square)),
                _ => format!("reciprocal({})", of(x)),
            },
            Node::RealPower(a, b) => format!("pow({}, {})", of(a), of(b)),
            Node::Minimum(a, b) => format!("min({}, {})", of(a), of(b)),
            Node::Maximum(a, b) => format!("max({}, {})", of(a), of(b)),
            Node::Apply(function, x) => match function {
                Function::Sqrt => format!("sqrt({})", of(x)),
                Function::Exp => format!("exp({})", of(x)),
                Function::Ln => format!("log({})", of(x)),
                Function::Sin => format!("sin({})", of(x)),
                Function::Cos => format!("cos({})", of(x)),
                Function::Tanh => format!("tanh({})", of(x)),
                Function::Erf => format!("erf({})", of(x)),
                Function::Erfc => format!("erfc({})", of(x)),
                Function::Abs => format!("abs({})", of(x)),
                Function::Step => format!("({} >= Real(0) ? Real(1) : Real(0))", of(x)),
            },
            Node::Number(_) | Node::Variable(_) | Node::Power(..) => String::new(),
        }
    }
}
