//! Our parser against an independent one, on documents mutated at random.
//!
//! `PROPTEST_CASES=1000000 cargo test -p agent3md --test differential` runs longer.

mod property;

use proptest::prelude::*;
use proptest::test_runner::Config;

proptest! {
    #![proptest_config(Config { failure_persistence: None, ..Config::default() })]

    #[test]
    fn both_parsers_read_any_text_the_same_way(text in property::text::text()) {
        property::agreement::agrees(&text);
    }
}
