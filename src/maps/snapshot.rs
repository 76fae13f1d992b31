//! Maps of snapshots.

use std::path::Path;

use super::AXES;
use super::extent::{Extent, ends, no_particles};
use super::interpolate::{Samples, interpolate};
use super::labels::{unit, unit_system, with_unit};
use super::quantity::{Content, Quantity, bulk_velocity};
use super::raster::{Raster, View};
use super::spread::Colors;
use crate::pair::Kernel;
use crate::particles::{Field, Particles};
use crate::report::picture::{Axis, ColorMap, Heatmap, Scale, axis_label};
use crate::snapshot::{Header, read_fields};
use crate::space::Boundary;
use crate::units::Units;
use crate::{Error, Result, deck, plan};

/// Pixels of the longer side by default.
pub(super) const DEFAULT_PIXELS: usize = 800;

/// What a map shows.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// Dimension along the line of sight: 0, 1 or 2.
    pub axis: usize,
    /// Coordinate of the plane of a slice; `None` for a projection.
    pub plane: Option<f64>,
    /// The rectangle.
    pub extent: Extent,
    /// Number of pixels along the longer side of the rectangle.
    pub pixels: usize,
    /// Name of the quantity; `None` for the density, or the number density of particles without smoothing
    /// lengths.
    pub quantity: Option<String>,
    /// The kernel; `None` for that of the snapshot's deck.
    pub kernel: Option<plan::Kernel>,
    /// Smoothing length of particles that have none; `None` for the mean particle spacing.
    pub smoothing: Option<f64>,
}

/// A map of a snapshot.
#[derive(Clone, Debug, PartialEq)]
pub struct Map {
    /// The values.
    pub raster: Raster,
    /// Name of the quantity, as in [`Request::quantity`].
    pub quantity: String,
    /// What is shown, and when.
    pub title: String,
    /// Labels of the horizontal and the vertical axis, with the unit.
    pub axes: [String; 2],
    /// Label of the values, with the unit.
    pub label: String,
    /// Whether the quantity cannot be negative.
    pub positive: bool,
    /// Whether it is a density, which falls to zero where the particles end, and not a mean.
    pub is_sum: bool,
    /// What the user should know, one sentence each.
    pub notes: Vec<String>,
}

impl Request {
    /// The default quantity in a plane, or along the line of sight without one.
    pub fn new(axis: usize, plane: Option<f64>, extent: Extent) -> Self {
        Self { axis, plane, extent, pixels: DEFAULT_PIXELS, quantity: None, kernel: None, smoothing: None }
    }

    /// The view: square pixels up to rounding.
    pub fn view(&self) -> View {
        let lengths = self.extent.map(|side| side.1 - side.0);
        let longest = lengths[0].max(lengths[1]);
        let pixels = lengths.map(|length| ((length / longest * self.pixels as f64).round() as usize).max(1));
        View { axis: self.axis, plane: self.plane, extent: self.extent, pixels }
    }
}

