//! Suggestions for mistyped names.

/// Longer names are not compared: the cost grows with the square of the length.
const COMPARED_MAX: usize = 128;

/// The name closest to `asked`, if it is close enough to suggest: at most a third of the
/// characters differ, or the last segment is the same (`email` for `resend/email`).
pub fn nearest<'a>(asked: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let last = |name: &str| name.rsplit('/').next().map(str::to_owned);
    let asked_last = last(asked);
    let max = (asked.len() / 3).max(1);
    let mut best: Option<(usize, &str)> = None;
    for name in names {
        let distance = if asked.len() <= COMPARED_MAX && name.len().abs_diff(asked.len()) <= max {
            strsim::osa_distance(asked, name)
        } else {
            usize::MAX
        };
        let distance = match distance {
            d if d <= max => d,
            _ if last(name) == asked_last => max + 1,
            _ => continue,
        };
        if best.is_none_or(|(least, _)| distance < least) {
            best = Some((distance, name));
        }
    }
    best.map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(asked: &str, expected: Option<&str>) {
        let names = ["resend", "resend/email", "resend/email/send", "brain"];
        assert_eq!(nearest(asked, names.into_iter()), expected, "for {asked:?}");
    }

    #[test]
    fn suggestions() {
        check("resend/emial", Some("resend/email"));
        check("resnd", Some("resend"));
        check("email", Some("resend/email"));
        check("brian", Some("brain"));
        check("zebra", None);
        check(&"x".repeat(1000), None);
    }
}
