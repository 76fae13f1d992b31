//! How many operations a law needs for a pair: its text is evaluated on numbers that note what is done with them.
//!
//! An addition, subtraction, multiplication, division, square root, minimum or maximum is one operation, a fused multiply-add two;
//! comparisons, selections, signs and the handling of exponents are none. What the same numbers have been through is done
//! once, what depends on the parameters or on one particle alone is done before the loop over j, and what nothing is stored of is
//! not done: as a compiler has it.

use crate::pair::PairLaw;
use crate::pair::language::{Columns, Parity, Real, Vec3};
use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::{Add, BitAnd, BitOr, Div, Mul, Neg, Sub};

/// What can be done with numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Operation {
    /// A parameter or a literal, by its bits.
    Literal(u64),
    /// An input of particle i (0), of particle j (1) or of the pair (2), by its place.
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

/// A number and how it came to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Node {
    operation: Operation,
    of: [u32; 3],
}

/// All numbers so far, and where each is.
#[derive(Default)]
struct Record {
    nodes: Vec<Node>,
    places: HashMap<Node, u32>,
}

thread_local! {
    static RECORD: RefCell<Record> = RefCell::default();
}

/// No number.
const NONE: u32 = u32::MAX;

/// The place of a number that came to be so.
fn note(operation: Operation, of: [u32; 3]) -> u32 {
    RECORD.with_borrow_mut(|record| {
        let node = Node { operation, of };
        let next = record.nodes.len() as u32;
        let place = *record.places.entry(node).or_insert(next);
        if place == next {
            record.nodes.push(node);
        }
        place
    })
}

/// A number that notes what is done with it.
#[derive(Clone, Copy, Debug)]
struct Noted<const SINGLE: bool>(u32);

/// A truth value that notes what is done with it.
#[derive(Clone, Copy, Debug)]
struct NotedMask(u32);

impl<const SINGLE: bool> Noted<SINGLE> {
    fn input(of: u8, place: usize) -> Self {
        Noted(note(Operation::Input(of, place), [NONE; 3]))
    }
    fn one(self, operation: Operation) -> Self {
        Noted(note(operation, [self.0, NONE, NONE]))
    }
    fn two(self, operation: Operation, other: Self) -> Self {
        Noted(note(operation, [self.0, other.0, NONE]))
    }
}

macro_rules! binary {
    ($($operator:ident $function:ident $operation:ident;)*) => { $(
        impl<const SINGLE: bool> $operator for Noted<SINGLE> {
            type Output = Self;
            fn $function(self, other: Self) -> Self {
                self.two(Operation::$operation, other)
            }
        }
    )* };
}
binary! { Add add Add; Sub sub Subtract; Mul mul Multiply; Div div Divide; }

impl<const SINGLE: bool> Neg for Noted<SINGLE> {
    type Output = Self;
    fn neg(self) -> Self {
        self.one(Operation::Negate)
    }
}

impl BitAnd for NotedMask {
    type Output = Self;
    fn bitand(self, other: Self) -> Self {
        NotedMask(note(Operation::And, [self.0, other.0, NONE]))
    }
}

impl BitOr for NotedMask {
    type Output = Self;
    fn bitor(self, other: Self) -> Self {
        NotedMask(note(Operation::Or, [self.0, other.0, NONE]))
    }
}

impl<const SINGLE: bool> Real for Noted<SINGLE> {
    type Token = ();
    type Mask = NotedMask;
    const SINGLE: bool = SINGLE;

