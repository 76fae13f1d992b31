//! Random files of the text formats, with the variants that the formats allow.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::collections::BTreeMap;

/// A random file.
pub struct File {
    /// ASE's name of the format.
    pub format: &'static str,
    pub ending: &'static str,
    pub text: String,
    /// A word of the reason, where it must be refused.
    pub refused: Option<&'static str>,
    /// Names that this program has for names of ASE's.
    pub renamed: BTreeMap<String, String>,
}

struct Dice(ChaCha8Rng);

impl Dice {
    fn new(seed: u64, stream: u64) -> Self {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        random.set_stream(stream);
        Self(random)
    }

    fn below(&mut self, most: usize) -> usize {
        self.0.random_range(0..most)
    }

    fn one<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.below(of.len())]
    }

    /// True once in so many times.
    fn rare(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    /// A number up to `most` in one of the ways in which numbers are written.
    fn number(&mut self, most: f64) -> String {
        let number = most * (2.0 * self.0.random::<f64>() - 1.0);
        match self.below(5) {
            0 => format!("{number:.3}"),
            1 => format!("{number:+.8}"),
            2 => format!("{number:.6e}"),
            3 => format!("{number:.4E}"),
            _ => format!("{number}"),
        }
    }

    fn numbers(&mut self, count: usize, most: f64, between: &str) -> String {
        (0..count).map(|_| self.number(most)).collect::<Vec<_>>().join(between)
    }

    fn edge(&mut self) -> f64 {
        5.0 + (self.0.random::<f64>() * 4e4).round() / 1e3
    }
}

const ELEMENTS: [&str; 6] = ["H", "He", "Ar", "Na", "Cl", "Kr"];

/// Extended XYZ, and one in ten plain.
pub fn xyz(seed: u64) -> File {
    let mut dice = Dice::new(seed, 0);
    let count = 1 + dice.below(12);
    let mut refused = None;
    let mut keys = Vec::new();
    let plain = dice.rare(10);
    if !plain {
        let edges = [dice.edge(), dice.edge(), dice.edge()].map(|edge| edge.to_string());
        let mut rows = [["0.0"; 3]; 3];
        (0..3).for_each(|d| rows[d][d] = &edges[d]);
        match dice.below(8) {
            0 => (rows[2][0], refused) = ("1.5", Some("rectangular")),
            1 => (rows[1][0], rows[0][2]) = ("3e-16", "-2.5e-16"),
            _ => {}
        }
        let flat: Vec<&str> = rows.concat();
        let lattice = match dice.below(4) {
            0 => format!("{{{}}}", flat.join("  ")),
            1 => format!("[{}]", flat.join(", ")),
            2 => format!("'{}'", flat.join(" ")),
            _ => format!("\"{}\"", flat.join(" ")),
        };
        keys.push(format!("Lattice{}{lattice}", dice.one(&["=", " = ", "= "])));
        let [yes, no] =
            [["T", "F"], ["true", "false"], ["True", "False"], ["TRUE", "FALSE"], ["1", "0"]][dice.below(5)];
        let flags: Vec<&str> = (0..3).map(|_| if dice.rare(3) { no } else { yes }).collect();
        match dice.below(4) {
            0 => {}
            1 => keys.push(format!("pbc=\"{}\"", flags.join(" "))),
            2 => keys.push(format!("pbc=[{}]", flags.join(", "))),
            _ => keys.push(format!("pbc={{{}}}", flags.join(" "))),
        }
        if dice.rare(2) {
            keys.push(
                dice.one(&[
                    "energy=-1.5",
                    "note=\"a b\"",
                    "config_type=bulk",
                    "stress=\"1 0 0 0 1 0 0 0 1\"",
                    "flag",
                ])
                .into(),
            );
        }
    }
    let [momenta, masses, charges, more] =
        [!plain && dice.rare(2), !plain && dice.rare(2), !plain && dice.rare(3), !plain && dice.rare(3)];
    let mut properties = String::from("species:S:1:pos:R:3");
    for (there, column) in [
        (momenta, ":momenta:R:3"),
        (masses, ":masses:R:1"),
        (charges, ":initial_charges:R:1"),
        (more, ":tags:I:1"),
    ] {
        properties += if there { column } else { "" };
    }
    let mut comment = if plain { "a title, and no keys".to_owned() } else { String::new() };
    if !plain {
        keys.insert(dice.below(keys.len() + 1), format!("Properties={properties}"));
        comment = keys.join(dice.one(&[" ", "  ", "\t"]));
    }
    let end = dice.one(&["\n", "\r\n"]);
    let mut text = format!("{count}{end}{comment}{end}");
    for _ in 0..count {
        let blank = dice.one(&[" ", "   ", "\t"]);
        let mut row = vec![dice.one(&ELEMENTS).to_owned(), dice.numbers(3, 60.0, blank)];
        if momenta {
            row.push(dice.numbers(3, 2.0, blank));
        }
        if masses {
            row.push(format!("{:.4}", 1.0 + dice.below(99) as f64 * 1.7));
        }
        if charges {
            row.push(dice.number(1.0));
        }
        if more {
            row.push(dice.below(9).to_string());
        }
        text += &format!("{}{}{end}", dice.one(&["", "  "]), row.join(blank));
    }
    File { format: "extxyz", ending: "xyz", text, refused, renamed: BTreeMap::new() }
}

