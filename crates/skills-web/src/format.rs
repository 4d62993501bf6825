//! Sizes, times and origins as people read them.

use std::time::Duration;

use maud::{Markup, html};
use serde_json::Value;
use serde_json::value::RawValue;
use skills_core::{LeaseHead, Match, Origin, SkillCard, marks};

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

/// "3 days 2 h", "5 min 12 s".
pub fn duration(time: Duration) -> String {
    let seconds = time.as_secs();
    let (days, hours, minutes) = (seconds / 86_400, seconds / 3_600 % 24, seconds / 60 % 60);
    match (days, hours, minutes) {
        (0, 0, 0) => format!("{seconds} s"),
        (0, 0, _) => format!("{minutes} min {} s", seconds % 60),
        (0, ..) => format!("{hours} h {minutes} min"),
        (1, ..) => format!("1 day {hours} h"),
        _ => format!("{days} days {hours} h"),
    }
}

/// Who keeps an entry registered, and until when.
pub fn lease(lease: &LeaseHead) -> Markup {
    html! {
        @if let Some(owner) = &lease.owner { span { "owner " (owner) } }
        @if let Some(ends) = &lease.expires_at {
            span.warn[lease.stale] {
                @if lease.stale { "stale: lease ended " } @else { "lease ends " }
                (time(ends))
            }
        }
    }
}

/// JSON with a field on each line.
pub fn json_text(json: &RawValue) -> String {
    let value: Result<Value, _> = serde_json::from_str(json.get());
    let text = value.and_then(|value| serde_json::to_string_pretty(&value));
    text.unwrap_or_else(|_| json.get().to_owned())
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

/// A text with the words of a request that a match has.
pub fn marked(text: &str, found: &Match) -> Markup {
    let words = found.why.iter().map(|reason| &*reason.word);
    let mut at = 0;
    html! {
        @for place in marks(text, words) {
            (&text[std::mem::replace(&mut at, place.end)..place.start])
            mark { (&text[place]) }
        }
        (&text[at..])
    }
}

/// A share from 0 to 1 as a whole number of hundredths.
pub fn percent(share: f32) -> u8 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "it is within 0 and 100"
    )]
    let percent = (share.clamp(0.0, 1.0) * 100.0).round() as u8;
    percent
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
        for (seconds, expected) in [
            (5, "5 s"),
            (65, "1 min 5 s"),
            (3_700, "1 h 1 min"),
            (90_000, "1 day 1 h"),
            (180_000, "2 days 2 h"),
        ] {
            assert_eq!(duration(Duration::from_secs(seconds)), expected);
        }
        assert!(time("<odd>").into_string().contains("&lt;odd&gt;"));
    }
}
