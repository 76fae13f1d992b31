//! Turns a parsed deck into a plan: applies defaults and checks the rules that join several keys.

use super::keys::{self, Default, Kind, SECTIONS};
use super::mistake::{Mistake, Place, Report};
use super::raw::{Entry, Raw};
use super::recorded_defaults::{DEFAULT_MARK, RecordedDefaults};
use super::value::{self, Value};
use crate::plan::*;
use crate::space::Boundary;
use crate::units::{Dimension, UnitSystem, Units};
use std::collections::BTreeMap;
use std::ops::Range;
use toml::de::DeTable;

/// A checked deck.
#[derive(Clone, Debug, PartialEq)]
pub struct Checked {
    /// The plan.
    pub plan: Plan,
    /// The resolved deck: every key in effect, defaults included, as TOML that gives the same plan.
    pub resolved: String,
    /// Name, text and options of the deck, to check it again with other defaults.
    pub(super) source: (String, String, Vec<String>),
}

/// Returns the plan of a parsed deck, or the report of all mistakes.
#[allow(clippy::result_large_err)]
pub fn check(raw: Raw) -> Result<Checked, Report> {
    check_with(raw, None).map(|(checked, _)| checked)
}

/// Like [`check`], with the defaults recorded in a checkpoint. Also returns those that differ from today's,
/// one text each.
#[allow(clippy::result_large_err)]
pub(super) fn check_with(
    mut raw: Raw,
    recorded: Option<&RecordedDefaults>,
) -> Result<(Checked, Vec<String>), Report> {
    let mistakes = std::mem::take(&mut raw.mistakes);
    let mut deck =
        Deck { raw: &raw, mistakes, effective: BTreeMap::new(), recorded, old_defaults: BTreeMap::new() };
    // a key that seems to be missing may be in the malformed part of the file
    let plan = if raw.malformed { None } else { deck.plan() };
    let Deck { mistakes, effective, old_defaults, .. } = deck;
    match plan {
        Some(plan) if mistakes.is_empty() => {
            let resolved = print_resolved(&raw, &effective);
            let old_defaults =
                old_defaults.into_iter().map(|(key, values)| format!("{key} = {values}")).collect();
            Ok((Checked { plan, resolved, source: std::default::Default::default() }, old_defaults))
        }
        _ => Err(Report::new(raw.sources, mistakes)),
    }
}

/// The state of a check.
pub(super) struct Deck<'a> {
    raw: &'a Raw,
    mistakes: Vec<Mistake>,
    /// Values in effect, in the order of the table, and whether each is a default.
    effective: EffectiveValues,
    /// Defaults of a checkpoint, which take precedence over those of the table.
    recorded: Option<&'a RecordedDefaults>,
    /// Recorded defaults that differ from the table: key, value and that of the table.
    old_defaults: BTreeMap<String, String>,
}

/// Values by section and key, and whether each is a default.
type EffectiveValues = BTreeMap<String, BTreeMap<String, (Value, bool)>>;

/// Typed access: the value set, else the default. A wrong or missing value has been reported; it gives a
/// placeholder, since the plan is discarded then.
macro_rules! access {
    ($($name:ident, $optional:ident: $member:ident -> $type:ty = $placeholder:expr;)*) => { $(
        pub(super) fn $name(&mut self, section: &str, name: &str) -> $type {
            self.$optional(section, name).unwrap_or($placeholder)
        }

        pub(super) fn $optional(&mut self, section: &str, name: &str) -> Option<$type> {
            match self.value(section, name) {
                Some(Value::$member(value)) => Some(value),
                None => None,
                Some(other) => unreachable!("{section}.{name} is {other:?}: the table of keys has another kind"),
            }
        }
    )* };
}

