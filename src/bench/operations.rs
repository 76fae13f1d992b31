//! Counts the floating-point operations of a law per pair, by evaluating it on numbers that record an
//! expression graph.
//!
//! Additions, subtractions, multiplications, divisions, square roots, minima and maxima count one operation,
//! fused multiply-adds two. Comparisons, selections, signs and exponent manipulation count zero. As in a
//! compiler, common subexpressions count once, values that depend only on parameters or on particle i are
//! hoisted out of the loop over j, and dead code does not count.

use crate::pair::PairLaw;
use crate::pair::language::{Columns, Parity, Real, Vec3};
use crate::simd::piecewise::{Piecewise, horner};
use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::{Add, BitAnd, BitOr, Div, Mul, Neg, Sub};

/// An operation of the expression graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Operation {
    /// A parameter or a literal, by its bits.
    Literal(u64),
    /// Input number `.1` of particle i (0), particle j (1) or the pair (2).
    Input(u8, usize),
    Add,
    Subtract,
    Multiply,
    Divide,
    Negate,
    MultiplyAdd,
    SquareRoot,
    Magnitude,
    Minimum,
    Maximum,
    Reciprocal,
    Less,
    LessOrEqual,
    And,
    Or,
    Select,
    PowerOfTwo,
    Exponent,
    Mantissa,
    Round,
}

impl Operation {
    fn cost(self) -> u64 {
        use Operation::*;
        match self {
            Add | Subtract | Multiply | Divide | SquareRoot | Minimum | Maximum | Reciprocal => 1,
            MultiplyAdd => 2,
            Literal(_) | Input(..) | Negate | Magnitude | Less | LessOrEqual | And | Or | Select
            | PowerOfTwo | Exponent | Mantissa | Round => 0,
        }
    }
}

/// A node of the expression graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Node {
    operation: Operation,
    of: [u32; 3],
}

/// The expression graph: all nodes in order of creation, and the index of each.
#[derive(Default)]
struct Graph {
    nodes: Vec<Node>,
    places: HashMap<Node, u32>,
}

thread_local! {
    static GRAPH: RefCell<Graph> = RefCell::default();
}

/// Marks an unused operand.
const NONE: u32 = u32::MAX;

/// Adds a node to the graph, or finds an equal one, and returns its index.
fn add_node(operation: Operation, of: [u32; 3]) -> u32 {
    GRAPH.with_borrow_mut(|graph| {
        let node = Node { operation, of };
        let next = graph.nodes.len() as u32;
        let place = *graph.places.entry(node).or_insert(next);
        if place == next {
            graph.nodes.push(node);
        }
        place
    })
}

/// A number that records operations.
#[derive(Clone, Copy, Debug)]
struct Recorded<const SINGLE: bool>(u32);

/// A mask that records operations.
#[derive(Clone, Copy, Debug)]
struct RecordedMask(u32);

impl<const SINGLE: bool> Recorded<SINGLE> {
    fn input(of: u8, place: usize) -> Self {
        Recorded(add_node(Operation::Input(of, place), [NONE; 3]))
    }
    fn one(self, operation: Operation) -> Self {
        Recorded(add_node(operation, [self.0, NONE, NONE]))
    }
    fn two(self, operation: Operation, other: Self) -> Self {
        Recorded(add_node(operation, [self.0, other.0, NONE]))
    }
}

macro_rules! binary {
    ($($operator:ident $function:ident $operation:ident;)*) => { $(
        impl<const SINGLE: bool> $operator for Recorded<SINGLE> {
            type Output = Self;
            fn $function(self, other: Self) -> Self {
                self.two(Operation::$operation, other)
            }
        }
    )* };
}
binary! { Add add Add; Sub sub Subtract; Mul mul Multiply; Div div Divide; }

impl<const SINGLE: bool> Neg for Recorded<SINGLE> {
    type Output = Self;
    fn neg(self) -> Self {
        self.one(Operation::Negate)
    }
}

impl BitAnd for RecordedMask {
    type Output = Self;
    fn bitand(self, other: Self) -> Self {
        RecordedMask(add_node(Operation::And, [self.0, other.0, NONE]))
    }
}

