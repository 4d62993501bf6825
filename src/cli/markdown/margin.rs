//! What stands before the lines of quotes and list items.

/// Deeper lists and quotes are shown at this depth.
const DEEPEST: usize = 12;
/// Text is not made narrower than this, however deep it is nested.
const NARROWEST: usize = 16;

/// The margins that are open, from the outermost.
#[derive(Default)]
pub struct Margins(Vec<Margin>);

struct Margin {
    /// Before the first line, until that is written.
    first: Option<String>,
    rest: String,
    columns: usize,
}

impl Margins {
    pub fn open(&mut self, first: Option<String>, rest: String, columns: usize) {
        let is_shown = self.0.len() < DEEPEST;
        self.0.push(Margin {
            first,
            rest: if is_shown { rest } else { String::new() },
            columns: if is_shown { columns } else { 0 },
        });
    }

    pub fn close(&mut self) {
        self.0.pop();
    }

    /// Whether the next line is the first of an item.
    pub fn begins_item(&self) -> bool {
        self.0.last().is_some_and(|margin| margin.first.is_some())
    }

    /// The columns that are left of a width.
    pub fn room(&self, width: usize) -> usize {
        let margins: usize = self.0.iter().map(|margin| margin.columns).sum();
        let room = width.saturating_sub(margins);
        room.max(NARROWEST.min(width))
    }

    /// Appends a line.
    pub fn line(&mut self, out: &mut String, text: &str) {
        let start = out.len();
        for margin in &mut self.0 {
            match margin.first.take() {
                Some(first) => out.push_str(&first),
                None => out.push_str(&margin.rest),
            }
        }
        out.push_str(text);
        let end = out.trim_end_matches(' ').len().max(start);
        out.truncate(end);
        out.push('\n');
    }

    /// Appends an empty line.
    pub fn empty_line(&self, out: &mut String) {
        let margin: String = self.0.iter().map(|it| it.rest.as_str()).collect();
        out.push_str(margin.trim_end());
        out.push('\n');
    }
}