impl Deck<'_> {
    access! {
        text, optional_text: Text -> String = String::new();
        flag, optional_flag: Flag -> bool = false;
        choice, optional_choice: Choice -> &'static str = "";
        integer, optional_integer: Integer -> u64 = 1;
        integers, optional_integers: Integers -> [u64; 3] = [1; 3];
        number, optional_number: Number -> f64 = 1.0;
        numbers, optional_numbers: Numbers -> [f64; 3] = [1.0; 3];
    }

    /// Returns the keys with chosen names of a section: names and numbers, in order of their names.
    pub(super) fn chosen_numbers(&mut self, section: &str) -> Vec<(String, f64)> {
        let names: Vec<String> =
            self.raw.entries.get(section).into_iter().flat_map(|entries| entries.keys().cloned()).collect();
        // a wrong value has been reported: a placeholder keeps its name known
        let value = |name: String| {
            let value = self.optional_number(section, &name).unwrap_or(1.0);
            (name, value)
        };
        names.into_iter().map(value).collect()
    }

    /// Returns a list of strings, if it is set.
    pub(super) fn optional_texts(&mut self, section: &str, name: &str) -> Option<Vec<String>> {
        match self.value(section, name)? {
            Value::Texts(texts) => Some(texts),
            other => unreachable!("{section}.{name} is {other:?}: the table of keys has another kind"),
        }
    }

    /// Returns a choice per dimension, if it is set.
    pub(super) fn optional_choices(&mut self, section: &str, name: &str) -> Option<[&'static str; 3]> {
        match self.value(section, name)? {
            Value::Choices(names) => Some(names),
            other => unreachable!("{section}.{name} is {other:?}: the table of keys has another kind"),
        }
    }

    fn value(&mut self, section: &str, name: &str) -> Option<Value> {
        let Some(key) = keys::section_at(section).and_then(|section| section.key(name)) else {
            unreachable!("{section}.{name} is not in the table of keys");
        };
        if let Some(Entry { value, .. }) = self.raw.entry(section, name) {
            let value = value.clone()?;
            self.record_value(section, name, value.clone(), false);
            return Some(value);
        }
        match key.default {
            Default::Value(text) => {
                let now = literal(&key.kind, text);
                let recorded = self.recorded.and_then(|recorded| recorded.default(section, key.name));
                let value = recorded.unwrap_or_else(|| now.clone());
                if value != now {
                    let values = format!("{} (now: {})", value.to_toml(), now.to_toml());
                    self.old_defaults.insert(format!("{section}.{}", key.name), values);
                }
                self.record_value(section, key.name, value.clone(), true);
                Some(value)
            }
            Default::Unset(said) => {
                let value = self.recorded.and_then(|recorded| recorded.default(section, key.name))?;
                self.old_defaults
                    .insert(format!("{section}.{}", key.name), format!("{} (now: {said})", value.to_toml()));
                self.record_value(section, key.name, value.clone(), true);
                Some(value)
            }
            Default::Required => {
                let place = self.raw.sections.get(section).cloned();
                let help = format!("add `{name} = ...` below [{section}]: {}", key.kind.expected());
                self.report(place, format!("`{name}` is missing in [{section}]"), help);
                None
            }
        }
    }

    fn record_value(&mut self, section: &str, name: &str, value: Value, default: bool) {
        self.effective.entry(section.to_string()).or_default().insert(name.to_string(), (value, default));
    }

    /// Returns the sections present that match a wildcard path, in the order of the deck.
    pub(super) fn instances(&self, pattern: &str) -> Vec<String> {
        keys::section_at(pattern).map_or_else(Vec::new, |section| self.raw.instances(section))
    }

    /// Returns the enum variant of a choice by its name in the deck; the table of keys has the same names.
    pub(super) fn named<T>(
        &mut self,
        section: &str,
        name: &str,
        of: impl Fn(&str) -> Option<T>,
        fallback: T,
    ) -> T {
        let choice = self.choice(section, name);
        of(choice).unwrap_or(fallback)
    }

    /// Returns a choice, if it is set.
    fn optional_named<T>(&mut self, section: &str, name: &str, of: impl Fn(&str) -> Option<T>) -> Option<T> {
        match self.value(section, name)? {
            Value::Choice(choice) => of(choice),
            other => unreachable!("{section}.{name} is {other:?}: the table of keys has another kind"),
        }
    }

    /// Whether a mistake was reported at a place.
    pub(super) fn is_wrong(&self, place: Option<&Place>) -> bool {
        place.is_some() && self.mistakes.iter().any(|mistake| mistake.place.as_ref() == place)
    }

    pub(super) fn report(&mut self, place: Option<Place>, message: String, help: impl Into<String>) {
        self.mistakes.push(Mistake { message, help: help.into(), place });
    }

    /// Formats a quantity for a message, with its unit if that has a name.
    pub(super) fn format_quantity(&self, value: f64, dimension: Dimension) -> String {
        Units::new(self.raw.system).format_quantity(value, dimension)
    }

    /// Returns the position of a key, if it is set.
    pub(super) fn place(&self, section: &str, name: &str) -> Option<Place> {
        self.raw.entry(section, name).map(|entry| entry.place.clone())
    }

    /// Returns the position of a part of a key's text: the whole value where it is not written as it reads.
    pub(super) fn place_within(&self, section: &str, name: &str, span: Range<usize>) -> Option<Place> {
        let Entry { value, place } = self.raw.entry(section, name)?;
        let written = self.raw.sources.get(place.source)?.text.get(place.span.clone())?;
        let Some(Value::Text(text)) = value else { return Some(place.clone()) };
        // quotes and escapes are in the deck only
        let start = written.find(text.as_str()).filter(|_| !text.is_empty());
        let start = start.map_or(place.span.clone(), |at| {
            place.span.start + at + span.start..place.span.start + at + span.end
        });
        Some(Place { source: place.source, span: start })
    }

    /// Returns the position of a section, if it is present; also if only its keys or inner sections are.
    pub(super) fn section(&self, path: &str) -> Option<Place> {
        self.raw.sections.get(path).cloned()
    }

    /// Reports a key that is set but has no effect because of `why`, and removes it from the resolved deck.
    pub(super) fn without_effect(&mut self, section: &str, name: &str, why: &str) {
        if let Some(effective) = self.effective.get_mut(section) {
            effective.remove(name);
        }
        if let Some(place) = self.place(section, name) {
            let help = format!("remove it, or change {why}");
            self.report(Some(place), format!("`{name}` has no effect here because of {why}"), help);
        }
    }

    /// Whether a caller gives the particles.
    pub(super) fn gives_particles(&self) -> bool {
        self.raw.given_particles
    }

    /// Whether steps are performed: the deck has some, or its caller performs them.
    pub(super) fn advances(&self, plan: &Plan) -> bool {
        self.raw.caller_steps || plan.run.steps != Some(0) && plan.run.end_time != Some(0.0)
    }

    fn plan(&mut self) -> Option<Plan> {
        let title = self.text("", "title");
        let units = self.units();
        let run = self.run();
        let species = self.species();
        let start = self.start(&species);
        let noise = self.noise();
        let gravity = self.gravity();
        let external = self.external(gravity.as_ref());
        let sph = self.sph();
        let interaction = self.interaction(&species);
        let motion = self.motion(interaction.as_ref());
        let space = self.space(start.as_ref());
        let neighbors = self.neighbors(interaction.is_some());
        let time_step = self.time_step(run.end_time, sph.is_some());
        let measure = self.measure(&time_step);
        let output = self.output(&time_step);
        let plan = Plan {
            title,
            units,
            run,
            species,
            start: start?,
            noise,
            space,
            sph,
            gravity,
            external,
            interaction,
            motion,
            measure,
            neighbors,
            time_step,
            output,
        };
        self.check_consistency(&plan);
        Some(plan)
    }

    fn units(&mut self) -> Units {
        Units::new(self.named("units", "system", UnitSystem::named, UnitSystem::Reduced))
    }

    fn run(&mut self) -> RunPlan {
        let run = RunPlan {
            end_time: self.optional_number("run", "end_time"),
            steps: self.optional_integer("run", "steps"),
            device: self.named("run", "device", Device::named, Device::Auto),
            precision: self.named("run", "precision", Precision::named, Precision::Mixed),
            threads: self.optional_integer("run", "threads").map(|threads| threads as usize),
        };
        if self.place("run", "end_time").is_none() && self.place("run", "steps").is_none() {
            let help = "add `end_time = ...` or `steps = ...` below [run]";
            self.report(self.section("run"), "nothing says when the run ends".into(), help);
        }
        run
    }

    fn neighbors(&mut self, molecules: bool) -> NeighborsPlan {
        let coding = self.named("neighbors", "coding", Coding::named, Coding::Nibble);
        // a deck that fixes the skin gives the same bits every time
        let skin = self.optional_number("neighbors", "skin");
        let usual = match (molecules, skin) {
            (true, None) => Some(Method::Auto),
            (false, None) => None,
            (_, Some(_)) => Some(Method::Clusters),
        };
        let wanted = self.optional_named("neighbors", "method", Method::named).or(usual);
        let method = wanted.unwrap_or(Method::Clusters);
        let why = format!("method = \"{}\"", method.name());
        if !matches!(method, Method::Auto | Method::Clusters) {
            self.without_effect("neighbors", "coding", &why);
            self.without_effect("neighbors", "inner_skin", &why);
        }
        if method != Method::Auto {
            self.without_effect("neighbors", "memory", &why);
        }
        if matches!(method, Method::Cells | Method::Search)
            && self.optional_flag("neighbors", "symmetric") == Some(true)
        {
            let message =
                format!("`symmetric` must be false with {why}, which finds each pair from both sides");
            let help = "remove it, or write method = \"clusters\" for half lists";
            self.report(self.place("neighbors", "symmetric"), message, help);
        }
        NeighborsPlan {
            method: wanted,
            memory: self.optional_number("neighbors", "memory"),
            coding,
            symmetric: self.optional_flag("neighbors", "symmetric"),
            skin,
            inner_skin: self.optional_number("neighbors", "inner_skin"),
            bucket_size: self.integer("neighbors", "bucket_size"),
        }
    }

    fn output(&mut self, time_step: &TimeStepPlan) -> OutputPlan {
        OutputPlan {
            directory: self.text("output", "directory").into(),
            overwrite: self.flag("output", "overwrite"),
            snapshots: self.every("output.snapshots"),
            checkpoint: self.every("output.checkpoint"),
            observables: self.every("output.observables").unwrap_or(Every::EverySteps(1)),
            trajectory: self.trajectory(time_step),
            report: self.every("output.report"),
        }
    }

    /// Returns the only interval of a section with `every_*` keys; `None` without the section.
    pub(super) fn every(&mut self, section: &str) -> Option<Every> {
        let header = self.section(section)?;
        let names = keys::section_at(section).map_or(&[][..], |section| section.keys);
        let intervals = || names.iter().filter(|key| key.is_interval());
        let given: Vec<_> =
            intervals().filter_map(|key| Some((key.name, self.place(section, key.name)?))).collect();
        let choices = intervals().map(|key| format!("`{}`", key.name)).collect::<Vec<_>>().join(" or ");
        match given.as_slice() {
            [(name, _)] => match self.value(section, name)? {
                Value::Integer(steps) => Some(Every::EverySteps(steps)),
                Value::Number(seconds) if *name == "every_wall" => Some(Every::EveryWall(seconds)),
                Value::Number(time) => Some(Every::EveryTime(time)),
                other => unreachable!("{section}.{name} is {other:?}: the table of keys has another kind"),
            },
            [] => {
                self.report(Some(header), format!("[{section}] says no interval"), format!("give {choices}"));
                None
            }
            [.., (_, last)] => {
                let message = format!("[{section}] has more than one interval");
                self.report(Some(last.clone()), message, format!("keep one of {choices}"));
                None
            }
        }
    }

    pub(super) fn boundary(&mut self) -> Option<[Boundary; 3]> {
        let names = self.optional_choices("space", "boundary")?;
        Some(names.map(|name| if name == "periodic" { Boundary::Periodic } else { Boundary::Open }))
    }
}

