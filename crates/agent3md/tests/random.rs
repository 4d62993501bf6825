//! The properties of the fuzz targets, on random texts and with a stable compiler.
//!
//! `PROPTEST_CASES=1000000 cargo test -p agent3md --test random` runs longer.

mod property;

use proptest::prelude::*;
use proptest::test_runner::Config;

proptest! {
    #![proptest_config(Config { failure_persistence: None, ..Config::default() })]

    #[test]
    fn every_part_holds_for_any_text(text in property::text::text()) {
        property::soundness::holds(&text);
    }
}