impl BitOr for RecordedMask {
    type Output = Self;
    fn bitor(self, other: Self) -> Self {
        RecordedMask(add_node(Operation::Or, [self.0, other.0, NONE]))
    }
}

impl<const SINGLE: bool> Real for Recorded<SINGLE> {
    type Token = ();
    type Mask = RecordedMask;
    const SINGLE: bool = SINGLE;

    fn literal((): (), value: f64) -> Self {
        Recorded(add_node(Operation::Literal(value.to_bits()), [NONE; 3]))
    }
    fn token(self) {}
    fn sqrt(self) -> Self {
        self.one(Operation::SquareRoot)
    }
    fn abs(self) -> Self {
        self.one(Operation::Magnitude)
    }
    fn min(self, other: Self) -> Self {
        self.two(Operation::Minimum, other)
    }
    fn max(self, other: Self) -> Self {
        self.two(Operation::Maximum, other)
    }
    fn mul_add(self, factor: Self, term: Self) -> Self {
        Recorded(add_node(Operation::MultiplyAdd, [self.0, factor.0, term.0]))
    }
    fn reciprocal(self) -> Self {
        self.one(Operation::Reciprocal)
    }
    fn reciprocal_root(self) -> Self {
        self.sqrt().reciprocal()
    }
    fn less(self, other: Self) -> RecordedMask {
        RecordedMask(self.two(Operation::Less, other).0)
    }
    fn less_or_equal(self, other: Self) -> RecordedMask {
        RecordedMask(self.two(Operation::LessOrEqual, other).0)
    }
    fn select(mask: RecordedMask, yes: Self, no: Self) -> Self {
        Recorded(add_node(Operation::Select, [mask.0, yes.0, no.0]))
    }
    fn power_of_two(self) -> Self {
        self.one(Operation::PowerOfTwo)
    }
    fn split_exponent(self) -> (Self, Self) {
        (self.one(Operation::Exponent), self.one(Operation::Mantissa))
    }
    fn round(self) -> Self {
        self.one(Operation::Round)
    }
    /// Counts Horner's scheme, and the mantissa; loads are no operations.
    fn piecewise(self, _: Option<Self>, _: &Piecewise) -> [Self; 2] {
        let place = self.one(Operation::Mantissa);
        let coefficient = |power: usize| Self::input(2, FIRST_COEFFICIENT + power);
        match SINGLE {
            true => horner::<Self, 4>(std::array::from_fn(coefficient), place),
            false => horner::<Self, 8>(std::array::from_fn(coefficient), place),
        }
    }
}

/// Place of the first coefficient of a polynomial among the inputs of a pair: they follow x, y, z and r2.
const FIRST_COEFFICIENT: usize = 4;

impl Graph {
    /// Counts the operations needed for these nodes that depend on particle j or on the pair.
    fn cost_of(&self, wanted: &[u32]) -> u64 {
        // Operands precede their results.
        let mut varies = vec![false; self.nodes.len()];
        for (place, node) in self.nodes.iter().enumerate() {
            varies[place] = match node.operation {
                Operation::Input(of, _) => of > 0,
                _ => node.of.iter().any(|&of| of != NONE && varies[of as usize]),
            };
        }
        let mut needed = vec![false; self.nodes.len()];
        wanted.iter().for_each(|&place| needed[place as usize] = true);
        let mut operations = 0;
        for (place, node) in self.nodes.iter().enumerate().rev().filter(|(place, _)| varies[*place]) {
            if needed[place] {
                operations += node.operation.cost();
                node.of.iter().filter(|&&of| of != NONE).for_each(|&of| needed[of as usize] = true);
            }
        }
        operations
    }
}

/// Operations for the distance of a pair: three differences, three squares, two sums.
const DISTANCE: u64 = 8;

/// Returns the operations per pair in range, with the polynomials of single or double precision: distance,
/// law and sums. On a half list a pair serves both particles; sums without symmetry are evaluated for both.
pub fn per_pair<L: PairLaw>(law: &L, single: bool, half: bool) -> u64 {
    if single { count::<L, true>(law, half) } else { count::<L, false>(law, half) }
}

