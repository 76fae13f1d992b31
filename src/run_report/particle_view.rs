//! Data of the three-dimensional view: quantized positions and quantities of the sample in each snapshot.

use serde::Serialize;

use super::encode::{Binary, quantized};
use super::sample::{Frame, Sampled};
use crate::particles::Field;
use crate::space::Boundary;
use crate::units::Units;

/// Most quantities of a view: bounds the size of the page.
const MOST_QUANTITIES: usize = 3;

/// Fractions of the values of a quantity below the ends of its colors: outliers do not spoil them.
const COLOR_ENDS: [f64; 2] = [0.01, 0.99];

/// The view.
#[derive(Clone, Debug, Serialize)]
pub struct ParticleView {
    /// Particles of the run.
    particles: u64,
    /// Particles shown.
    shown: usize,
    /// Snapshots of the run.
    snapshots: usize,
    /// Unit of lengths.
    length_unit: String,
    /// Unit of times.
    time_unit: String,
    /// Whether all dimensions are periodic.
    periodic: bool,
    /// Quantities to color by.
    quantities: Vec<Quantity>,
    frames: Vec<FrameData>,
    /// Ids as text: they may exceed the whole numbers of JavaScript.
    ids: Vec<String>,
}

/// A quantity and the meaning of its numbers: 0 is `lower`, 65534 is `upper`, 65535 is no number; of the
/// logarithm to base 10 if `logarithmic`.
#[derive(Clone, Debug, Serialize)]
struct Quantity {
    name: &'static str,
    unit: String,
    logarithmic: bool,
    lower: f64,
    upper: f64,
    /// Ends of the colors, in the same measure.
    colors: [f64; 2],
    /// Names of the values 0, 1, ... of species.
    names: Vec<String>,
}

/// A snapshot: positions in units of 1/65534 of the edges from `lower` to `upper`.
#[derive(Clone, Debug, Serialize)]
struct FrameData {
    snapshot: u64,
    time: f64,
    step: u64,
    lower: [f64; 3],
    upper: [f64; 3],
    /// Corners of the box that the snapshot states.
    box_lower: [f64; 3],
    box_upper: [f64; 3],
    positions: Binary,
    values: Vec<Binary>,
}

/// A quantity of all frames.
struct Column<'a> {
    name: &'static str,
    unit: String,
    logarithmic: bool,
    values: Vec<&'a [f32]>,
    names: Vec<String>,
}

impl ParticleView {
    /// Makes the view of a sample; `None` without particles. `snapshots` is their number in the directory.
    pub fn new(sampled: &Sampled, snapshots: usize, units: &Units) -> Option<Self> {
        let (_, first) = sampled.frames.first().filter(|(_, frame)| !frame.ids.is_empty())?;
        let columns = columns(sampled, units);
        let quantities: Vec<Quantity> = columns.iter().map(Quantity::new).collect();
        let frames = sampled.frames.iter().enumerate().map(|(place, (snapshot, frame))| {
            let values = columns.iter().zip(&quantities);
            let values = values.map(|(column, quantity)| quantity.encode(column.values[place]));
            FrameData::new(*snapshot, frame, values.collect())
        });
        Some(ParticleView {
            particles: first.header.particle_count,
            shown: first.ids.len(),
            snapshots,
            length_unit: units.name([0, 1, 0]),
            time_unit: units.name([0, 0, 1]),
            periodic: first.header.bx.boundary == [Boundary::Periodic; 3],
            frames: frames.collect(),
            quantities,
            ids: first.ids.iter().map(u64::to_string).collect(),
        })
    }
}