impl Map {
    /// Reads the columns of a snapshot that the request needs, and interpolates.
    ///
    /// # Errors
    /// As [`crate::snapshot::read_snapshot`]; [`Error::Usage`] for a quantity that the snapshot does not
    /// have, or a smoothing length beside those of the snapshot; [`Error::Content`] without particles; as
    /// [`interpolate`].
    pub fn of_snapshot(path: &Path, request: &Request) -> Result<Self> {
        let mut chosen = None;
        let (header, particles) = read_fields(path, |header, fields| {
            let content = Content {
                fields: fields.to_vec(),
                species: header.species.clone(),
                molecules: deck::has_interaction(&header.deck),
            };
            if header.particle_count == 0 {
                return Err(no_particles(path));
            }
            if request.smoothing.is_some() && content.smoothed() {
                return Err(Error::usage(
                    format!("{} has smoothing lengths of its own", path.display()),
                    "leave --smoothing out: it is for particles without smoothing lengths",
                ));
            }
            let (name, quantity) = content.quantity(request.quantity.as_deref())?;
            let mut needed = [quantity.fields(), vec![Field::Mass]].concat();
            if content.smoothed() {
                needed.push(Field::SmoothingLength);
                // volumes in slices
                if !quantity.is_sum() && request.plane.is_some() && fields.contains(&Field::Density) {
                    needed.push(Field::Density);
                }
            }
            chosen = Some((name, quantity));
            Ok(needed)
        })?;
        let Some((name, quantity)) = chosen else { unreachable!("read_fields has called the closure") };
        let scene = Scene { header: &header, particles: &particles, request, quantity: &quantity };
        let mut notes = Vec::new();
        let raster = scene.raster(&mut notes)?;
        let projection = request.plane.is_none();
        let words = quantity.words(&header.species, projection);
        let unit_name = match quantity.dimensions(projection) {
            Some(exponents) => unit(&header, exponents),
            None => Units::new(unit_system(&header)).temperature_name(),
        };
        let length = unit(&header, [0, 1, 0]);
        let view = request.view();
        Ok(Self {
            raster,
            quantity: name,
            title: scene.title(&words),
            axes: view.directions().map(|d| axis_label(AXES[d], &length)),
            label: axis_label(&words, &unit_name),
            positive: quantity.is_positive(),
            is_sum: quantity.is_sum(),
            notes,
        })
    }

    /// The picture.
    pub fn heatmap(&self, colors: &Colors, map: ColorMap) -> Heatmap<'_> {
        let axis = |label: &str, range, scale| Axis { label: label.to_owned(), range, scale };
        let [x, y] = [0, 1].map(|d| axis(&self.axes[d], self.raster.extent[d], Scale::Linear));
        Heatmap {
            title: self.title.clone(),
            x,
            y,
            values: &self.raster.values,
            pixels: self.raster.pixels,
            bar: axis(&self.label, colors.range, colors.scale),
            colors: map,
        }
    }
}

/// The particles of a snapshot and what is asked of them.
struct Scene<'a> {
    header: &'a Header,
    particles: &'a Particles,
    request: &'a Request,
    quantity: &'a Quantity,
}

