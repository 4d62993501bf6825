//! Converts the id of a function to the name of its tool, and back.
//!
//! A tool's name has 1 to 128 characters of `[A-Za-z0-9_.-]`. `::` becomes `__`. Characters that a
//! name may contain stay; any other is escaped as `_.`, its code point in hex, and `.`. An
//! underscore that could be read as the start of `__` or of an escape is escaped too, so no two
//! functions have the same name.

use std::fmt::Write;

use super::limits::MAX_NAME_LENGTH;

/// The name of a function's tool; `None` if it would be empty or too long.
pub fn tool_name(function: &str) -> Option<String> {
    let mut name = String::with_capacity(function.len());
    let mut rest = function;
    while let Some(c) = rest.chars().next() {
        if let Some(after) = rest.strip_prefix("::") {
            name.push_str("__");
            rest = after;
            continue;
        }
        rest = &rest[c.len_utf8()..];
        let plain = match c {
            '_' => rest
                .chars()
                .next()
                .is_none_or(|next| is_plain(next) && next != '.'),
            c => is_plain(c),
        };
        if plain {
            name.push(c);
        } else {
            // Writing to a `String` cannot fail.
            let _ = write!(name, "_.{:x}.", u32::from(c));
        }
        if name.len() > MAX_NAME_LENGTH {
            return None;
        }
    }
    (!name.is_empty() && name.len() <= MAX_NAME_LENGTH).then_some(name)
}

/// The function whose tool has this name; `None` if no function can have it.
pub fn function_id(name: &str) -> Option<String> {
    let mut function = String::with_capacity(name.len());
    let mut rest = name;
    while let Some(c) = rest.chars().next() {
        if let Some(after) = rest.strip_prefix("__") {
            function.push_str("::");
            rest = after;
        } else if let Some(after) = rest.strip_prefix("_.") {
            let (number, after) = after.split_once('.')?;
            function.push(char::from_u32(u32::from_str_radix(number, 16).ok()?)?);
            rest = after;
        } else {
            function.push(c);
            rest = &rest[c.len_utf8()..];
        }
    }
    // Only the name that `tool_name` returns is valid, not every spelling that decodes.
    (tool_name(&function).as_deref() == Some(name)).then_some(function)
}

fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '.' | '-')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check(function: &str, name: &str) {
        assert_eq!(tool_name(function).as_deref(), Some(name), "for {function}");
        assert_eq!(function_id(name).as_deref(), Some(function), "for {name}");
    }

    #[test]
    fn functions_and_their_names() {
        check("skill::fetch", "skill__fetch");
        check("resend::email::send", "resend__email__send");
        check("a_b::c-d.e", "a_b__c-d.e");
        check("a__b", "a_.5f._b");
        check("a::_b", "a___b");
        check("a_::b", "a_.5f.__b");
        check("a_.b", "a_.5f..b");
        check("a:b", "a_.3a.b");
        check("a_/b", "a_.5f._.2f.b");
        check("é", "_.e9.");
        check("end_", "end_");
    }

    #[test]
    fn names_that_no_function_has() {
        for name in [
            "",
            "_.61.",
            "a_.zz.b",
            "a_.5f",
            "a_.110000.",
            "a b",
            "_.5f.b",
        ] {
            assert_eq!(function_id(name), None, "for {name:?}");
        }
        assert_eq!(tool_name(""), None);
        assert_eq!(tool_name(&"a".repeat(MAX_NAME_LENGTH + 1)), None);
        assert!(tool_name(&"a".repeat(MAX_NAME_LENGTH)).is_some());
    }

    proptest! {
        #[test]
        fn every_name_decodes_to_its_function(function in "[a-z_:./é -]{0,24}|\\PC{0,12}") {
            if let Some(name) = tool_name(&function) {
                prop_assert_eq!(function_id(&name), Some(function));
                let fits = |c: char| c.is_ascii_alphanumeric() || "_.-".contains(c);
                prop_assert!(name.len() <= MAX_NAME_LENGTH && name.chars().all(fits));
            }
        }

        #[test]
        fn a_name_that_decodes_is_the_name_of_its_function(name in "[a_.5f-]{0,16}") {
            if let Some(function) = function_id(&name) {
                prop_assert_eq!(tool_name(&function), Some(name));
            }
        }
    }
}
