//! JSON-RPC 2.0: the envelope of a message, ids and error responses.
//!
//! Shared by stdio, HTTP and the server of one document. Knows no methods and no transport. A
//! member stays undecoded until it is needed, and an id stays the JSON text that the client sent.

use std::borrow::Cow;
use std::fmt;

use rmcp::ErrorData;
use rmcp::model::{ErrorCode, RequestId};
use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::limits::{BATCH_MAX, DEPTH_MAX};

/// The id of an error response to a message whose id is unknown.
const NULL: &str = "null";

/// An error for text that is not JSON.
pub fn parse_error(problem: impl fmt::Display) -> ErrorData {
    ErrorData::parse_error(format!("parse error: {problem}"), None)
}

/// An error for a line over the size limit.
pub fn line_too_long() -> ErrorResponse {
    ErrorResponse::without_id(parse_error("line exceeded maximum size"))
}

/// An error for JSON that is not a valid message.
pub fn invalid_request(problem: impl fmt::Display) -> ErrorData {
    ErrorData::invalid_request(format!("invalid request: {problem}"), None)
}

/// An error for parameters that the method does not take.
pub fn invalid_params(problem: impl fmt::Display) -> ErrorData {
    ErrorData::invalid_params(format!("invalid params: {problem}"), None)
}

/// An error for a method that the server does not have.
pub fn method_not_found(method: &str) -> ErrorData {
    let message = format!("method not found: {method}");
    ErrorData::new(ErrorCode::METHOD_NOT_FOUND, message, None)
}

/// An error and the id of the message that caused it.
#[derive(Debug, PartialEq)]
pub struct ErrorResponse {
    /// The id as JSON text.
    pub id: Box<str>,
    /// The error.
    pub error: ErrorData,
}

impl ErrorResponse {
    /// The response to the message with this id, if the message has one.
    pub fn new(id: Option<&str>, error: ErrorData) -> Self {
        let id = id.unwrap_or(NULL).into();
        Self { id, error }
    }

    /// The response to a request.
    pub fn to_request(id: &RequestId, error: ErrorData) -> Self {
        Self::new(Some(&to_json(id)), error)
    }

    /// The response to a message whose id is unknown.
    pub fn without_id(error: ErrorData) -> Self {
        Self::new(None, error)
    }

    /// The response as JSON text.
    pub fn to_json(&self) -> String {
        let (id, error) = (&self.id, to_json(&self.error));
        format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{error}}}"#)
    }
}

/// A value as JSON text.
pub fn to_json<T: Serialize + ?Sized>(value: &T) -> String {
    // Fails only for maps whose keys are not strings; no message has one.
    serde_json::to_string(value).unwrap_or_else(|error| {
        tracing::error!(%error, "cannot write a message as JSON");
        NULL.to_owned()
    })
}

/// Appends a value as JSON text.
pub fn write_json<T: Serialize + ?Sized>(out: &mut Vec<u8>, value: &T) {
    // Cannot fail: see `to_json`, and memory takes every write.
    let _ = serde_json::to_writer(out, value);
}

/// A request, or a notification if there is no id.
#[derive(Debug)]
pub struct Call<'a> {
    /// The id as JSON text: a string, a number or `null`.
    pub id: Option<&'a str>,
    /// `None` if the member is missing.
    pub method: Option<Cow<'a, str>>,
    /// The parameters: any JSON value.
    pub params: Option<&'a RawValue>,
}

/// The text of a line or a body, without surrounding white space.
pub fn text(bytes: &[u8]) -> Result<&str, ErrorResponse> {
    let text = std::str::from_utf8(bytes)
        .map_err(|error| ErrorResponse::without_id(parse_error(error)))?;
    Ok(text.trim_matches([' ', '\t', '\r', '\n']))
}

/// The messages of a batch.
pub fn parse_batch(text: &str) -> Result<Vec<&RawValue>, ErrorResponse> {
    let messages: Vec<&RawValue> = serde_json::from_str(text)
        .map_err(|error| ErrorResponse::without_id(parse_error(error)))?;
    let problem = match messages.len() {
        0 => "an empty batch".to_owned(),
        count if count > BATCH_MAX => format!("{count} messages in a batch, at most {BATCH_MAX}"),
        _ => return Ok(messages),
    };
    Err(ErrorResponse::without_id(invalid_request(problem)))
}

/// The members of one message.
pub fn parse_object(text: &str) -> Result<Members<'_>, ErrorResponse> {
    let parsed = if text.starts_with('{') {
        serde_json::from_str::<Members<'_>>(text).map(Some)
    } else {
        serde_json::from_str::<IgnoredAny>(text).map(|_| None)
    };
    let members = parsed
        .map_err(parse_error)
        .and_then(|members| members.ok_or_else(|| invalid_request("a message is an object")))
        .map_err(ErrorResponse::without_id)?;
    if has_lone_surrogate(text) {
        let id = members.id().filter(|id| !has_lone_surrogate(id));
        return Err(ErrorResponse::new(id, parse_error("a lone surrogate")));
    }
    Ok(members)
}