    fn literal((): (), value: f64) -> Self {
        Noted(note(Operation::Literal(value.to_bits()), [NONE; 3]))
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
        Noted(note(Operation::MultiplyAdd, [self.0, factor.0, term.0]))
    }
    fn reciprocal(self) -> Self {
        self.one(Operation::Reciprocal)
    }
    fn reciprocal_root(self) -> Self {
        self.sqrt().reciprocal()
    }
    fn less(self, other: Self) -> NotedMask {
        NotedMask(self.two(Operation::Less, other).0)
    }
    fn less_or_equal(self, other: Self) -> NotedMask {
        NotedMask(self.two(Operation::LessOrEqual, other).0)
    }
    fn select(mask: NotedMask, yes: Self, no: Self) -> Self {
        Noted(note(Operation::Select, [mask.0, yes.0, no.0]))
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
}

impl Record {
    /// Operations behind these numbers that depend on particle j or on the pair.
    fn behind(&self, wanted: &[u32]) -> u64 {
        // what a number is made of stands before it
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

/// Operations for a pair in range, in the polynomials of single or double precision: distance, law, sums. On a half list a pair
/// serves both particles, what has no symmetry being evaluated for both.
pub fn per_pair<L: PairLaw>(law: &L, single: bool, half: bool) -> u64 {
    if single { count::<L, true>(law, half) } else { count::<L, false>(law, half) }
}

fn count<L: PairLaw, const SINGLE: bool>(law: &L, half: bool) -> u64 {
    RECORD.take();
    let parameters = law.parameters::<Noted<SINGLE>>(());
    let input = |of: u8| L::Prepared::<Noted<SINGLE>>::from_columns(|place| Noted::input(of, place));
    let (i, j) = (input(0), input(1));
    let [x, y, z, r2] = [0, 1, 2, 3].map(|place| Noted::<SINGLE>::input(2, place));
    let places = |sums: L::Sums<Noted<SINGLE>>| -> Vec<u32> {
        sums.to_columns().as_ref().iter().map(|number| number.0).collect()
    };
    let mut wanted = places(L::interact((), parameters, i, j, Vec3 { x, y, z }, r2));
    let sums = wanted.len() as u64 * if half { 2 } else { 1 };
    if half {
        let other = places(L::interact((), parameters, j, i, Vec3 { x: -x, y: -y, z: -z }, r2));
        let neither = other.iter().zip(L::SUMS).filter(|(_, sum)| sum.parity == Parity::Neither);
        wanted.extend(neither.map(|(place, _)| *place));
    }
    RECORD.with_borrow(|record| DISTANCE + record.behind(&wanted) + sums)
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
        // the distance, 1 / r^2, s^2, s^6 by two products, the virial by three, the force by four, three sums
        assert_eq!(force, 8 + 1 + 1 + 2 + 3 + 4 + 3);
        // energy by four and virial by three, two sums
        assert_eq!(energy, 8 + 1 + 1 + 2 + 4 + 3 + 2);
        assert_eq!(all, 8 + 1 + 1 + 2 + 4 + 3 + 4 + 5);
        // a half list adds to both particles and evaluates once
        assert_eq!(per_pair(&Forces(law), true, true), force + 3);
    }

    #[test]
    fn what_depends_on_i_alone_or_on_parameters_is_done_before() {
        let weak = per_pair(&coulomb::Law::plain(1.0), false, false);
        let product = note_product();
        assert_eq!(product, 1, "i * i * j is one product a pair");
        assert!((15..40).contains(&weak), "{weak}");
    }

    fn note_product() -> u64 {
        RECORD.take();
        let (i, j) = (Noted::<true>::input(0, 0), Noted::<true>::input(1, 0));
        let unused = j + j;
        let wanted = i * i * j;
        let same = i * i * j;
        assert_eq!(wanted.0, same.0);
        assert_ne!(wanted.0, unused.0);
        RECORD.with_borrow(|record| record.behind(&[wanted.0]))
    }

    #[test]
    fn heavier_laws_count_more_and_both_sides_more_than_one() {
        let kernel = Kernel::named("sinc-6").unwrap();
        let density = per_pair(&density::Law { kernel }, true, false);
        let gradients = per_pair(&gradients::Law { kernel }, true, false);
        let momentum = momentum_energy_volume::Law {
            kernel,
            beta: 2.0,
            conductivity: 0.0,
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