/// Returns the quantities that every frame has and that are not the same everywhere.
fn columns<'a>(sampled: &'a Sampled, units: &Units) -> Vec<Column<'a>> {
    let frames = || sampled.frames.iter().map(|(_, frame)| frame);
    let Some(first) = frames().next() else { return Vec::new() };
    let mut columns: Vec<Column> = Vec::new();
    for (field, _) in &first.scalars {
        let of_frame = |frame: &'a Frame| {
            frame.scalars.iter().find(|(known, _)| known == field).map(|(_, values)| values.as_slice())
        };
        let Some(values) = frames().map(of_frame).collect::<Option<Vec<_>>>() else { continue };
        columns.push(Column {
            name: match field {
                Field::InternalEnergy => "internal energy",
                Field::PairEnergy => "pair energy",
                field => field.name(),
            },
            unit: units.name(field.dimensions()),
            logarithmic: matches!(field, Field::Density | Field::Pressure | Field::InternalEnergy),
            values,
            names: if *field == Field::Species { first.header.species.clone() } else { Vec::new() },
        });
    }
    if frames().all(|frame| frame.speeds.len() == frame.ids.len()) {
        let values = frames().map(|frame| frame.speeds.as_slice()).collect();
        let unit = units.name([0, 1, -1]);
        columns.push(Column { name: "speed", unit, logarithmic: false, values, names: Vec::new() });
    }
    // species first, pressure last: it follows from density and internal energy
    columns.sort_by_key(|column| match column.name {
        "species" => 0,
        "pressure" => 2,
        _ => 1,
    });
    columns.retain(Column::varies);
    columns.truncate(MOST_QUANTITIES);
    columns
}

impl Column<'_> {
    fn all(&self) -> impl Iterator<Item = f64> {
        self.values.iter().flat_map(|values| values.iter()).map(|&value| f64::from(value))
    }

    fn varies(&self) -> bool {
        let mut finite = self.all().filter(|value| value.is_finite());
        let first = finite.next();
        finite.any(|value| Some(value) != first)
    }
}

impl Quantity {
    fn new(column: &Column) -> Self {
        // a quantity that is nowhere or almost nowhere positive has no logarithm, one of one magnitude needs
        // none
        let positive = column.all().all(|value| !value.is_finite() || value > 0.0);
        let mut quantity = Quantity {
            name: column.name,
            unit: column.unit.clone(),
            logarithmic: column.logarithmic && positive,
            lower: 0.0,
            upper: 1.0,
            colors: [0.0, 1.0],
            names: column.names.clone(),
        };
        let mut values: Vec<f64> =
            column.all().map(|value| quantity.measure(value)).filter(|value| value.is_finite()).collect();
        values.sort_by(f64::total_cmp);
        if let (Some(&lower), Some(&upper)) = (values.first(), values.last()) {
            let at = |fraction: f64| values[(fraction * (values.len() - 1) as f64).round() as usize];
            let ends = COLOR_ENDS.map(at);
            (quantity.lower, quantity.upper) = (lower, upper);
            quantity.colors =
                if ends[0] < ends[1] && quantity.names.is_empty() { ends } else { [lower, upper] };
        }
        quantity
    }

    fn measure(&self, value: f64) -> f64 {
        if self.logarithmic { value.log10() } else { value }
    }

    fn encode(&self, values: &[f32]) -> Binary {
        let quantized = |&value: &f32| quantized(self.measure(f64::from(value)), self.lower, self.upper);
        Binary::of_u16(values.iter().map(quantized))
    }
}

impl FrameData {
    fn new(snapshot: u64, frame: &Frame, values: Vec<Binary>) -> Self {
        let ends = |d: usize| {
            let along = || frame.positions.iter().map(|at| at[d]);
            (along().fold(f64::INFINITY, f64::min), along().fold(f64::NEG_INFINITY, f64::max))
        };
        let ends = [ends(0), ends(1), ends(2)];
        let coordinates = frame.positions.iter().flat_map(|at| {
            let coordinate = |d: usize| quantized(at[d], ends[d].0, ends[d].1);
            [coordinate(0), coordinate(1), coordinate(2)]
        });
        let bx = &frame.header.bx;
        FrameData {
            snapshot,
            time: frame.header.time,
            step: frame.header.step,
            lower: ends.map(|(lower, _)| lower),
            upper: ends.map(|(_, upper)| upper),
            box_lower: bx.lower.into(),
            box_upper: bx.upper.into(),
            positions: Binary::of_u16(coordinates),
            values,
        }
    }
}
