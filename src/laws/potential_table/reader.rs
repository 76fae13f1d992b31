//! Reader of LAMMPS `pair_style table` files, GROMACS .xvg tables, and plain columns of distance,
//! energy and force.

use std::collections::HashSet;

use super::section::{COLUMNS, FORMATS, MOST_ROWS, Section, shown};
use super::{MAX_BYTES, Rows, TableMistake, mistake};

/// Reads all sections of a file. The format follows from the content.
///
/// - LAMMPS (`pair_write`): distances of sections with R or RSQ are computed from the index, as LAMMPS does.
///   FPRIME (or FP), the slopes of the force at both ends of LAMMPS's spline, is not used: the Hermite
///   interpolation of [`Rows::evaluate`] has no free end slopes.
/// - GROMACS, 7 columns r, f, -f', g, -g', h, -h': the potential is g + h; f must be zero, or 1/r, which
///   [interaction.coulomb] computes. GROMACS
///   multiplies g by the C6 and h by the C12 of its topology. Here both factors are 1, so that g and h must
///   include C6 and C12.
/// - Three columns r, V, -dV/dr: a GROMACS table or plain text.
///
/// Leading rows with zero energy and force are skipped in the last two formats: GROMACS writes them below its
/// first usable distance.
///
/// # Errors
/// Files above 64 MB or 1,000,000 rows, and rows that are not as described. [`Rows::check`] is separate.
pub fn read(text: &str) -> Result<Vec<Rows>, TableMistake> {
    if text.len() as u64 > MAX_BYTES {
        return mistake(0, "the file is larger than 64 MB", "Write a table of fewer rows or digits.");
    }
    let (mut tables, mut names, mut row_count) = (Vec::new(), HashSet::new(), 0);
    let mut current: Option<Section> = None;
    for (line, content) in (1..).zip(text.trim_start_matches('\u{feff}').lines()) {
        let content = content.split('#').next().unwrap_or("").trim();
        let Some(first) = content.split_whitespace().next().filter(|word| !word.starts_with('@')) else {
            continue;
        };
        let numeric = first.parse::<f64>().is_ok() && !first.starts_with(char::is_alphabetic);
        if let Some(section) = current.take_if(|section| section.rows.len() == section.row_count) {
            tables.push(section.finish()?);
            if numeric {
                return mistake(line, "the section has more rows than its N", "Correct N or remove rows.");
            }
        }
        match &mut current {
            Some(section) if section.columns == 0 => section.read_parameters(content, line)?,
            Some(section) => {
                section.read_row(content, line)?;
                row_count += 1;
            }
            None if numeric => {
                let columns = content.split_whitespace().take(COLUMNS + 1).count();
                if columns != 3 && columns != COLUMNS {
                    return mistake(line, format!("a row has {columns} columns instead of 3 or 7"), FORMATS);
                }
                let mut section = Section::new("", line, columns);
                section.read_row(content, line)?;
                current = Some(section);
                row_count += 1;
            }
            None => {
                if !names.insert(first) {
                    let message = format!("a second section has the keyword {}", shown(first));
                    return mistake(line, message, "Give every section a keyword of its own.");
                }
                current = Some(Section::new(first, line, 0));
            }
        }
        if row_count > MOST_ROWS {
            return mistake(line, "the file has more than 1,000,000 rows", "Write fewer rows.");
        }
    }
    if let Some(section) = current {
        tables.push(section.finish()?);
    }
    if tables.is_empty() { mistake(0, "the file has no rows", FORMATS) } else { Ok(tables) }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{general, lennard_jones, pair_write, spaced};
    use super::*;

    fn refused(text: &str) -> TableMistake {
        read(text).unwrap_err()
    }

    /// GROMACS' table6-12.xvg: every 0.002 nm to 3 nm, from 0.04 nm, with `coulomb` times 1/r;
    /// as `%g` prints if `strip`, else as `%e`.
    fn gromacs(digits: usize, coulomb: f64, strip: bool) -> String {
        let mut text = String::from("# Table\n@ title \"r f\"\n");
        for k in 0..=1500 {
            let r = k as f64 * 0.002;
            let [f, g, h] = [(1, coulomb), (6, -1.0), (12, 1.0)]
                .map(|(n, factor)| [factor * r.powi(-n), factor * n as f64 * r.powi(-n - 1)]);
            let values = if k < 20 { [0.0; 6] } else { [f[0], f[1], g[0], g[1], h[0], h[1]] };
            for value in [r].iter().chain(&values) {
                text += &if strip { general(*value, digits) } else { format!("{value:.*e}", digits - 1) };
                text += "  ";
            }
            text += "\n";
        }
        text
    }

    /// Plain rows at r = 1.0, 1.1, 1.2, ... with one line replaced.
    fn plain(line: usize, replacement: &str) -> String {
        let row = |k: usize| {
            if k == line { replacement.into() } else { format!("{:.1} 1 0", 0.9 + 0.1 * k as f64) }
        };
        (1..9).map(row).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn lammps_sections_are_read() {
        for power in [1, 2] {
            let one = pair_write(500, power, 15, lennard_jones);
            let two = one.replace("LJ\n", "Second # comment\n").replace(" 0.7 2.49", " 0.7 2.49 FPRIME -1 2");
            let tables = read(&(one + "\r\n" + &two)).unwrap();
            let names: Vec<_> = tables.iter().map(|table| table.name.as_str()).collect();
            assert_eq!(names, ["LJ", "Second"]);
            for table in tables {
                assert_eq!((table.distance.len(), table.energy.len(), table.force.len()), (500, 500, 500));
                assert_eq!(table.distance, spaced(500, 0.7, 2.49, power).collect::<Vec<_>>());
                assert!((table.energy[0] / lennard_jones(0.7)[0] - 1.0).abs() < 1e-12);
                assert_eq!(table.check(), Ok(()));
            }
        }
        // the distances have fewer digits than the bounds
        let rows = (1..5).map(|k| format!("{k} {k}.00000 1 0\n")).collect::<String>();
        let tables = read(&format!("A\nN 4 R 1.000003 4.000003\n\n{rows}")).unwrap();
        let shifts = tables[0].distance.iter().zip(1..).map(|(distance, k)| distance - k as f64);
        assert!(shifts.into_iter().all(|shift| (shift - 3e-6).abs() < 1e-12));
        let by_column = pair_write(50, 1, 10, lennard_jones).replace(" R 0.7 2.49", "");
        assert_eq!(read(&by_column).unwrap()[0].check(), Ok(()));
    }

    #[test]
    fn wrong_lammps_sections_are_refused() {
        let good = pair_write(5, 1, 6, lennard_jones);
        let third = general(0.7 + 1.79 / 2.0, 6);
        let cases = [
            (good.replace(" R ", " BITMAP "), 5, "BITMAP orders rows by the bits"),
            (good.replace(" R ", " RSQ "), 8, "R or RSQ give"),
            (good.replace(&third, "1.59501"), 9, "the distance is 1.59501, but N and R or RSQ give 1.595"),
            (good.replace("N 5", "N 6"), 4, "5 rows instead of 6"),
            (good.replace("N 5 R 0.7 2.49", "N 4"), 11, "more rows than its N"),
            (good.replace("N 5", "N five"), 5, "N lacks a number"),
            (good.replace("N 5", "N 5.5"), 5, "not an integer"),
            (good.replace("N 5", "N 1e9"), 5, "not an integer"),
            (good.replace("N 5", ""), 5, "lacks N"),
            (good.replace("2.49", "FPRIME"), 5, "R lacks a number"),
            (good.replace("R 0.7", "Z 0.7"), 5, "\"Z\" is not a parameter"),
            (good.replace("\n3 ", "\n4 "), 9, "the index is 4 instead of 3"),
            (good.clone() + &good, 15, "a second section has the keyword \"LJ\""),
        ];
        for (text, line, message) in cases {
            let found = refused(&text);
            assert!(found.line == line && found.message.contains(message), "{found}\n{text}");
            assert!(!found.help.is_empty());
        }
    }

    #[test]
    fn gromacs_tables_are_read() {
        for (digits, strip) in [(6, true), (6, false), (11, false), (15, true)] {
            let tables = read(&gromacs(digits, 0.0, strip)).unwrap();
            let table = &tables[0];
            assert_eq!((table.distance.len(), table.line[0], table.distance[0]), (1481, 23, 0.04));
            assert!((table.energy[0] / 5.96046e16 - 1.0).abs() < 1e-5);
            assert_eq!(table.check(), Ok(()), "{digits} digits");
            for row in (0..1481).step_by(7).filter(|row| table.force[*row].abs() > 0.1 || *row > 700) {
                for factor in [-1.0, 1.1] {
                    let mut bad = table.clone();
                    bad.force[row] *= factor;
                    assert!(bad.check().unwrap_err().line.abs_diff(table.line[row]) <= 1, "{row} {factor}");
                }
            }
        }
        // a column of zeros is exact
        let row = |r: f64| format!("{r:.2} 0 0 0 0 {:.9e} {:.9e}\n", r.powi(-12), 12.0 * r.powi(-13));
        let mut repulsion =
            read(&(50..200).map(|k| row(0.01 * k as f64)).collect::<String>()).unwrap().remove(0);
        assert_eq!(repulsion.check(), Ok(()));
        repulsion.force[149] *= 1.1;
        assert_eq!(repulsion.check().unwrap_err().line, 150);
        // the tables of GROMACS itself have 1/r in the columns of charges, which are not used
        let with_coulomb = read(&gromacs(6, 1.0, true)).unwrap();
        assert_eq!(with_coulomb, read(&gromacs(6, 0.0, true)).unwrap());
        let found = refused(&gromacs(6, 2.0, true));
        assert!(found.line == 23 && found.message.contains("Coulomb"), "{found}");
        let three: String = (0..200)
            .map(|k| {
                let r = k as f64 * 0.01;
                let [energy, force] = if k < 70 { [0.0; 2] } else { lennard_jones(r) };
                format!("{r:.6} {energy:.8} {force:.8}\n")
            })
            .collect();
        let table = &read(&three).unwrap()[0];
        assert_eq!((table.distance.len(), table.line[0], table.check()), (130, 71, Ok(())));
    }

    #[test]
    fn wrong_rows_are_refused() {
        assert_eq!(read(&plain(0, "")).unwrap()[0].check(), Ok(()));
        for (replacement, message) in [
            ("1.0 1 0", "not larger"),
            ("-1 1 0", "not larger"),
            ("1.2 1", "2 columns"),
            ("1.2 1 0 0", "4 columns"),
            ("1.2 nan 0", "\"nan\" is not a finite"),
            ("1.2 1 inf", "not a finite"),
            ("1.2 1e999 0", "not a finite"),
            ("1.2 1,5 0", "\"1,5\" is not"),
            ("&", "1 columns"),
            ("1 2 3 4 5 6 7 8 9", "8 columns"),
        ] {
            let found = refused(&plain(3, replacement));
            assert!(found.line == 3 && found.message.contains(message), "{found}");
        }
        for text in ["", "\n\n", "# only\n@ comments", "\u{feff}"] {
            assert_eq!(refused(text).line, 0);
        }
        for (text, line) in [
            ("1 2 3\n2 2 2\n3 2 2", 1),
            ("-1 2 3\n1 2 2\n2 3 3\n3 4 4", 1),
            ("1 2 3 4", 1),
            ("a\nb", 2),
            ("0 0 0\n1 0 0", 0),
            ("<html>\n<body>", 2),
            ("word", 1),
            ("word\nR 1 2 N", 2),
            ("1 0 0 1e308 0 1e308 0\n2 0 0 1 0 1 0\n3 0 0 1 0 1 0\n4 0 0 1 0 1 0", 1),
        ] {
            assert!(refused(text).line.max(1) == line.max(1), "{text}: {}", refused(text));
        }
    }

    #[test]
    fn large_files_are_refused() {
        assert!(refused(&" ".repeat(MAX_BYTES as usize + 1)).message.contains("64 MB"));
        let rows: String = (1..=MOST_ROWS + 1).map(|k| format!("{k} 1 0\n")).collect();
        let found = refused(&rows);
        assert!(found.line == MOST_ROWS + 1 && found.message.contains("1,000,000"), "{found}");
    }

    #[test]
    fn arbitrary_text_never_panics() {
        let mut state = 1u64;
        let mut random = move |below: usize| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) as usize % below
        };
        let words = "1|2|3|-1e308|1e308|5e-324|0|nan|N|R|RSQ|LJ|\n|\n|#|@|1e99999999999|-|.|e|1e-400\
            |\u{0}|\u{e9}|4|\r|+inf|FPRIME|18446744073709551616";
        let words: Vec<&str> = words.split('|').collect();
        for _ in 0..20_000 {
            let bytes: Vec<u8> = (0..random(60)).map(|_| random(256) as u8).collect();
            let tokens: String =
                (0..random(80)).map(|_| format!("{} ", words[random(words.len())])).collect();
            let numbers: String = (0..random(12))
                .map(|k| {
                    let [a, b] = [0, 1].map(|_| words[random(7)]);
                    format!("{} {a} {b}\n", k + 1)
                })
                .collect();
            for text in [String::from_utf8_lossy(&bytes).into_owned(), tokens, numbers] {
                for table in read(&text).unwrap_or_default() {
                    let _ = (table.check(), table.evaluate(2.5));
                }
            }
        }
        for piece in ["x", "1 ", "9", "0", "\u{e9}", "1e", ".", "-"] {
            let long = piece.repeat(1_000_000 / piece.len());
            for text in
                [long.clone(), format!("LJ\n{long}"), format!("LJ\nN 4\n1 1 1 {long}"), format!("1 0 {long}")]
            {
                assert!(refused(&text).message.len() < 300);
            }
        }
    }
}