/// Converts a default of the table of keys to a value.
pub(super) fn literal(kind: &Kind, text: &str) -> Value {
    let line = format!("x = {text}");
    let table = DeTable::parse(&line).ok();
    let value = table.as_ref().and_then(|table| table.get_ref().get("x"));
    match value.map(|value| value::convert(kind, value, UnitSystem::Reduced)) {
        Some(Ok(value)) => value,
        _ => unreachable!("the table of keys has the wrong default {text}"),
    }
}

/// Prints the values in effect, in the order of the table.
fn print_resolved(raw: &Raw, effective: &EffectiveValues) -> String {
    let mut text = String::new();
    for section in SECTIONS.iter().filter(|section| !section.keys.is_empty()) {
        let paths = match section.has_wildcard() {
            true => raw.instances(section),
            false => vec![section.path.to_string()],
        };
        paths.iter().for_each(|path| print_section(&mut text, section, path, raw, effective));
    }
    text
}

fn print_section(
    text: &mut String,
    section: &keys::Section,
    path: &str,
    raw: &Raw,
    effective: &EffectiveValues,
) {
    // names that the user chose come in their order
    let names: Vec<&str> = match (section.chosen_key(), effective.get(path)) {
        (Some(_), Some(values)) => values.keys().map(String::as_str).collect(),
        _ => section.keys.iter().map(|key| key.name).collect(),
    };
    let lines: Vec<String> = names
        .iter()
        .filter_map(|name| {
            let (value, default) = effective.get(path)?.get(*name)?;
            let line = format!("{name} = {}", value.to_toml());
            Some(if *default { format!("{line:<34} {DEFAULT_MARK}\n") } else { line + "\n" })
        })
        .collect();
    if !path.is_empty() && (!lines.is_empty() || raw.sections.contains_key(path)) {
        let quoted = path.split('.').map(|name| {
            let bare = name.chars().all(|c| c.is_ascii_alphanumeric() || "_-".contains(c));
            if bare { name.to_string() } else { format!("\"{name}\"") }
        });
        text.push_str(&format!("\n[{}]\n", quoted.collect::<Vec<_>>().join(".")));
    }
    text.push_str(&lines.concat());
}
