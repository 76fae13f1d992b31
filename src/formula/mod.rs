//! Formulas of pair energies, as decks write them: parsed, differentiated and evaluated.
//!
//! A formula is an expression of the distance `r` and named parameters, with definitions after semicolons:
//! `4*epsilon*(x^12 - x^6); x = sigma/r`. It has no loops, and its length and nesting are bounded.

mod derivative;
mod graph;
mod node;
mod parse;
mod print;
mod tokens;

pub use node::Function;
pub use tokens::FormulaMistake;

use graph::Graph;
use node::NodeId;

/// Name of the distance in a formula.
pub const DISTANCE: &str = "r";

/// An expression of the squared distance (variable 0) and parameters (the following variables).
#[derive(Clone, Debug)]
pub struct Formula {
    graph: Graph,
    /// V.
    energy: NodeId,
    /// dV / d(r^2).
    slope: NodeId,
    parameters: Vec<String>,
}

impl Formula {
    /// Parses a formula of `r` and these parameters, and differentiates it.
    ///
    /// # Errors
    /// The first mistake, with its position in the text.
    pub fn new(text: &str, parameters: &[String]) -> Result<Self, FormulaMistake> {
        let names: Vec<String> =
            std::iter::once(DISTANCE.to_string()).chain(parameters.iter().cloned()).collect();
        let (parsed, node) = parse::parse(text, &names)?;
        let mut graph = Graph::default();
        // r becomes the root of variable 0: even powers need no root then
        let variables: Vec<NodeId> = (0..names.len()).map(|k| graph.variable(k)).collect();
        let mut values = variables.clone();
        if let (Some(value), Some(&square)) = (values.first_mut(), variables.first()) {
            *value = graph.apply(Function::Sqrt, square);
        }
        let energy = graph.substitute(&parsed, node, &values);
        Self::differentiated(graph, energy, parameters.to_vec(), text)
    }

    fn differentiated(
        mut graph: Graph,
        energy: NodeId,
        parameters: Vec<String>,
        text: &str,
    ) -> Result<Self, FormulaMistake> {
        let slope = graph.derivative(energy, 0);
        if graph.overflowed() {
            let help = "shorten it, or write it as [interaction.table]";
            let message = "the formula's derivative is too long";
            return Err(FormulaMistake { span: 0..text.len(), message: message.into(), help: help.into() });
        }
        Ok(Formula { graph, energy, slope, parameters })
    }

    /// An expression without a value.
    pub fn not_a_number() -> Self {
        let mut graph = Graph::default();
        let nothing = graph.number(f64::NAN);
        Formula { graph, energy: nothing, slope: nothing, parameters: Vec::new() }
    }

    /// The constant 1.
    pub fn one() -> Self {
        let mut graph = Graph::default();
        let one = graph.number(1.0);
        Self::or_nan(graph, one, Vec::new())
    }

    /// The formula with these numbers in place of the first parameters.
    pub fn bound(&self, values: &[f64]) -> Self {
        let mut graph = Graph::default();
        let mut variables = vec![graph.variable(0)];
        let mut unbound = Vec::new();
        for (k, name) in self.parameters.iter().enumerate() {
            variables.push(match values.get(k) {
                Some(value) => graph.number(*value),
                _ => {
                    unbound.push(name.clone());
                    graph.variable(unbound.len())
                }
            });
        }
        let energy = graph.substitute(&self.graph, self.energy, &variables);
        Self::or_nan(graph, energy, unbound)
    }

    /// V(r) - V(cutoff).
    pub fn shifted(&self, cutoff: f64) -> Self {
        let (mut graph, mut variables) = self.new_graph();
        let energy = graph.substitute(&self.graph, self.energy, &variables);
        if let Some(square) = variables.first_mut() {
            *square = graph.number(cutoff * cutoff);
        }
        let end = graph.substitute(&self.graph, self.energy, &variables);
        let difference = graph.subtract(energy, end);
        Self::or_nan(graph, difference, self.parameters.clone())
    }

    /// V(r) times 1 - 10 x^3 + 15 x^4 - 6 x^5, x from 0 at `start` to 1 at `cutoff`: continuous with its
    /// first two derivatives.
    pub fn switched(&self, start: f64, cutoff: f64) -> Self {
        let (mut graph, variables) = self.new_graph();
        let energy = graph.substitute(&self.graph, self.energy, &variables);
        let square = variables.first().copied().unwrap_or(0);
        let distance = graph.apply(Function::Sqrt, square);
        let [minus_start, inverse, zero] = [-start, 1.0 / (cutoff - start), 0.0].map(|x| graph.number(x));
        let beyond = graph.add(distance, minus_start);
        let positive = graph.maximum(beyond, zero);
        let x = graph.multiply(inverse, positive);
        // Horner's scheme
        let [six, fifteen, ten, one] = [-6.0, 15.0, -10.0, 1.0].map(|x| graph.number(x));
        let mut sum = graph.multiply(six, x);
        sum = graph.add(sum, fifteen);
        sum = graph.multiply(sum, x);
        sum = graph.add(sum, ten);
        let cube = graph.power(x, 3);
        sum = graph.multiply(sum, cube);
        let factor = graph.add(sum, one);
        let product = graph.multiply(energy, factor);
        Self::or_nan(graph, product, self.parameters.clone())
    }

    /// An empty graph and its variables.
    fn new_graph(&self) -> (Graph, Vec<NodeId>) {
        let mut graph = Graph::default();
        let variables = (0..=self.parameters.len()).map(|k| graph.variable(k)).collect();
        (graph, variables)
    }

    fn or_nan(graph: Graph, energy: NodeId, parameters: Vec<String>) -> Self {
        Self::differentiated(graph, energy, parameters, "").unwrap_or_else(|_| Self::not_a_number())
    }

    /// The parameters' names, in the order of their values.
    pub fn parameters(&self) -> &[String] {
        &self.parameters
    }

    /// Whether the formula uses a parameter.
    pub fn uses(&self, parameter: usize) -> bool {
        self.graph.depends_on(self.energy, parameter + 1)
    }

    /// Returns V and dV/d(r^2) at a squared distance for the values of the parameters. `scratch` is memory to
    /// reuse; `variables` are the squared distance and the parameters.
    pub fn evaluate(&self, variables: &[f64], scratch: &mut Vec<f64>) -> [f64; 2] {
        self.graph.evaluate([self.energy, self.slope], variables, scratch)
    }
}

/// Whether a name is that of a function.
pub fn is_function(name: &str) -> bool {
    parse::is_function(name)
}

#[cfg(test)]
mod tests;
