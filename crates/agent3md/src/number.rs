//! Positions: parsed by the grammar of 3md, printed as JavaScript prints numbers.

use serde::ser::Error as _;
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

/// Parses `[+-]? (digits [. digits?] | . digits) ([eE][+-]?digits)?`; finite values only.
pub(crate) fn parse(text: &str) -> Option<f64> {
    let digits = |rest: &str| rest.bytes().take_while(u8::is_ascii_digit).count();
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let whole = digits(unsigned);
    let mut rest = &unsigned[whole..];
    let mut fraction = 0;
    if let Some(after) = rest.strip_prefix('.') {
        fraction = digits(after);
        rest = &after[fraction..];
    }
    if whole + fraction == 0 {
        return None;
    }
    if let Some(exponent) = rest.strip_prefix(['e', 'E']) {
        let exponent = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
        if exponent.is_empty() || digits(exponent) != exponent.len() {
            return None;
        }
    } else if !rest.is_empty() {
        return None;
    }
    // The grammar above is a subset of Rust's, without `inf` and `nan`.
    text.parse().ok().filter(|value: &f64| value.is_finite())
}

/// A position as a hash key: `0`, `0.0` and `-0` are equal.
pub(crate) fn key(z: f64) -> u64 {
    (z + 0.0).to_bits()
}

/// Prints a number as JavaScript does: `1`, `4.5`, `1e+21`, `1e-7`, and `0` for minus zero.
pub fn js_number(value: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    let shortest = format!("{:e}", value.abs());
    let sign = if value < 0.0 { "-" } else { "" };
    let Some((digits, exponent)) = shortest.split_once('e') else {
        return value.to_string();
    };
    let digits = even_of_two(value.abs(), digits.replace('.', ""));
    let Ok(exponent) = exponent.parse::<i32>() else {
        return value.to_string();
    };
    let count = i32::try_from(digits.len()).unwrap_or(i32::MAX);
    // The number of digits before the decimal point, as in ECMAScript's Number::toString.
    let point = exponent + 1;
    let split = usize::try_from(point).unwrap_or(0).min(digits.len());
    let (head, tail) = digits.split_at(split);
    match point {
        _ if (count..=21).contains(&point) => {
            let zeros = usize::try_from(point - count).unwrap_or(0);
            format!("{sign}{digits}{}", "0".repeat(zeros))
        }
        1..=21 => format!("{sign}{head}.{tail}"),
        -5..=0 => format!(
            "{sign}0.{}{digits}",
            "0".repeat(usize::try_from(-point).unwrap_or(0))
        ),
        _ => {
            let (first, more) = digits.split_at(1);
            let dot = if more.is_empty() { "" } else { "." };
            let plus = if exponent > 0 { "+" } else { "" };
            format!("{sign}{first}{dot}{more}e{plus}{exponent}")
        }
    }
}

/// If two shortest decimals are equally near the value, JavaScript prints the even one and Rust
/// the larger one, as for 2054169835519019.25.
fn even_of_two(value: f64, digits: String) -> String {
    // Up to fifteen digits identify one number, so there is no second candidate.
    if digits.len() < 16 {
        return digits;
    }
    // Exact: no f64 has more than 767 significant digits.
    let exact = format!("{value:.767e}");
    let (exact, exponent) = exact.split_once('e').unwrap_or((&exact, "0"));
    let exact = exact.replace('.', "");
    let (kept, rest) = exact.split_at(digits.len());
    let Ok(lower) = kept.parse::<u64>() else {
        return digits;
    };
    if rest.trim_end_matches('0') != "5" {
        return digits;
    }
    let even = (lower + lower % 2).to_string();
    let (first, more) = even.split_at(1);
    let same = format!("{first}.{more}e{exponent}").parse() == Ok(value);
    if same && even.len() == digits.len() {
        even
    } else {
        digits
    }
}

/// A number that is serialized with the characters of [`js_number`].
pub(crate) struct Number(pub(crate) f64);

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        RawValue::from_string(js_number(self.0))
            .map_err(S::Error::custom)?
            .serialize(to)
    }
}

/// [`Number`] for a field's `serialize_with`.
#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes fields by reference"
)]
pub(crate) fn serialize<S: Serializer>(value: &f64, to: S) -> Result<S::Ok, S::Error> {
    Number(*value).serialize(to)
}

#[cfg(test)]
mod tests {
    use super::{js_number, key, parse};

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let shown = parse(text).map_or_else(|| "bad".to_owned(), js_number);
        assert_eq!(shown, expected, "for {text:?}");
    }

    #[test]
    fn numbers_follow_the_grammar_and_print_like_javascript() {
        for (text, expected) in [
            ("1", "1"),
            ("+1", "1"),
            ("-7", "-7"),
            ("007", "7"),
            ("4.5", "4.5"),
            ("1.", "1"),
            (".5", "0.5"),
            ("-.5e1", "-5"),
            ("1E3", "1000"),
            ("-0", "0"),
            ("0.0", "0"),
            ("1e21", "1e+21"),
            ("1e20", "100000000000000000000"),
            ("1e-7", "1e-7"),
            ("0.000001", "0.000001"),
            ("1.5e-7", "1.5e-7"),
            ("123456789012345680000", "123456789012345680000"),
            ("1.7976931348623157e308", "1.7976931348623157e+308"),
            ("5e-324", "5e-324"),
            ("1e-400", "0"),
            ("-1e-400", "0"),
            ("0.1", "0.1"),
            ("12345.678", "12345.678"),
            ("-1.25e+25", "-1.25e+25"),
            ("2054169835519019.25", "2054169835519019.2"),
            ("1581441390836240.25", "1581441390836240.2"),
            ("1581441390836240.75", "1581441390836240.8"),
            ("9007199254740993", "9007199254740992"),
        ] {
            check(text, expected);
        }
    }

    #[test]
    fn anything_else_is_not_a_number() {
        for text in [
            "", "+", "-", ".", "+.", "e1", "1e", "1e+", "1.e", "1e1.5", " 1", "1 ", "0x10", "inf",
            "NaN", "infinity", "1_000", "１", "--1", "1e400", "-1e400", "1\r", "1..2",
        ] {
            check(text, "bad");
        }
        check("1.e5", "100000");
    }

    #[test]
    fn both_zeros_have_the_same_key() {
        assert_eq!(key(0.0), key(-0.0));
        assert_ne!(key(1.0), key(-1.0));
    }
}
