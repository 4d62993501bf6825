//! Values that clients of Agent Skills read differently: some read YAML 1.1, others YAML 1.2.
//!
//! Both agree on quoted values, so only plain ones are examined, line by line.

/// What the versions of YAML read in a front matter that they read differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Difference<'a> {
    /// The value or the key, as written.
    pub text: &'a str,
    /// What some versions read: a phrase such as "a date".
    pub meaning: &'static str,
}

/// The first key or value that has another meaning in another version of YAML.
pub fn first_difference(yaml: &str) -> Option<Difference<'_>> {
    let mut lines = yaml.lines().peekable();
    while let Some(line) = lines.next() {
        let indent = line.len() - line.trim_start().len();
        let (key, value) = key_and_value(line.trim());
        if let Some(found) = key.and_then(difference).or_else(|| in_value(value)) {
            return Some(found);
        }
        let is_deeper = |next: &str| {
            let text = next.trim_start();
            text.is_empty() || next.len() - text.len() > indent
        };
        // The lines of a block, or the rest of a quoted text, are text.
        if value.starts_with(['|', '>']) || is_open_quote(value) {
            while lines.next_if(|next| is_deeper(next)).is_some() {}
        }
    }
    None
}

/// The key and the value of a line; no key in a list or without one.
fn key_and_value(line: &str) -> (Option<&str>, &str) {
    let mut line = line;
    while let Some(item) = line.strip_prefix("- ") {
        line = item.trim_start();
    }
    if line.starts_with(['#', '"', '\'', '[', '{']) {
        let quoted = line.split_once("\": ").or_else(|| line.split_once("': "));
        return (None, quoted.map_or(line, |(_, value)| value.trim_start()));
    }
    match line.split_once(": ") {
        Some((key, value)) => (Some(key), value.trim_start()),
        None => match line.strip_suffix(':') {
            Some(key) => (Some(key), ""),
            None => (None, line),
        },
    }
}

fn in_value(value: &str) -> Option<Difference<'_>> {
    if value.starts_with('#') {
        return None;
    }
    if !value.starts_with(['[', '{']) {
        let plain = value.split(" #").next().unwrap_or_default().trim_end();
        return difference(plain);
    }
    let mut parts = value.split([',', '[', ']', '{', '}']).map(str::trim);
    parts.find_map(|part| match part.split_once(": ") {
        Some((key, value)) => difference(key).or_else(|| difference(value.trim())),
        None => difference(part),
    })
}

/// Whether a quoted text ends on a later line.
fn is_open_quote(value: &str) -> bool {
    let quote = value.chars().next().filter(|c| matches!(c, '"' | '\''));
    quote.is_some_and(|quote| !value[1..].contains(quote))
}

fn difference(text: &str) -> Option<Difference<'_>> {
    let meaning = meaning(text)?;
    Some(Difference { text, meaning })
}

/// What some versions read in a plain scalar that others read as something else.
fn meaning(text: &str) -> Option<&'static str> {
    const WORDS: [&str; 4] = ["yes", "no", "on", "off"];
    let lower = text.to_ascii_lowercase();
    // A word of the list has ASCII letters only.
    let is_one_case =
        || text == lower || text == lower.to_ascii_uppercase() || text[1..] == lower[1..];
    if WORDS.contains(&&*lower) && is_one_case() {
        return Some("true or false");
    }
    if text == "<<" {
        return Some("an instruction to merge");
    }
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    if matches!(&*lower, ".nan") || unsigned.eq_ignore_ascii_case(".inf") {
        return Some("a number that JSON does not have");
    }
    if !unsigned.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    is_date(text)
        .then_some("a date")
        .or_else(|| is_ambiguous_number(unsigned).then_some("a number"))
}

/// `2026-01-31`, alone or before a time.
fn is_date(text: &str) -> bool {
    let date = text.split(['T', 't', ' ']).next().unwrap_or_default();
    let rest = &text[date.len()..];
    let parts: Vec<_> = date.split('-').collect();
    let is_number = |part: &&str, lengths: &[usize]| {
        lengths.contains(&part.len()) && part.bytes().all(|b| b.is_ascii_digit())
    };
    let [year, month, day] = &parts[..] else {
        return false;
    };
    is_number(year, &[4])
        && is_number(month, &[1, 2])
        && is_number(day, &[1, 2])
        && (rest.is_empty() || rest.contains(':'))
}

