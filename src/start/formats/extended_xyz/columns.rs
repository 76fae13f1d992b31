//! The atom columns of extended XYZ, as named by `Properties`.

use super::super::lines::{Lines, excerpt};
use super::super::listed;
use crate::Result;

/// Maximum number of columns per atom.
const MAX_COLUMNS: usize = 4096;
const REMEDY: &str = "write Properties=species:S:1:pos:R:3, then perhaps velo:R:3";

/// Column indices of the quantities.
#[derive(Default)]
pub(super) struct Columns {
    pub count: usize,
    pub species: Option<usize>,
    /// Atomic numbers, if there are no names.
    pub numbers: Option<usize>,
    pub position: usize,
    pub velocity: Option<usize>,
    pub momentum: Option<usize>,
    pub mass: Option<usize>,
    pub charge: Option<usize>,
    pub id: Option<usize>,
    /// Names of columns that are not used.
    pub unused: Vec<String>,
}

/// Column index of a quantity, and the column's name.
type Named = Option<(usize, String)>;

/// The quantities found so far.
#[derive(Default)]
struct Found {
    /// Species names from columns `species`, `element` and `type`; the first has precedence.
    names: [Named; 3],
    numbers: Named,
    position: Named,
    velocity: Named,
    momentum: Named,
    mass: Named,
    charge: Named,
    id: Named,
}

impl Columns {
    /// The columns of plain XYZ.
    pub(super) fn plain() -> Self {
        Self { count: 4, species: Some(0), position: 1, ..Self::default() }
    }

    /// Parses a `Properties` value: colon-separated triples of name, type and number of columns.
    ///
    /// # Errors
    /// [`crate::Error::Content`] if it is malformed, names a quantity twice, or has no positions.
    pub(super) fn of(lines: &Lines, properties: &str) -> Result<Self> {
        let wrong = |what: String| lines.error(what, REMEDY);
        let mut columns = Columns::default();
        let mut found = Found::default();
        let mut seen: Vec<&str> = Vec::new();
        let parts: Vec<&str> = properties.trim().split(':').collect();
        for triple in parts.chunks(3) {
            let &[name, kind, width] = triple else {
                return Err(wrong("has Properties that are not triples of name, type and number".into()));
            };
            if seen.contains(&name) {
                return Err(wrong(format!("has Properties with the column \"{}\" twice", excerpt(name))));
            }
            seen.push(name);
            if !["S", "I", "R", "L"].contains(&kind) {
                let what = format!("gives \"{}\" the type \"{}\"", excerpt(name), excerpt(kind));
                return Err(lines.error(what, "types are S (text), I (integer), R (real) and L (logical)"));
            }
            let width: usize = lines.parse_integer(width, "a number of columns")?;
            let at = columns.count;
            columns.count = at.saturating_add(width);
            if width == 0 || columns.count > MAX_COLUMNS {
                return Err(wrong(format!("gives {} columns to \"{}\"", width, excerpt(name))));
            }
            let Some((place, expected)) = found.place(name, kind) else {
                columns.unused.push(name.to_owned());
                continue;
            };
            if width != expected {
                return Err(wrong(format!("gives {width} columns to \"{name}\" instead of {expected}")));
            }
            if let Some((_, before)) = place {
                let what = format!("has the columns \"{before}\" and \"{name}\", which mean the same");
                return Err(lines.error(what, "give one of them another name, such as unused"));
            }
            *place = Some((at, name.to_owned()));
        }
        columns.position = found
            .position
            .take()
            .map(|(at, _)| at)
            .ok_or_else(|| wrong("has Properties without pos:R:3".into()))?;
        columns.choose(found);
        Ok(columns)
    }

    /// Resolves several columns for one quantity by precedence.
    fn choose(&mut self, found: Found) {
        let mut first = |candidates: Vec<Named>| {
            let mut all =
                candidates.into_iter().enumerate().filter_map(|(k, named)| named.map(|named| (k, named)));
            let chosen = all.next();
            self.unused.extend(all.map(|(_, (_, name))| name));
            chosen.map(|(k, (at, _))| (k, at))
        };
        let [species, element, kind] = found.names;
        let name = first(vec![species, element, kind, found.numbers]);
        let motion = first(vec![found.velocity, found.momentum]);
        self.species = name.filter(|&(k, _)| k < 3).map(|(_, at)| at);
        self.numbers = name.filter(|&(k, _)| k == 3).map(|(_, at)| at);
        self.velocity = motion.filter(|&(k, _)| k == 0).map(|(_, at)| at);
        self.momentum = motion.filter(|&(k, _)| k == 1).map(|(_, at)| at);
        [self.mass, self.charge, self.id] =
            [found.mass, found.charge, found.id].map(|named| named.map(|(at, _)| at));
    }

    /// A note on the columns that are not used.
    pub(super) fn note(&self) -> Option<String> {
        (!self.unused.is_empty()).then(|| format!("columns not used: {}", listed(&self.unused)))
    }
}

impl Found {
    /// The quantity of a column, and its expected number of columns.
    fn place(&mut self, name: &str, kind: &str) -> Option<(&mut Named, usize)> {
        let [species, element, type_] = &mut self.names;
        Some(match name.to_ascii_lowercase().as_str() {
            "species" => (species, 1),
            "element" => (element, 1),
            "type" => (type_, 1),
            "numbers" if kind == "I" => (&mut self.numbers, 1),
            "z" if kind == "I" && name == "Z" => (&mut self.numbers, 1),
            "pos" | "positions" | "position" => (&mut self.position, 3),
            "velo" | "vel" | "velocity" | "velocities" => (&mut self.velocity, 3),
            "momenta" | "momentum" => (&mut self.momentum, 3),
            "mass" | "masses" => (&mut self.mass, 1),
            "charge" | "charges" | "initial_charges" => (&mut self.charge, 1),
            "id" | "identifier" => (&mut self.id, 1),
            _ => return None,
        })
    }
}