impl Scene<'_> {
    fn raster(&self, notes: &mut Vec<String>) -> Result<Raster> {
        let kernel = self.kernel(notes);
        let smoothed = self.particles.has(Field::SmoothingLength);
        let uniform;
        let smoothing_length = if smoothed {
            self.particles.scalar(Field::SmoothingLength)
        } else {
            let length = self.request.smoothing.unwrap_or_else(|| self.spacing());
            notes.push(format!(
                "the particles have no smoothing lengths: each is smoothed over h = {} by {}",
                with_unit(self.header, length, [0, 1, 0]),
                kernel.name()
            ));
            uniform = vec![length; self.particles.len()];
            &uniform
        };
        let weight = self.weight();
        let value = self.value();
        let samples = Samples {
            position: self.particles.vector(Field::Position),
            smoothing_length,
            weight: &weight,
            value: value.as_deref(),
        };
        let kernel = Kernel::named(kernel.name());
        let kernel = kernel.unwrap_or_else(|| unreachable!("a plan has no other kernels"));
        interpolate(&samples, kernel, &self.header.bx, &self.request.view())
    }

    fn kernel(&self, notes: &mut Vec<String>) -> plan::Kernel {
        let default = plan::Kernel::CubicSpline;
        if let Some(kernel) = self.request.kernel {
            return kernel;
        }
        if !self.particles.has(Field::SmoothingLength) {
            return default;
        }
        deck::kernel(&self.header.deck).unwrap_or_else(|| {
            let name = default.name();
            notes.push(format!(
                "the snapshot does not record its kernel: {name} is assumed, set another with --kernel"
            ));
            default
        })
    }

    /// Mean distance of neighbors: the cube root of the volume per particle, of the box where it is periodic,
    /// else of the particles' extent. Dimensions without extent do not count.
    fn spacing(&self) -> f64 {
        let columns = self.particles.vector(Field::Position);
        let bx = &self.header.bx;
        let edges = [0, 1, 2].map(|d| match bx.boundary[d] {
            Boundary::Periodic => bx.lengths()[d],
            Boundary::Open => {
                let (least, greatest) = ends(columns[d]);
                greatest - least
            }
        });
        let wide: Vec<f64> = edges.into_iter().filter(|edge| *edge > 0.0).collect();
        let count = self.particles.len() as f64;
        match wide.len() {
            0 => 1.0,
            dimensions => (wide.iter().product::<f64>() / count).powf(1.0 / dimensions as f64),
        }
    }

    /// Weights of [`Samples`]. Without smoothing lengths, all particles have the same weight in a mean.
    fn weight(&self) -> Vec<f64> {
        let particles = self.particles;
        let mass = particles.scalar(Field::Mass);
        let ones = || vec![1.0; particles.len()];
        match *self.quantity {
            Quantity::Density => mass.to_vec(),
            Quantity::NumberDensity(None) => ones(),
            Quantity::NumberDensity(Some(index)) => {
                let kinds = particles.scalar(Field::Species);
                kinds.iter().map(|kind| f64::from(u8::from(*kind == index as f64))).collect()
            }
            _ if !particles.has(Field::SmoothingLength) => ones(),
            _ if self.request.plane.is_none() => mass.to_vec(),
            _ => {
                let density = particles.has(Field::Density).then(|| particles.scalar(Field::Density));
                match density.filter(|density| density.iter().all(|rho| *rho > 0.0)) {
                    Some(density) => mass.iter().zip(density).map(|(mass, rho)| mass / rho).collect(),
                    // proportional to m / rho for equal numbers of neighbors
                    None => particles.scalar(Field::SmoothingLength).iter().map(|h| h * h * h).collect(),
                }
            }
        }
    }

    fn value(&self) -> Option<Vec<f64>> {
        let particles = self.particles;
        let squares = |columns: [&[f64]; 3], about: [f64; 3]| -> Vec<f64> {
            let square = |row: usize| (0..3).map(|d| (columns[d][row] - about[d]).powi(2)).sum();
            (0..particles.len()).map(square).collect()
        };
        match *self.quantity {
            Quantity::Density | Quantity::NumberDensity(_) => None,
            Quantity::Component(field, c) => Some(particles.component(field, c).to_vec()),
            Quantity::Magnitude(field) => {
                let squares = squares(particles.vector(field), [0.0; 3]);
                Some(squares.into_iter().map(f64::sqrt).collect())
            }
            Quantity::Temperature => {
                let (mass, velocity) = (particles.scalar(Field::Mass), particles.vector(Field::Velocity));
                let boltzmann = Units::new(unit_system(self.header)).boltzmann;
                let squares = squares(velocity, bulk_velocity(mass, velocity).into());
                Some(
                    squares
                        .iter()
                        .zip(mass)
                        .map(|(square, mass)| mass * square / (3.0 * boltzmann))
                        .collect(),
                )
            }
        }
    }

    /// Run, quantity, plane and time.
    fn title(&self, words: &str) -> String {
        let axis = AXES[self.request.axis % 3];
        let place = match self.request.plane {
            Some(at) => format!("{words} in the plane {axis} = {}", with_unit(self.header, at, [0, 1, 0])),
            None if self.quantity.is_sum() => format!("{words} along {axis}"),
            None if self.particles.has(Field::SmoothingLength) => {
                format!("{words}, mass-weighted mean along {axis}")
            }
            None => format!("{words}, mean along {axis}"),
        };
        let time = with_unit(self.header, self.header.time, [0, 0, 1]);
        let run: String = self.header.title.chars().filter(|letter| !letter.is_control()).take(60).collect();
        match run.trim() {
            "" => format!("{}{} at t = {time}", place[..1].to_uppercase(), &place[1..]),
            run => format!("{run}: {place} at t = {time}"),
        }
    }
}
