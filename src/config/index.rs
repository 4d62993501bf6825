//! The section `index:` of the configuration.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use serde::Serialize;
use serde_json::Value;
use skills_core::index::MIN_BYTES;
use skills_core::limits::INDEX_BYTES;

/// How long the index may be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct IndexSettings {
    /// The most bytes of a text of the index; beyond, subtrees are folded.
    pub max_bytes: usize,
}

impl Default for IndexSettings {
    fn default() -> Self {
        Self {
            max_bytes: INDEX_BYTES,
        }
    }
}

const MAX_BYTES: RangeInclusive<usize> = MIN_BYTES..=(16 << 20);

impl IndexSettings {
    /// Applies the settings of a file; returns a warning for each that is not valid.
    pub(super) fn apply(&mut self, given: BTreeMap<String, Value>) -> Vec<String> {
        let mut warnings = Vec::new();
        for (name, value) in given {
            if name != "max_bytes" {
                warnings.push(format!("`index.{name}` is not a setting; ignored"));
                continue;
            }
            let number = value.as_u64().and_then(|number| number.try_into().ok());
            match number.filter(|number| MAX_BYTES.contains(number)) {
                Some(number) => self.max_bytes = number,
                None => warnings.push(format!(
                    "`index.max_bytes` must be a number from {} to {}, not {value}; {} applies",
                    MAX_BYTES.start(),
                    MAX_BYTES.end(),
                    self.max_bytes
                )),
            }
        }
        warnings
    }
}
