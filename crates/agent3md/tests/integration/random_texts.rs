//! The properties of the fuzz target on random documents, with a stable compiler.
//!
//! `PROPTEST_CASES=1000000 cargo test -p agent3md random_texts` runs longer.

use proptest::prelude::*;
use proptest::test_runner::Config;

use crate::property::{agreement, soundness, text};

proptest! {
    #![proptest_config(Config { failure_persistence: None, ..Config::default() })]

    #[test]
    fn the_reference_parser_reads_any_text_the_same_way(text in text::text()) {
        agreement::agrees(&text);
    }

    #[test]
    fn every_part_holds_for_any_text(text in text::text()) {
        soundness::holds(&text);
    }
}
