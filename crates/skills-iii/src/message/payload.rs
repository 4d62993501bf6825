//! The input or the output of a call.

use std::ops::Deref;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

use super::Raw;

/// JSON text that belongs to one call, or that several share: the calls of one event, the results
/// of one list.
#[derive(Clone, Debug)]
pub enum Payload {
    /// Of one call.
    Owned(Raw),
    /// Of several calls.
    Shared {
        /// The text.
        text: Arc<RawValue>,
        /// The part of its bytes that this call counts for.
        weight: usize,
    },
}

impl Payload {
    /// About how many bytes it occupies in memory.
    pub(super) fn weight(&self) -> usize {
        match self {
            Self::Owned(text) => text.get().len(),
            Self::Shared { weight, .. } => *weight,
        }
    }

    /// Text that several results share. Each counts for all of it.
    pub(crate) fn shared(text: Arc<RawValue>) -> Self {
        let weight = text.get().len();
        Self::Shared { text, weight }
    }

    /// The text alone, copied if it is shared.
    pub(crate) fn into_raw(self) -> Raw {
        match self {
            Self::Owned(text) => text,
            Self::Shared { text, .. } => (*text).to_owned(),
        }
    }
}

impl Deref for Payload {
    type Target = RawValue;

    fn deref(&self) -> &RawValue {
        match self {
            Self::Owned(text) => text,
            Self::Shared { text, .. } => text,
        }
    }
}

impl AsRef<[u8]> for Payload {
    fn as_ref(&self) -> &[u8] {
        self.get().as_bytes()
    }
}

impl Default for Payload {
    fn default() -> Self {
        Self::Owned(Raw::default())
    }
}

impl From<Raw> for Payload {
    fn from(text: Raw) -> Self {
        Self::Owned(text)
    }
}

impl Serialize for Payload {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        (**self).serialize(to)
    }
}

impl<'de> Deserialize<'de> for Payload {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Raw::deserialize(from).map(Self::Owned)
    }
}
