//! Sizes, times and origins as people read them.

use maud::{Markup, html};
use skills_core::{Origin, SkillCard};

/// "1.5 KiB".
pub fn size(bytes: usize) -> String {
    const KIB: usize = 1_024;
    const MIB: usize = KIB * KIB;
    let tenths = |unit: usize| format!("{}.{}", bytes / unit, bytes % unit * 10 / unit);
    match bytes {
        0..KIB => format!("{bytes} B"),
        KIB..MIB => format!("{} KiB", tenths(KIB)),
        _ => format!("{} MiB", tenths(MIB)),
    }
}

/// "1 skill", "2 skills".
pub fn count(number: usize, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {noun}{plural}")
}

/// A time of RFC 3339, to the minute.
pub fn time(text: &str) -> Markup {
    let shown = match (text.get(..10), text.get(11..16)) {
        (Some(date), Some(minute)) => format!("{date} {minute} UTC"),
        _ => text.to_owned(),
    };
    html! { time datetime=(text) { (shown) } }
}

/// Where a skill comes from.
pub fn origin(card: &SkillCard) -> &'static str {
    match (card.origin, card.files) {
        (Origin::State, _) => "registered",
        (Origin::Fs, None) => "file",
        (Origin::Fs, Some(_)) => "SKILL.md folder",
        (Origin::Agent3md, _) => "3md",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_times() {
        for (bytes, expected) in [
            (0, "0 B"),
            (1_023, "1023 B"),
            (1_024, "1.0 KiB"),
            (1_600, "1.5 KiB"),
            (3 * 1_024 * 1_024, "3.0 MiB"),
        ] {
            assert_eq!(size(bytes), expected);
        }
        assert_eq!(
            (count(1, "skill"), count(0, "skill")),
            ("1 skill".into(), "0 skills".into())
        );
        let shown = time("2026-11-18T11:20:05.123Z").into_string();
        assert!(shown.contains(">2026-11-18 11:20 UTC<"), "{shown}");
        assert!(time("<odd>").into_string().contains("&lt;odd&gt;"));
    }
}