/// A number in one version only, or another number: octal, binary, with underscores, in base
/// sixty, or with an exponent and no point.
fn is_ambiguous_number(unsigned: &str) -> bool {
    let is_all =
        |text: &str, allowed: fn(u8) -> bool| !text.is_empty() && text.bytes().all(allowed);
    let is_digit = |b: u8| b.is_ascii_digit();
    let is_octal = unsigned.len() > 1
        && unsigned.starts_with('0')
        && is_all(unsigned, |b| matches!(b, b'0'..=b'9' | b'_'));
    let prefixed = unsigned.strip_prefix("0o").or(unsigned.strip_prefix("0b"));
    let is_prefixed =
        prefixed.is_some_and(|rest| is_all(rest, |b| b.is_ascii_digit() || b == b'_'));
    let is_spaced = unsigned.contains('_')
        && is_all(unsigned, |b| b.is_ascii_digit() || matches!(b, b'_' | b'.'));
    let is_base_sixty = unsigned.contains(':')
        && unsigned
            .split(':')
            .all(|part| is_all(part, |b| b.is_ascii_digit() || b == b'.'));
    let exponent = unsigned.split_once(['e', 'E']);
    let is_power = exponent.is_some_and(|(base, power)| {
        let digits = power.strip_prefix(['-', '+']).unwrap_or(power);
        let is_signed = digits.len() < power.len();
        // YAML 1.1 requires a point and a sign.
        is_all(digits, is_digit)
            && is_all(base, |b| b.is_ascii_digit() || b == b'.')
            && !(base.contains('.') && is_signed)
    });
    is_octal || is_prefixed || is_spaced || is_base_sixty || is_power
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(yaml: &str, expected: Option<(&str, &str)>) {
        let found = first_difference(yaml);
        let found = found.map(|found| (found.text, found.meaning));
        assert_eq!(found, expected, "for {yaml:?}");
    }

    #[test]
    fn letters_of_every_script_are_text() {
        for word in [
            "\u{c9}mile",
            "\u{fffd}",
            "\u{6570}\u{636e}",
            "\u{1f600}",
            "n\u{f6}",
            "y\u{e9}s",
        ] {
            check(&format!("a: {word}"), None);
            check(&format!("a: [{word}, {word}: {word}]"), None);
        }
    }

    #[test]
    fn plain_values_that_change_their_meaning() {
        for word in ["yes", "No", "ON", "off"] {
            check(&format!("a: {word}"), Some((word, "true or false")));
        }
        for date in [
            "2026-01-31",
            "2026-1-3",
            "2026-01-31T10:00:00Z",
            "2026-01-31 10:00:00",
        ] {
            check(&format!("a: {date}  # when"), Some((date, "a date")));
        }
        for number in [
            "012", "0o14", "0b11", "1_000", "12:30", "1e3", "-1E5", "1.5e3", "00",
        ] {
            check(&format!("- a: {number}"), Some((number, "a number")));
        }
        check(
            "a: -.inf",
            Some(("-.inf", "a number that JSON does not have")),
        );
        check("on: x", Some(("on", "true or false")));
        check("a:\n  - x\n  - yes", Some(("yes", "true or false")));
        check("a: [x, 'yes', no]", Some(("no", "true or false")));
        check("a: {b: 1, c: 010}", Some(("010", "a number")));
        check("<<: {a: b}", Some(("<<", "an instruction to merge")));
    }

    #[test]
    fn values_on_which_all_versions_agree() {
        for value in [
            "true",
            "1.0",
            "12",
            "-5",
            "0",
            "1.5e+3",
            "0.5",
            "null",
            "~",
            "'yes'",
            "\"012\"",
            "yesterday",
            "yEs",
            "2026",
            "1.2.3",
            "v1_0",
            "a: b",
            "12:ab",
            "2026-01",
            "x # yes",
            "[a, \"2026-01-01\"]",
        ] {
            check(&format!("a: {value}"), None);
        }
        check("a: |\n  yes\n  b: no\n\n  on: x\nb: c", None);
        check("a: >-\n  2026-01-01\n", None);
        check("a: \"b\n  c: yes\"\nd: e", None);
        check("# a: yes\nb: c", None);
        check("a: Use it\n  with care", None);
        check("", None);
    }
}
