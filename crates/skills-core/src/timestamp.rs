//! Times: RFC 3339 as rows and lists have them, and milliseconds since 1970 to count with. This
//! registry writes them in UTC with `Z`; others write `+00:00`.

const DAY_MS: u64 = 86_400_000;
const MINUTE_MS: u64 = 60_000;

/// The milliseconds since 1970 of a time such as `2026-01-01T00:00:00.123456Z`. `None` if it is
/// another text, or earlier.
pub(crate) fn to_unix_ms(text: &str) -> Option<u64> {
    let (date, time) = text.split_once('T')?;
    let offset = time.find(['Z', '+', '-'])?;
    let (time, offset) = time.split_at(offset);
    let (is_ahead, offset_ms) = offset_ms(offset)?;
    let (time, fraction) = time.split_once('.').unwrap_or((time, "0"));
    let mut date = date.splitn(3, '-').map(number);
    let (year, month, day) = (date.next()??, date.next()??, date.next()??);
    let mut time = time.splitn(3, ':').map(number);
    let (hour, minute, second) = (time.next()??, time.next()??, time.next()??);
    let in_range = (1..=12).contains(&month)
        && (1..=31).contains(&day)
        && hour < 24
        && minute < 60
        && second <= 60
        && (1970..=9999).contains(&year);
    if !in_range {
        return None;
    }
    number(fraction)?;
    let digits = fraction.chars().chain("000".chars()).take(3);
    let ms = number(&digits.collect::<String>())?;
    let seconds = (hour * 60 + minute) * 60 + second;
    let local = days_since_1970(year, month, day) * DAY_MS + seconds * 1_000 + ms;
    if is_ahead {
        local.checked_sub(offset_ms)
    } else {
        Some(local + offset_ms)
    }
}

/// An offset from UTC, `Z` or `+01:30`: whether it is ahead of UTC, and by how much it differs.
fn offset_ms(text: &str) -> Option<(bool, u64)> {
    let (is_ahead, offset) = match text.split_at_checked(1)? {
        ("Z", "") => return Some((true, 0)),
        ("+", offset) => (true, offset),
        ("-", offset) => (false, offset),
        _ => return None,
    };
    let (hours, minutes) = offset.split_once(':')?;
    let has_two_digits = hours.len() == 2 && minutes.len() == 2;
    let (hours, minutes) = (number(hours)?, number(minutes)?);
    let in_range = has_two_digits && hours < 24 && minutes < 60;
    in_range.then_some((is_ahead, (hours * 60 + minutes) * MINUTE_MS))
}

/// The reverse, with milliseconds.
pub(crate) fn from_unix_ms(ms: u64) -> String {
    let (days, rest) = (ms / DAY_MS, ms % DAY_MS);
    let mut year = 1970 + days / 366;
    while days_since_1970(year + 1, 1, 1) <= days {
        year += 1;
    }
    let mut month = 1;
    while month < 12 && days_since_1970(year, month + 1, 1) <= days {
        month += 1;
    }
    let day = days - days_since_1970(year, month, 1) + 1;
    let (seconds, ms) = (rest / 1_000, rest % 1_000);
    let (hour, minute, second) = (seconds / 3_600, seconds / 60 % 60, seconds % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{ms:03}Z")
}

fn number(digits: &str) -> Option<u64> {
    let is_digits = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_digits.then(|| digits.parse().ok()).flatten()
}

/// The days from 1970-01-01 to a date of 1970 or later.
fn days_since_1970(year: u64, month: u64, day: u64) -> u64 {
    const BEFORE: [u64; 12] = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334];
    let leap_days = |year: u64| year / 4 - year / 100 + year / 400;
    let is_leap = leap_days(year) > leap_days(year - 1);
    let before = usize::try_from(month - 1).map_or(0, |month| BEFORE[month]);
    let leap_day = u64::from(is_leap && month > 2);
    (year - 1970) * 365 + leap_days(year - 1) - leap_days(1969) + before + leap_day + day - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_their_milliseconds() {
        for (text, ms) in [
            ("1970-01-01T00:00:00.000Z", 0),
            ("2000-02-29T12:00:00.500Z", 951_825_600_500),
            ("2000-03-01T00:00:00.000Z", 951_868_800_000),
            ("2023-11-14T22:13:20.000Z", 1_700_000_000_000),
            ("2024-12-31T23:59:59.999Z", 1_735_689_599_999),
            ("2100-03-01T00:00:00.000Z", 4_107_542_400_000),
            ("9999-12-31T23:59:59.999Z", 253_402_300_799_999),
        ] {
            assert_eq!(to_unix_ms(text), Some(ms), "{text}");
            assert_eq!(from_unix_ms(ms), text);
        }
    }

    #[test]
    fn other_precisions_and_other_texts() {
        let ms = |text| to_unix_ms(text);
        assert_eq!(ms("2023-11-14T22:13:20Z"), Some(1_700_000_000_000));
        assert_eq!(ms("2023-11-14T22:13:20.1Z"), Some(1_700_000_000_100));
        assert_eq!(
            ms("2023-11-14T22:13:20.123456789Z"),
            Some(1_700_000_000_123)
        );
        // As other registries write them.
        assert_eq!(
            ms("2023-11-14T22:13:20.123456789+00:00"),
            Some(1_700_000_000_123)
        );
        assert_eq!(ms("2023-11-15T00:13:20+02:00"), Some(1_700_000_000_000));
        assert_eq!(ms("2023-11-14T18:43:20-03:30"), Some(1_700_000_000_000));
        for text in [
            "",
            "t",
            "2023-11-14",
            "2023-11-14T22:13:20",
            "2023-11-14T22:13:20+01",
            "2023-11-14T22:13:20+0100",
            "2023-11-14T22:13:20+24:00",
            "2023-11-14T22:13:20+00:60",
            "2023-11-14T22:13:20+1:000",
            "2023-11-14T22:13:20Z+00:00",
            "2023-11-14T22:13:20+é:00",
            "1970-01-01T00:30:00+01:00",
            "2023-13-14T22:13:20Z",
            "2023-11-14T24:13:20Z",
            "2023-11-14T22:13:20.x1Z",
            "1969-11-14T22:13:20Z",
            "10000-11-14T22:13:20Z",
            "2023-1é-14T22:13:20Z",
        ] {
            assert_eq!(ms(text), None, "{text:?}");
        }
    }
}
