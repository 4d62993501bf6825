//! Parses a frame into a [`Message`].
//!
//! The bodies are derived with serde, but the choice between them is not: serde's internally
//! tagged enums buffer the object before they parse it, and a buffered value cannot become a
//! [`RawValue`](serde_json::value::RawValue). So the `type` is read first, and then the frame is
//! parsed as the body of that type. [`Body`] sits between the two and collects the fields that
//! the body does not declare.

use std::borrow::Cow;
use std::fmt;

use serde::de::value::CowStrDeserializer;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, IntoDeserializer, MapAccess, Visitor};
use serde::{Deserialize, forward_to_deserialize_any};
use serde_json::Value;
use serde_json::value::RawValue;
use thiserror::Error;

use super::{Action, ErrorBody, Extra, Message, Payload, Raw, Unknown};

/// Why a frame is not a message.
#[derive(Debug, Error)]
pub enum BadMessage {
    /// Not JSON, not an object, or an object without a `type`.
    #[error("not a JSON object with a `type`: {0}")]
    NotAnObject(#[from] serde_json::Error),
    /// A binary frame that is not text.
    #[error("not UTF-8")]
    NotText,
    /// A field is missing or has a wrong value.
    #[error("invalid `{kind}` message: {cause}")]
    Invalid {
        /// The type of the message.
        kind: String,
        /// The problem.
        cause: serde_json::Error,
    },
}

impl Message {
    /// Parses one frame.
    pub fn parse(text: &str) -> Result<Self, BadMessage> {
        let kind = kind(text)?;
        let parsed = match &*kind {
            "workerregistered" => body(text).map(Self::WorkerRegistered),
            "registerfunction" => body_and_extra(text, Self::RegisterFunction, |b| &mut b.extra),
            "unregisterfunction" => body(text).map(Self::UnregisterFunction),
            "registertriggertype" => {
                body_and_extra(text, Self::RegisterTriggerType, |b| &mut b.extra)
            }
            "unregistertriggertype" => body(text).map(Self::UnregisterTriggerType),
            "registertrigger" => body_and_extra(text, Self::RegisterTrigger, |b| &mut b.extra),
            "triggerregistrationresult" => {
                body_and_extra(text, Self::TriggerRegistrationResult, |b| &mut b.extra)
            }
            "unregistertrigger" => body(text).map(Self::UnregisterTrigger),
            "invokefunction" => body_and_extra(text, Self::InvokeFunction, |b| &mut b.extra),
            "invocationresult" => body_and_extra(text, Self::InvocationResult, |b| &mut b.extra),
            "ping" => body(text).map(|IgnoredAny| Self::Ping),
            "pong" => body(text).map(|IgnoredAny| Self::Pong),
            "reattach" => body(text).map(Self::Reattach),
            "registrationrejected" => body(text).map(Self::RegistrationRejected),
            _ => RawValue::from_string(text.to_owned()).map(|text| {
                Self::Unknown(Unknown {
                    kind: kind.clone().into_owned(),
                    text,
                })
            }),
        };
        parsed.map_err(|cause| {
            if cause.is_data() {
                let kind = kind.into_owned();
                BadMessage::Invalid { kind, cause }
            } else {
                BadMessage::NotAnObject(cause)
            }
        })
    }
}

/// The `type` of a frame. Every known SDK writes it first; otherwise the frame is parsed to find
/// it.
fn kind(text: &str) -> Result<Cow<'_, str>, serde_json::Error> {
    #[derive(Deserialize)]
    struct Tag<'a> {
        #[serde(rename = "type", borrow)]
        kind: Cow<'a, str>,
    }
    let first = text.strip_prefix(r#"{"type":""#);
    match first.and_then(|rest| rest.split_once('"')) {
        Some((kind, _)) if !kind.contains('\\') => Ok(Cow::Borrowed(kind)),
        _ => body(text).map(|tag: Tag<'_>| tag.kind),
    }
}

fn body<'a, T: Deserialize<'a>>(text: &'a str) -> Result<T, serde_json::Error> {
    body_and_fields(text).map(|(body, _)| body)
}

fn body_and_extra<'a, T: Deserialize<'a>>(
    text: &'a str,
    message: impl FnOnce(Box<T>) -> Message,
    extra_of: impl FnOnce(&mut T) -> &mut Extra,
) -> Result<Message, serde_json::Error> {
    let (mut body, extra) = body_and_fields::<Box<T>>(text)?;
    *extra_of(&mut body) = extra;
    Ok(message(body))
}

fn body_and_fields<'a, T: Deserialize<'a>>(text: &'a str) -> Result<(T, Extra), serde_json::Error> {
    let mut extra = Extra::new();
    let mut json = serde_json::Deserializer::from_str(text);
    let body = T::deserialize(Body {
        json: &mut json,
        extra: &mut extra,
    })?;
    json.end()?;
    Ok((body, extra))
}

/// Parses an object as a struct, and collects the fields that the struct does not have.
struct Body<'x, D> {
    json: D,
    extra: &'x mut Extra,
}