/// `.gro`.
pub fn gromacs(seed: u64) -> File {
    let mut dice = Dice::new(seed, 1);
    let count = 1 + dice.below(12);
    let velocities = dice.rare(2);
    // one in ten has an atom that is unlike the first
    let odd = (count > 1 && dice.rare(10)).then(|| 1 + dice.below(count - 1));
    let mut refused = odd.map(|_| "velocity");
    let end = dice.one(&["\n", "\r\n"]);
    let mut text = format!("{}{end}{count:5}{end}", dice.one(&["Argon, t= 1.0", "", "# 7 atoms"]));
    for row in 0..count {
        let id = (99_995 + row) % 100_000;
        text += &format!("{id:5}{:<5}{:>5}{id:5}", dice.one(&["SOL", "AR", "NA+"]), dice.one(&ELEMENTS));
        let mut vector = |width: usize, digits: usize, most: f64| {
            let three = [0; 3].map(|_| most * (2.0 * dice.0.random::<f64>() - 1.0));
            three.map(|number| format!("{number:width$.digits$}")).concat()
        };
        text += &vector(8, 3, 90.0);
        if velocities != (odd == Some(row)) {
            text += &vector(8, 4, 9.0);
        }
        text += end;
    }
    let edges: Vec<String> = (0..3).map(|_| format!("{:10.5}", dice.edge())).collect();
    text += &edges.concat();
    let off = match dice.below(6) {
        0 => "   0.00000".repeat(6),
        1 => {
            refused = refused.or(Some("rectangular"));
            format!("{}   1.50000   0.00000   0.00000", "   0.00000".repeat(3))
        }
        _ => String::new(),
    };
    text += &format!("{off}{end}");
    File { format: "gromacs", ending: "gro", text, refused, renamed: BTreeMap::new() }
}

/// LAMMPS data.
pub fn lammps(seed: u64) -> File {
    let mut dice = Dice::new(seed, 2);
    let (count, types) = (1 + dice.below(12), 1 + dice.below(4));
    let mut refused = None;
    let mut header = vec![format!("{count} atoms"), format!("{types} atom types"), "0 bonds".to_owned()];
    for d in ["x", "y", "z"] {
        let lower = -(dice.below(9) as f64);
        header.push(format!("{lower} {} {d}lo {d}hi", lower + dice.edge()));
    }
    match dice.below(8) {
        0 => {
            refused = Some("rectangular");
            header.push("0.5 0 0 xy xz yz".into());
        }
        1 => header.push("0.0 1e-16 0 xy xz yz".into()),
        _ => {}
    }
    // the order of the header is free
    for last in (1..header.len()).rev() {
        header.swap(last, dice.below(last + 1));
    }
    let mut text = format!(
        "{}\n\n{}\n\n",
        dice.one(&["LAMMPS data", "", "# a title"]),
        header.join(dice.one(&["\n", "\n\n", "  # remark\n"]))
    );
    let mut renamed = BTreeMap::new();
    if !dice.rare(4) {
        let comment = dice.below(3);
        text += "Masses\n\n";
        for kind in 1..=types {
            let mass = 1.0 + dice.below(99) as f64 * 1.7 + kind as f64;
            text += &match comment {
                0 => format!("{kind} {mass}\n"),
                1 => format!("  {kind}\t{mass} # amu\n"),
                _ => {
                    renamed.insert(kind.to_string(), format!("A{kind}"));
                    format!("{kind} {mass:.6e} # A{kind} of these\n")
                }
            };
        }
        text += "\n";
    }
    let style = dice.one(&["atomic", "charge", "full"]);
    let (images, velocities) = (dice.rare(2), dice.rare(2));
    let told = style == "charge" || dice.rare(2);
    text += &format!("Atoms{}\n\n", if told { format!("  # {style}") } else { String::new() });
    let mut ids: Vec<usize> = (1..=count).map(|id| 3 * id).collect();
    for last in (1..count).rev() {
        ids.swap(last, dice.below(last + 1));
    }
    for id in &ids {
        let kind = 1 + dice.below(types);
        let mut row = match style {
            "atomic" => format!("{id} {kind}"),
            "charge" => format!("{id} {kind} {}", dice.number(1.0)),
            _ => format!("{id} 1 {kind} {}", dice.number(1.0)),
        };
        row += &format!(" {}", dice.numbers(3, 60.0, " "));
        if images {
            row += &format!(" {} -1 2", dice.below(3));
        }
        text += &format!("{row}\n");
    }
    if velocities {
        // one in ten lacks one
        let lacking = dice.rare(10);
        refused = refused.or(lacking.then_some("velocity"));
        ids.sort_unstable();
        let lines = ids.iter().skip(usize::from(lacking));
        text += "\nVelocities\n\n";
        text += &lines.map(|id| format!("{id} {}\n", dice.numbers(3, 5.0, "  "))).collect::<String>();
    }
    File { format: "lammps-data", ending: "data", text, refused, renamed }
}
