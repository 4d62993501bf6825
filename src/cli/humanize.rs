//! Sizes, ages and counts in the form people read.

use jiff::Timestamp;

/// `12 B`, `1.5 KiB`, `3 MiB`.
pub fn size(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["B", "KiB", "MiB", "GiB"];
    let mut unit = 0;
    let mut tenths = bytes.saturating_mul(10);
    while tenths >= 10_240 && unit + 1 < UNITS.len() {
        tenths = (tenths + 512) / 1024;
        unit += 1;
    }
    match (tenths / 10, tenths % 10) {
        (whole, 0) => format!("{whole} {}", UNITS[unit]),
        (whole, _) if whole >= 100 => format!("{whole} {}", UNITS[unit]),
        (whole, tenth) => format!("{whole}.{tenth} {}", UNITS[unit]),
    }
}

/// The age of an RFC 3339 time: `now`, `5 min`, `3 h`, `12 d`; `-` for any other text.
pub fn age(at: &str, now: Timestamp) -> String {
    let Ok(at) = at.parse::<Timestamp>() else {
        return "-".into();
    };
    match now.as_second().saturating_sub(at.as_second()) {
        // The clock of another machine may be a little ahead.
        seconds if seconds < 60 => "now".into(),
        seconds if seconds < 3600 => format!("{} min", seconds / 60),
        seconds if seconds < 86_400 => format!("{} h", seconds / 3600),
        seconds => format!("{} d", seconds / 86_400),
    }
}

/// `1 skill`, `2 skills`.
pub fn count(number: usize, what: &str) -> String {
    if number == 1 {
        format!("1 {what}")
    } else {
        format!("{number} {what}s")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        let check = |bytes, expected: &str| assert_eq!(size(bytes), expected, "for {bytes}");
        check(0, "0 B");
        check(1023, "1023 B");
        check(1024, "1 KiB");
        check(1536, "1.5 KiB");
        check(262_144, "256 KiB");
        check(1_048_575, "1 MiB");
        check(5 << 30, "5 GiB");
        check(5 << 40, "5120 GiB");
    }

    #[test]
    fn ages() {
        let now: Timestamp = "2026-01-02T00:00:00Z".parse().unwrap();
        let check = |at, expected: &str| assert_eq!(age(at, now), expected, "for {at}");
        check("2026-01-01T23:59:30.123456Z", "now");
        check("2026-01-02T00:10:00Z", "now");
        check("2026-01-01T23:00:01Z", "59 min");
        check("2026-01-01T00:00:01Z", "23 h");
        check("2025-12-31T00:00:00Z", "2 d");
        check("", "-");
        check("yesterday", "-");
    }

    #[test]
    fn counts() {
        assert_eq!(
            [count(1, "skill"), count(0, "skill")],
            ["1 skill", "0 skills"]
        );
    }
}