impl<'de, D: Deserializer<'de>> Deserializer<'de> for Body<'_, D> {
    type Error = D::Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        self.json.deserialize_any(visitor)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        known: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.json.deserialize_map(KnownFields {
            inner: visitor,
            known,
            extra: self.extra,
        })
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option
        unit unit_struct newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

/// A visitor, and then the map it visits, without the fields that are not `known`.
struct KnownFields<'x, T> {
    inner: T,
    known: &'static [&'static str],
    extra: &'x mut Extra,
}

impl<'de, V: Visitor<'de>> Visitor<'de> for KnownFields<'_, V> {
    type Value = V::Value;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.expecting(out)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<V::Value, A::Error> {
        self.inner.visit_map(KnownFields {
            inner: map,
            known: self.known,
            extra: self.extra,
        })
    }
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for KnownFields<'_, A> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, A::Error> {
        #[derive(Deserialize)]
        struct Key<'a>(#[serde(borrow)] Cow<'a, str>);

        while let Some(Key(key)) = self.inner.next_key()? {
            if self.known.contains(&&*key) {
                let key: CowStrDeserializer<'_, A::Error> = key.into_deserializer();
                return seed.deserialize(key).map(Some);
            }
            if key == "type" {
                self.inner.next_value::<IgnoredAny>()?;
            } else {
                self.extra
                    .insert(key.into_owned(), self.inner.next_value()?);
            }
        }
        Ok(None)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, A::Error> {
        self.inner.next_value_seed(seed)
    }
}

/// Treats `null` like a missing field.
pub(super) fn null_as_default<'de, T: Default + Deserialize<'de>, D: Deserializer<'de>>(
    from: D,
) -> Result<T, D::Error> {
    Option::deserialize(from).map(Option::unwrap_or_default)
}

/// Keeps `null` apart from a missing field.
pub(super) fn payload_or_null<'de, D: Deserializer<'de>>(
    from: D,
) -> Result<Option<Payload>, D::Error> {
    Payload::deserialize(from).map(Some)
}

impl<'de> Deserialize<'de> for Action {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Fields {
            r#type: String,
            #[serde(default)]
            queue: String,
        }
        let raw = Raw::deserialize(from)?;
        Ok(match serde_json::from_str::<Fields>(raw.get()) {
            Ok(fields) if fields.r#type == "void" => Self::Void,
            Ok(fields) if fields.r#type == "enqueue" => Self::Enqueue {
                queue: fields.queue,
            },
            _ => Self::Other(raw),
        })
    }
}

/// Accepts any value: a failure of an unexpected form must not be taken for a success.
impl<'de> Deserialize<'de> for ErrorBody {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(from)?;
        if let Value::String(message) = value {
            return Ok(Self::new("error", message));
        }
        let field = |name| value.get(name).and_then(Value::as_str).map(str::to_owned);
        Ok(Self {
            code: field("code").unwrap_or_default(),
            message: field("message").unwrap_or_default(),
            stacktrace: field("stacktrace"),
        })
    }
}
