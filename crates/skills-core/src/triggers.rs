//! The phrases that call for a skill, as its front matter declares them.
//!
//! `triggers:` is one line of phrases with commas between them, a list in brackets, or a list with
//! one `- phrase` on each line. That much of YAML is read here; anything else declares nothing.

use std::sync::Arc;

/// Phrases, as declared.
pub type Triggers = Arc<[Arc<str>]>;

/// The triggers in a front matter; none if it declares none.
pub fn triggers(front_matter: &str) -> Option<Triggers> {
    let mut lines = front_matter.lines();
    let value = lines
        .by_ref()
        .find_map(|line| line.strip_prefix("triggers:"))?;
    let value = value.trim();
    let phrases: Vec<Arc<str>> = if value.is_empty() || value.starts_with('#') {
        let mut lines = lines.map(str::trim);
        let item = |line: &str| line.strip_prefix('-').map(|item| unquoted(item.trim()));
        let items = lines.by_ref().map_while(|line| match line {
            "" => Some(None),
            line if line.starts_with('#') => Some(None),
            line => item(line).map(Some),
        });
        items.flatten().map(Into::into).collect()
    } else if let Some(open) = value.strip_prefix('[') {
        let mut list = open.to_owned();
        for line in lines {
            if outside_quotes(&list, ']').next().is_some() {
                break;
            }
            list.push(' ');
            list.push_str(line.trim());
        }
        let end = outside_quotes(&list, ']').next()?;
        split(&list[..end])
    } else {
        split(&unquoted(value))
    };
    let phrases: Vec<_> = phrases.into_iter().filter(|p| !p.is_empty()).collect();
    (!phrases.is_empty()).then(|| phrases.into())
}

fn split(list: &str) -> Vec<Arc<str>> {
    let mut items = Vec::new();
    let mut start = 0;
    for end in outside_quotes(list, ',').chain([list.len()]) {
        items.push(unquoted(list[start..end].trim()).into());
        start = end + 1;
    }
    items
}

/// Where a character stands that is not inside quotes. A quote opens only where an item does, so
/// that an apostrophe is none.
fn outside_quotes(text: &str, wanted: char) -> impl Iterator<Item = usize> {
    let mut quote = None;
    let mut fresh = true;
    text.char_indices().filter_map(move |(at, c)| {
        match (quote, c) {
            (Some(open), c) if open == c => quote = None,
            (Some(_), _) => return None,
            (None, '\'' | '"') if fresh => quote = Some(c),
            (None, c) => {
                fresh = c == ',' || (fresh && c.is_whitespace());
                return (c == wanted).then_some(at);
            }
        }
        fresh = false;
        None
    })
}

fn unquoted(text: &str) -> String {
    let within = |quote: char| text.strip_prefix(quote)?.strip_suffix(quote);
    match (within('"'), within('\'')) {
        (Some(text), _) => text.replace("\\\"", "\"").replace("\\\\", "\\"),
        (None, Some(text)) => text.replace("''", "'"),
        (None, None) => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(front_matter: &str, expected: &[&str]) {
        let got = triggers(front_matter).unwrap_or_default();
        let got: Vec<&str> = got.iter().map(|phrase| &**phrase).collect();
        assert_eq!(got, expected, "for {front_matter:?}");
    }

    #[test]
    fn declarations() {
        check("triggers: find code, grep\n", &["find code", "grep"]);
        check(
            "a: 1\r\ntriggers: \"find code, grep\"\r\n",
            &["find code", "grep"],
        );
        check(
            "triggers: don't panic, it's fine\n",
            &["don't panic", "it's fine"],
        );
        check(
            "triggers: [find code, 'a, b', \"c\"]\n",
            &["find code", "a, b", "c"],
        );
        check("triggers: [it's, 'b']\n", &["it's", "b"]);
        check("triggers: [\n  one,\n  two,\n]\nb: 2\n", &["one", "two"]);
        check(
            "triggers:\n  - one\n  # no\n\n  - \"two, three\"\nb: - 2\n",
            &["one", "two, three"],
        );
        check("triggers:\n- one\n- ''\n", &["one"]);
        check("x:\n  triggers: nested\n", &[]);
        check("triggers:\n", &[]);
        check("triggers: ,,\n", &[]);
        check("triggers: [never closed\n", &[]);
        check("triggers: [']\n", &[]);
        check("", &[]);
    }
}
