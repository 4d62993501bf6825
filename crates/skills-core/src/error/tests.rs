//! The text and the kind of a batch of errors.

use super::*;

#[test]
fn a_batch_failure_names_every_address_and_keeps_the_first_kind() {
    let missing = || Error::NoSuchSkill {
        id: "a".parse().unwrap(),
        nearest: Some("b".into()),
    };
    let one = Error::Unread(vec![("iii://a".into(), missing())]);
    assert_eq!(
        one.to_string(),
        "could not read iii://a: skill not found: a"
    );
    assert_eq!(one.hint().as_deref(), Some("did you mean `b`?"));
    let two = Error::Unread(vec![
        ("iii://a".into(), missing()),
        ("iii://x".into(), Error::invalid("x", "is odd")),
    ]);
    assert_eq!(two.kind(), Kind::NotFound);
    assert!(two.to_string().contains("- iii://a: skill not found: a"));
    assert!(two.to_string().contains("- iii://x: x is odd"));
}
