//! Addresses and what they refer to.

use super::*;
use crate::Kind;

#[track_caller]
fn check(uri: &str, expected: &str) {
    let got = match uri.parse::<ResourceUri>() {
        Ok(ResourceUri::Index) => "index".into(),
        Ok(ResourceUri::IndexPart(part)) => format!("part {part}"),
        Ok(ResourceUri::Skill(id)) => format!("skill {id}"),
        Ok(ResourceUri::SkillFrom(origin, id)) => format!("{origin} skill {id}"),
        Ok(ResourceUri::Version(id, version)) => format!("version {version} of {id}"),
        Ok(ResourceUri::File(path)) => format!("file {path}"),
        Ok(ResourceUri::Section(function)) => format!("call {function}"),
        Ok(part @ ResourceUri::Part { .. }) => format!("part {part}"),
        Err(error) => error.to_text(),
    };
    assert!(
        got.contains(expected),
        "for {uri:?}: {got:?} has no {expected:?}"
    );
}

#[test]
fn addresses() {
    check("iii://skills", "index");
    check(" iii://skills\n", "index");
    check("iii://skills/x", "skill skills/x");
    check("iii://resend/email/send", "skill resend/email/send");
    check("iii://docs/fn/x", "skill docs/fn/x");
    check("iii://fn/foo", "call foo");
    check("iii://fn/a/b/c/d", "call a::b::c::d");
    check("iii://fn/skill/fetch", "call skill::fetch");
    check("iii://fn", "names no function");
    check("iii://fn/", "address `iii://fn/` has an empty segment");
    check("iii://fn/a//b", "segments must be non-empty");
    check("iii://fn/iii.on_x", "has '.'; use lowercase");
    check("iii://fn/state/set", "internal namespace");
    check("iii://fn/skills/register", "internal namespace");
    check("iii://fn/stream/x", "internal namespace");
    check("iii://", "id must be non-empty");
    check("iii:///a", "non-empty");
    check("iii://a/", "part iii://a/");
    check("iii://a/b/?pages", "part iii://a/b/?pages");
    check("iii://skills?from=a/b", "part iii://skills?from=a/b");
    check("iii://skills/", "reserved for the index");
    check("iii://skills?x", "unknown query `x`");
    check("iii://a/?from=A", "lowercase");
    check("iii://a//", "non-empty");
    check("iii:///", "non-empty");
    check("iii://fn/a/", "non-empty");
    check("iii://a//b", "non-empty");
    check("iii://Skills", "lowercase");
    check("iii://a#b-c", "part iii://a#b-c");
    check("iii://a#%C3%BC", "part iii://a#\u{fc}");
    check("iii://a/b?toc", "part iii://a/b?toc");
    check("iii://fn/a#b", "part iii://fn/a#b");
    check("skill://a/B.md?toc", "part skill://a/B.md?toc");
    check("skill://a/B.py?toc", "file a/B.py?toc");
    check("iii://a#", "names no heading");
    check("iii://skills#a", "has no headings");
    check("iii://a/?toc", "has no headings");
    check("iii://a?toc#b", "has no headings");
    check("iii://A#b", "lowercase");
    check("iii://a?x", "unknown query `x`");
    check("skill://pdf/SKILL.md", "file pdf/SKILL.md");
    check("skill://pdf/a%20b/C.py", "file pdf/a b/C.py");
    check("skill://pdf", "names no file of a skill");
    check("skill://Pdf/SKILL.md", "names no file of a skill");
    check("skill://pdf/../x", "other than `.` and `..`");
    check("skill://pdf/%2e%2e/x", "other than `.` and `..`");
    check("skill://", "non-empty");
    check("iii://@files/a/b", "fs skill a/b");
    check("iii://@agents/a", "3md skill a");
    check("iii://@state/a", "state skill a");
    check("iii://@files/a#b", "part iii://@files/a#b");
    check("iii://@files/a?toc", "part iii://@files/a?toc");
    check("iii://@x/a", "unknown origin `@x` (there are `@state`");
    check("iii://@files", "id must be non-empty");
    check("iii://@files/", "id must be non-empty");
    check("iii://@files/A", "lowercase");
    check("iii://@files/skills", "reserved for the index");
    check("iii://a%2Fb%403", "version 3 of a/b");
    check("iii://a/b@3", "version 3 of a/b");
    check("iii://a@sha256:ab12", "version sha256:ab12 of a");
    check("iii://a@3#b", "part iii://a@3#b");
    check("iii://a@sha256:ab12?toc", "part iii://a@sha256:ab12?toc");
    check("iii://a@0", "version `0` must be at least 1");
    check("iii://a@", "is not a number from 1 or a digest");
    check("iii://a@x", "is not a number from 1 or a digest");
    check("iii://a@1@2", "is not a number from 1 or a digest");
    check("iii://a@sha256:AB12", "of 0-9 and a-f");
    check("iii://skills@3", "reserved for the index");
    check("iii://fn/a@3", "segment `a@3` has '@'");
    check("iii://A@3", "lowercase");
    check("iii://@state/a@3", "has '@'");
    check("iii://guides%2Fstyle", "skill guides/style");
    check("iii://guides%2fstyle%2F", "part iii://guides/style/");
    check(
        "iii://%67uides/style#%C3%BC",
        "part iii://guides/style#\u{fc}",
    );
    check("iii://a%2Fb?toc", "part iii://a/b?toc");
    check("iii://skills?from=a%2Fb", "part iii://skills?from=a/b");
    check("iii://%40files%2Fa", "fs skill a");
    check("iii://fn%2Fa%2Fb", "call a::b");
    check("iii://fn/a%2Fb", "call a::b");
    check("iii://fn%2Fstate%2Fset", "internal namespace");
    check("iii://%66n/state%2Fset", "internal namespace");
    check("iii://fn%2F", "non-empty");
    check("iii://guides%252Fstyle", "has '%'; use lowercase");
    check("iii://a%2F%2Fb", "non-empty");
    check("iii://a%2F..%2Fb", "has '.'; use lowercase");
    check("iii://a/%2e%2e/b", "has '.'; use lowercase");
    check("iii://a%3Ftoc", "has '?'; use lowercase");
    check("iii://skills%3Fpages", "has '?'; use lowercase");
    check("iii://a%23b", "has '#'; use lowercase");
    check("iii://a%2", "two hexadecimal digits of UTF-8");
    check("iii://a%ff", "two hexadecimal digits of UTF-8");
    check("https://x", "must start with `iii://`");
    check("III://skills", "must start with `iii://`");
    check("", "must start with `iii://`");
    check(&format!("iii://{}", "a/".repeat(600)), "too long");
    check(&format!("iii://fn/{}", "a/".repeat(600)), "too long");
}

