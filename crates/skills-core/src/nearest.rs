//! The existing name a mistyped one was probably meant to be.

/// Longer names are not compared letter by letter: the cost grows with the
/// square, and nobody types them by hand.
const COMPARABLE: usize = 128;

/// The closest of `names` to `asked`, if one is close enough to suggest.
///
/// Close is: a third of the letters at most differ, or the last segment is the
/// same (`email` for `resend/email`).
pub fn nearest<'a>(asked: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let last = |name: &str| name.rsplit('/').next().map(str::to_owned);
    let asked_last = last(asked);
    let most = (asked.len() / 3).max(1);
    let mut best: Option<(usize, &str)> = None;
    for name in names {
        let distance = if asked.len() <= COMPARABLE && name.len().abs_diff(asked.len()) <= most {
            strsim::osa_distance(asked, name)
        } else {
            usize::MAX
        };
        let distance = match distance {
            d if d <= most => d,
            _ if last(name) == asked_last => most + 1,
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
