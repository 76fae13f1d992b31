//! Derivatives of a formula's graph, by the rules of differentiation node by node.

use super::graph::Graph;
use super::node::{Function, Node, NodeId};
use std::f64::consts::PI;

impl Graph {
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
}