fn count<L: PairLaw, const SINGLE: bool>(law: &L, half: bool) -> u64 {
    GRAPH.take();
    let parameters = law.parameters::<Recorded<SINGLE>>(());
    let input = |of: u8| L::Prepared::<Recorded<SINGLE>>::from_columns(|place| Recorded::input(of, place));
    let (i, j) = (input(0), input(1));
    let [x, y, z, r2] = [0, 1, 2, 3].map(|place| Recorded::<SINGLE>::input(2, place));
    let places = |sums: L::Sums<Recorded<SINGLE>>| -> Vec<u32> {
        sums.to_columns().as_ref().iter().map(|number| number.0).collect()
    };
    let mut wanted = places(L::interact((), parameters, i, j, Vec3 { x, y, z }, r2));
    let sums = wanted.len() as u64 * if half { 2 } else { 1 };
    if half {
        let other = places(L::interact((), parameters, j, i, Vec3 { x: -x, y: -y, z: -z }, r2));
        let neither = other.iter().zip(L::SUMS).filter(|(_, sum)| sum.parity == Parity::Neither);
        wanted.extend(neither.map(|(place, _)| *place));
    }
    GRAPH.with_borrow(|graph| DISTANCE + graph.cost_of(&wanted) + sums)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::laws::{coulomb, density, gradients, lennard_jones, momentum_energy_volume};
    use crate::pair::{Energies, Forces, Kernel};

    #[test]
    fn lennard_jones_is_counted_by_hand() {
        let law = lennard_jones::Law::truncated(1.0, 1.0);
        let all = per_pair(&law, true, false);
        let force = per_pair(&Forces(law), true, false);
        let energy = per_pair(&Energies(law), true, false);
        // Distance, 1 / r^2, s^2, s^6 (two products), virial (three), force (four), three sums.
        assert_eq!(force, 8 + 1 + 1 + 2 + 3 + 4 + 3);
        // Energy (four), virial (three), two sums.
        assert_eq!(energy, 8 + 1 + 1 + 2 + 4 + 3 + 2);
        assert_eq!(all, 8 + 1 + 1 + 2 + 4 + 3 + 4 + 5);
        // A half list accumulates to both particles and evaluates once.
        assert_eq!(per_pair(&Forces(law), true, true), force + 3);
    }

    #[test]
    fn what_depends_on_i_alone_or_on_parameters_is_done_before() {
        let weak = per_pair(&coulomb::Law::plain(1.0), false, false);
        let product = cost_of_product();
        assert_eq!(product, 1, "i * i * j is one product a pair");
        assert!((15..40).contains(&weak), "{weak}");
    }

    fn cost_of_product() -> u64 {
        GRAPH.take();
        let (i, j) = (Recorded::<true>::input(0, 0), Recorded::<true>::input(1, 0));
        let unused = j + j;
        let wanted = i * i * j;
        let same = i * i * j;
        assert_eq!(wanted.0, same.0);
        assert_ne!(wanted.0, unused.0);
        GRAPH.with_borrow(|graph| graph.cost_of(&[wanted.0]))
    }

    #[test]
    fn heavier_laws_count_more_and_both_sides_more_than_one() {
        let kernel = Kernel::named("sinc-6").unwrap();
        let density = per_pair(&density::Law { kernel }, true, false);
        let gradients = per_pair(&gradients::Law::new(kernel), true, false);
        let momentum = momentum_energy_volume::Law {
            kernel,
            beta: 2.0,
            conductivity: 0.0,
            switched_conductivity: 0.0,
            crossing_start: 0.1,
            crossing_slope: 10.0,
        };
        let full = per_pair(&momentum, true, false);
        let half = per_pair(&momentum, true, true);
        assert!(density < gradients && gradients < full, "{density} {gradients} {full}");
        assert!(half > full && half < 2 * full, "{full} {half}");
        assert!(per_pair(&momentum, false, false) >= full);
    }
}
