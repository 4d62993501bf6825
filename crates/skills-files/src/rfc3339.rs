//! Times as the registry writes them.

use std::time::SystemTime;

const FORMAT: &str = "%Y-%m-%dT%H:%M:%S%.6fZ";

/// A time as RFC 3339 in UTC with microseconds; `None` outside the years it can express.
pub fn rfc3339(time: SystemTime) -> Option<String> {
    let time = jiff::Timestamp::try_from(time).ok()?;
    Some(time.strftime(FORMAT).to_string())
}

/// The time of a clock, as rows have it: of a wrong clock the nearest time from which leases can
/// count, from 1970 to the year 9999.
pub fn clock_time(clock: SystemTime) -> String {
    let known = rfc3339(clock.max(SystemTime::UNIX_EPOCH));
    known.unwrap_or_else(|| jiff::Timestamp::MAX.strftime(FORMAT).to_string())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn times_have_microseconds_and_a_range() {
        let after = |since| SystemTime::UNIX_EPOCH + since;
        let time = after(Duration::from_micros(1_700_000_000_000_012));
        assert_eq!(
            rfc3339(time).as_deref(),
            Some("2023-11-14T22:13:20.000012Z")
        );
        assert_eq!(rfc3339(after(Duration::from_secs(1 << 40))), None);
    }

    #[test]
    fn a_wrong_clock_has_the_nearest_time() {
        let epoch = SystemTime::UNIX_EPOCH;
        let seconds = Duration::from_secs;
        for (clock, expected) in [
            (epoch - seconds(1), "1970-01-01T00:00:00.000000Z"),
            (epoch, "1970-01-01T00:00:00.000000Z"),
            (epoch + seconds(1), "1970-01-01T00:00:01.000000Z"),
            // 9999-12-31T23:59:00Z.
            (
                epoch + seconds(253_402_300_740),
                "9999-12-30T22:00:00.999999Z",
            ),
            (epoch + seconds(1 << 40), "9999-12-30T22:00:00.999999Z"),
        ] {
            assert_eq!(clock_time(clock), expected);
        }
    }
}
