//! Text tables with aligned columns.

/// Formats `rows` below `header`: first column left-aligned, the others right-aligned, a rule below the
/// header.
///
/// Rows may be shorter than the header; missing cells are blank. A last column with an empty header is
/// left-aligned (remarks).
pub fn table(header: &[&str], rows: &[Vec<String>]) -> String {
    let cell = |row: &[String], column: usize| row.get(column).cloned().unwrap_or_default();
    let widths: Vec<usize> = (0..header.len())
        .map(|column| {
            let widest = rows.iter().map(|row| cell(row, column).chars().count()).max().unwrap_or(0);
            widest.max(header[column].chars().count())
        })
        .collect();
    let format_row = |cells: Vec<String>| {
        let mut text = String::new();
        for (column, content) in cells.iter().enumerate() {
            let width = widths[column];
            let remark = column + 1 == header.len() && header[column].is_empty();
            if column > 0 {
                text.push_str("  ");
            }
            if column == 0 || remark {
                text.push_str(&format!("{content:<width$}"));
            } else {
                text.push_str(&format!("{content:>width$}"));
            }
        }
        text.trim_end().to_owned()
    };
    let mut lines = vec![format_row(header.iter().map(|&name| name.to_owned()).collect())];
    lines.push("─".repeat(widths.iter().sum::<usize>() + 2 * widths.len().saturating_sub(1)));
    lines.extend(
        rows.iter().map(|row| format_row((0..header.len()).map(|column| cell(row, column)).collect())),
    );
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_align() {
        let rows = vec![
            vec!["domain".to_string(), "0.25".into(), "first".into()],
            vec!["gravity".into(), "12.5".into()],
        ];
        let text = table(&["phase", "s", ""], &rows);
        assert_eq!(text, "phase       s\n────────────────────\ndomain   0.25  first\ngravity  12.5");
    }

    #[test]
    fn an_empty_table_is_its_header() {
        assert_eq!(table(&["a"], &[]), "a\n─");
    }
}