#[test]
fn a_heading_with_hidden_characters_is_refused() {
    for slug in ["x%0A---", "\u{1b}[31mred", "a\u{202e}b", &"b".repeat(1_025)] {
        check(&format!("iii://a#{slug}"), "names a heading with control");
    }
}

#[test]
fn an_old_function_link_is_not_found_and_the_error_has_the_new_form() {
    check("iii://x/worker::fn", "iii://fn/worker/fn");
    check("iii://x/state::get", "iii://fn/state/get");
    let error = "iii://brain/brain::summarize"
        .parse::<ResourceUri>()
        .unwrap_err();
    assert_eq!(error.kind(), Kind::NotFound);
    assert!(error.to_string().contains("not found"));
}

#[test]
fn an_address_is_printed_as_written() {
    for text in [
        "iii://skills",
        "iii://a/b",
        "iii://@files/a/b",
        "iii://a/b@12",
        "iii://a@sha256:ab12#c",
        "iii://@state/a?toc",
        "iii://a/b/",
        "iii://a/?from=a/b",
        "iii://skills?pages",
        "iii://fn/a/b",
        "iii://a/b#c-1",
        "iii://a?toc",
        "skill://a/B%20c.md",
    ] {
        assert_eq!(text.parse::<ResourceUri>().unwrap().to_string(), text);
    }
}