/// What a message calls; `None` for a response, which has no effect: the server sends no requests.
pub fn parse_call<'a>(members: &Members<'a>) -> Result<Option<Call<'a>>, ErrorResponse> {
    let id = members.id();
    if id.is_none() && members.get("id").is_some() {
        let error = invalid_request("id must be a string, number, or null");
        return Err(ErrorResponse::without_id(error));
    }
    let method = members.get("method");
    if method.is_none() && members.is_response() {
        return Ok(None);
    }
    let invalid = |error| Err(ErrorResponse::new(id, error));
    if members.get("jsonrpc").map(RawValue::get) != Some(r#""2.0""#) {
        return invalid(invalid_request("jsonrpc must be \"2.0\""));
    }
    let method = match method.map(string) {
        Some(Some(method)) => Some(method),
        Some(None) => return invalid(invalid_request("method must be a string")),
        None => None,
    };
    Ok(Some(Call {
        id,
        method,
        params: members.get("params"),
    }))
}

/// Parameters are an object, `null` or missing.
pub fn check_params(params: Option<&RawValue>) -> Result<(), ErrorData> {
    match params.map_or(NULL, RawValue::get) {
        NULL => Ok(()),
        params if params.starts_with('{') => Ok(()),
        _ => Err(invalid_params("params must be an object")),
    }
}

/// Whether brackets nest deeper than [`DEPTH_MAX`]. The result for text that is not JSON is
/// unspecified; the parser refuses such text anyway.
pub fn is_too_deep(text: &str) -> bool {
    let (mut depth, mut quoted, mut escaped) = (0_usize, false, false);
    for byte in text.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            b'[' | b'{' if !quoted => {
                depth += 1;
                if depth > DEPTH_MAX {
                    return true;
                }
            }
            b']' | b'}' if !quoted => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    false
}

/// Whether a string in JSON text has half of a surrogate pair: valid JSON, but not Unicode text.
/// The parser finds it only in members that are decoded.
fn has_lone_surrogate(json: &str) -> bool {
    let mut rest = json;
    while let Some(at) = rest.find('\\') {
        let escape = &rest[at..];
        rest = match code_unit(escape) {
            Some(0xD800..=0xDBFF) => match code_unit(&escape[6..]) {
                Some(0xDC00..=0xDFFF) => &escape[12..],
                _ => return true,
            },
            Some(0xDC00..=0xDFFF) => return true,
            Some(_) => &escape[6..],
            // A backslash and one ASCII character, because the text is JSON.
            None => &escape[2..],
        };
    }
    false
}

/// The value of an escape like `\u0041` at the start of a text.
fn code_unit(text: &str) -> Option<u16> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    u16::from_str_radix(digits, 16).ok()
}

/// The text of a JSON string; `None` for other values.
pub fn string(value: &RawValue) -> Option<Cow<'_, str>> {
    serde_json::from_str::<Text<'_>>(value.get())
        .ok()
        .map(|text| text.0)
}

/// The type of a JSON value, for error messages.
pub fn type_name(value: &RawValue) -> &'static str {
    match value.get().bytes().next() {
        Some(b'"') => "a string",
        Some(b'{') => "an object",
        Some(b'[') => "an array",
        Some(b't' | b'f') => "a boolean",
        Some(b'n') => "null",
        _ => "a number",
    }
}

/// A string that is borrowed if it has no escapes.
#[derive(Deserialize)]
#[serde(transparent)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

/// The members of an object, undecoded, in order.
#[derive(Debug, Default)]
pub struct Members<'a>(Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'a> Members<'a> {
    /// The members of a value; `None` if it is not an object.
    pub fn of(value: &'a RawValue) -> Option<Self> {
        serde_json::from_str(value.get()).ok()
    }

    /// The members of `params`, which must be an object, `null` or missing.
    pub fn of_params(params: Option<&'a RawValue>) -> Result<Self, ErrorData> {
        check_params(params)?;
        Ok(params.and_then(Self::of).unwrap_or_default())
    }

    /// The member of this name; the last one, if there are several.
    pub fn get(&self, name: &str) -> Option<&'a RawValue> {
        let mut members = self.0.iter().rev();
        members
            .find(|(key, _)| key == name)
            .map(|(_, value)| *value)
    }

    /// The member of this name, which must be a string if it is present.
    pub fn string(&self, name: &str) -> Option<Result<Cow<'a, str>, ErrorData>> {
        let value = self.get(name)?;
        let problem = || format!("{name} must be a string, not {}", type_name(value));
        Some(string(value).ok_or_else(|| invalid_params(problem())))
    }

    /// The names, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(name, _)| &**name)
    }

    /// The id of a message as JSON text; `None` if it is missing or not a valid id.
    fn id(&self) -> Option<&'a str> {
        let id = self.get("id")?.get();
        (!id.starts_with(['{', '[', 't', 'f'])).then_some(id)
    }

    /// Whether a message has a member that only responses have.
    pub fn is_response(&self) -> bool {
        self.get("result").or(self.get("error")).is_some()
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Each;
        impl<'de> Visitor<'de> for Each {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members<'de>, A::Error> {
                let mut members = Vec::with_capacity(4);
                while let Some(Text(key)) = map.next_key()? {
                    members.push((key, map.next_value()?));
                }
                Ok(Members(members))
            }
        }
        from.deserialize_map(Each)
    }
}
