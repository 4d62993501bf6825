//! Times as the registry writes them.

use std::time::SystemTime;

/// A time as RFC 3339 in UTC with microseconds; `None` outside the years it can express.
pub fn rfc3339(time: SystemTime) -> Option<String> {
    let time = jiff::Timestamp::try_from(time).ok()?;
    Some(time.strftime("%Y-%m-%dT%H:%M:%S%.6fZ").to_string())
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
}
