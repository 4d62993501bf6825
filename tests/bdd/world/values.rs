//! Values in feature files: blocks, tables, JSON and invisible characters.

use cucumber::gherkin::Step;
use serde_json::Value;

/// The indented block under a step, without its indentation and last newline.
#[track_caller]
pub fn block(step: &Step) -> String {
    let text = step
        .docstring
        .as_deref()
        .expect("the step needs a block of text");
    let text = text
        .strip_prefix('\n')
        .unwrap_or(text)
        .trim_end_matches(' ');
    text.strip_suffix('\n').unwrap_or(text).to_owned()
}

/// The block under a step, as JSON.
#[track_caller]
pub fn json(step: &Step) -> Value {
    parsed(&block(step))
}

/// A text as JSON.
#[track_caller]
pub fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|e| panic!("not JSON: {e}\n{text}"))
}

/// The table under a step, whose first row must be these titles.
#[track_caller]
pub fn table<const N: usize>(step: &Step, titles: [&str; N]) -> Vec<[String; N]> {
    let table = step.table.as_ref().expect("the step needs a table");
    let (first, rows) = table.rows.split_first().expect("the table needs titles");
    assert_eq!(first, &titles, "the titles of the table");
    let row = |row: &Vec<String>| row.clone().try_into().expect("every row has as many cells");
    rows.iter().map(row).collect()
}

/// The single column under a step, without a title.
#[track_caller]
pub fn column(step: &Step) -> Vec<String> {
    let table = step.table.as_ref().expect("the step needs a table");
    table.rows.iter().map(|row| row.join(" ")).collect()
}

/// Replaces the symbols of invisible characters: `␀` is NUL, `␇` a bell, `␉` a tab, `␊` a line
/// feed, `␠` a space, `␡` a delete.
pub fn visible_to_raw(text: &str) -> String {
    let character = |c: char| match c {
        '\u{2400}'..='\u{2420}' => char::from_u32(u32::from(c) - 0x2400).unwrap_or(c),
        '\u{2421}' => '\u{7f}',
        _ => c,
    };
    text.chars().map(character).collect()
}

/// An id of this length in segments of seven letters.
pub fn id_of(bytes: usize) -> String {
    let mut id = "abcdefg/".repeat(bytes / 8 + 1);
    id.truncate(bytes);
    if id.ends_with('/') {
        id.pop();
        id.push('z');
    }
    id
}

/// Whether a text is an RFC 3339 time in UTC.
pub fn is_time(text: &str) -> bool {
    let Some((date, clock)) = text.split_once('T') else {
        return false;
    };
    let Some(clock) = clock.strip_suffix('Z') else {
        return false;
    };
    let (clock, fraction) = clock.split_once('.').unwrap_or((clock, "0"));
    let shaped = |text: &str, between: char, lengths: &[usize]| {
        let parts: Vec<&str> = text.split(between).collect();
        parts
            .iter()
            .map(|part| part.len())
            .eq(lengths.iter().copied())
            && parts
                .iter()
                .all(|part| part.bytes().all(|b| b.is_ascii_digit()))
    };
    shaped(date, '-', &[4, 2, 2])
        && shaped(clock, ':', &[2, 2, 2])
        && !fraction.is_empty()
        && fraction.bytes().all(|b| b.is_ascii_digit())
}

/// A list without the marks of its entries, which other steps are about.
pub fn without_marks(list: &Value, entries: &str) -> Value {
    let mut list = list.clone();
    let entries = list[entries].as_array_mut().expect("a list of entries");
    for entry in entries {
        let entry = entry.as_object_mut().expect("an entry is an object");
        entry.remove("hides");
    }
    list
}

/// Replaces every valid `registered_at` with `{time}`.
pub fn timeless(value: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().map(timeless).collect(),
        Value::Object(fields) => {
            let field = |(name, value): (&String, &Value)| {
                let time = name == "registered_at" && value.as_str().is_some_and(is_time);
                (
                    name.clone(),
                    if time {
                        "{time}".into()
                    } else {
                        timeless(value)
                    },
                )
            };
            fields.iter().map(field).collect()
        }
        _ => value.clone(),
    }
}
