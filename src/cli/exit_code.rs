//! Exit codes, and which kind of error ends with which.

use skills_core::Kind;

/// Success. A closed stdout counts as success too.
pub const OK: u8 = 0;
/// Damaged data, a failing disk, a function that failed, or a bug.
pub const BROKEN: u8 = 1;
/// The command line or some input is invalid.
pub const INVALID: u8 = 2;
/// The requested entry does not exist.
pub const NOT_FOUND: u8 = 3;
/// Access is refused.
pub const FORBIDDEN: u8 = 4;
/// An engine or worker is not running, or did not respond in time.
pub const UNAVAILABLE: u8 = 5;
/// The request contradicts what is stored.
pub const CONFLICT: u8 = 6;

/// Every exit code with its meaning, for the manual page. The README has the same table.
pub const EXIT_CODES: &[(u8, &str)] = &[
    (OK, "fine"),
    (BROKEN, "broken, or a function failed"),
    (INVALID, "invalid use"),
    (NOT_FOUND, "not found"),
    (FORBIDDEN, "forbidden"),
    (UNAVAILABLE, "unavailable or timed out"),
    (CONFLICT, "in conflict with what is stored"),
];

/// The exit code of a kind of error.
pub const fn exit_code(kind: Kind) -> u8 {
    match kind {
        Kind::Broken | Kind::Failed => BROKEN,
        Kind::Invalid => INVALID,
        Kind::NotFound => NOT_FOUND,
        Kind::Forbidden => FORBIDDEN,
        Kind::Unavailable | Kind::TimedOut => UNAVAILABLE,
        Kind::Conflict => CONFLICT,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exit_codes_are_as_documented() {
        let codes = [
            (Kind::Broken, 1),
            (Kind::Failed, 1),
            (Kind::Invalid, 2),
            (Kind::NotFound, 3),
            (Kind::Forbidden, 4),
            (Kind::Unavailable, 5),
            (Kind::TimedOut, 5),
            (Kind::Conflict, 6),
        ];
        for (kind, code) in codes {
            assert_eq!(exit_code(kind), code, "for {kind:?}");
        }
    }
}
