//! JSON-RPC as it comes in and goes out: a line is a request, a notification, or refused.
//!
//! Members are kept as they were written. An id goes back exactly as it came, and a member that
//! nobody asks for is never decoded.

use std::borrow::Cow;
use std::fmt;
use std::io::Write;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// What a line turned out to be.
#[derive(Debug)]
pub enum Incoming<'a> {
    /// Nothing that wants an answer.
    Nothing,
    /// Wants an answer under its id.
    Request {
        id: &'a str,
        method: Cow<'a, str>,
        params: Option<&'a RawValue>,
    },
    /// Wants none.
    Notification {
        method: Cow<'a, str>,
        params: Option<&'a RawValue>,
    },
    /// Cannot be understood. The id is `null` where none could be made out.
    Refused { id: &'a str, refusal: Refusal },
}

/// An error answer.
#[derive(Debug)]
pub struct Refusal {
    pub code: i32,
    pub message: String,
    /// More for a program, as JSON.
    pub data: Option<String>,
}

impl Refusal {
    fn new(code: i32, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            data: None,
        }
    }

    pub fn parse() -> Self {
        Self::new(-32700, "parse error")
    }

    pub fn too_long() -> Self {
        Self::new(-32700, "parse error: line exceeded maximum size")
    }

    pub fn request(problem: &str) -> Self {
        Self::new(-32600, format!("invalid request: {problem}"))
    }

    pub fn no_method(method: &str) -> Self {
        Self::new(-32601, format!("method not found: {method}"))
    }

    pub fn no_tool(name: &str) -> Self {
        Self::new(-32602, format!("unknown tool: {name}"))
    }

    pub fn params(problem: &str) -> Self {
        Self::new(-32602, format!("invalid params: {problem}"))
    }

    /// Writes the error answer.
    pub fn write(&self, id: &str, out: &mut Vec<u8>) {
        out.extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
        out.extend_from_slice(id.as_bytes());
        // Writing to memory cannot fail.
        let _ = write!(out, r#","error":{{"code":{},"message":"#, self.code);
        write_json(out, &self.message);
        if let Some(data) = &self.data {
            let _ = write!(out, r#","data":{data}"#);
        }
        out.extend_from_slice(b"}}\n");
    }
}

/// Writes a value as JSON.
pub fn write_json<T: serde::Serialize + ?Sized>(out: &mut Vec<u8>, value: &T) {
    // Memory takes everything, and what is written here has string keys only.
    let _ = serde_json::to_writer(out, value);
}

/// Reads a line without its line end.
pub fn read(line: &[u8]) -> Incoming<'_> {
    let Ok(text) = std::str::from_utf8(line) else {
        return refused("null", Refusal::parse());
    };
    let text = text.trim_matches([' ', '\t', '\r']);
    if text.is_empty() {
        return Incoming::Nothing;
    }
    if !text.starts_with('{') {
        let refusal = match serde_json::from_str::<&RawValue>(text) {
            Err(_) => Refusal::parse(),
            Ok(_) if text.starts_with('[') => {
                Refusal::request("batches are not supported; send one object on each line")
            }
            Ok(_) => Refusal::request("a message is an object"),
        };
        return refused("null", refusal);
    }
    match serde_json::from_str::<Members<'_>>(text) {
        Ok(members) if has_half_a_pair(text) => {
            let id = members.id().filter(|id| !has_half_a_pair(id));
            refused(id.unwrap_or("null"), Refusal::parse())
        }
        Ok(members) => envelope(&members),
        Err(_) => refused("null", Refusal::parse()),
    }
}

/// Whether a string in a JSON text has half a surrogate pair, which is legal to write and no text.
/// Looked for here, because a member that nobody asks for is never decoded.
fn has_half_a_pair(json: &str) -> bool {
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
            // A backslash and one ASCII character: the text is JSON.
            None => &escape[2..],
        };
    }
    false
}

/// What an escape like `\u0041` at the start of a text stands for.
fn code_unit(text: &str) -> Option<u16> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    u16::from_str_radix(digits, 16).ok()
}

fn refused(id: &str, refusal: Refusal) -> Incoming<'_> {
    Incoming::Refused { id, refusal }
}

fn envelope<'a>(members: &Members<'a>) -> Incoming<'a> {
    let id = members.get("id").map(RawValue::get);
    if id.is_some() && members.id().is_none() {
        let problem = "id must be a string, number, or null";
        return refused("null", Refusal::request(problem));
    }
    let method = members.get("method");
    let is_response = members.get("result").or(members.get("error")).is_some();
    if method.is_none() && is_response {
        // We ask clients nothing, so nobody waits for it.
        return Incoming::Nothing;
    }
    let answer_to = id.unwrap_or("null");
    if members.get("jsonrpc").map(RawValue::get) != Some("\"2.0\"") {
        return refused(answer_to, Refusal::request("jsonrpc must be \"2.0\""));
    }
    let method = match method.map(string) {
        Some(Ok(Some(method))) => method,
        Some(Err(refusal)) => return refused(answer_to, refusal),
        None if id.is_some() => return refused(answer_to, Refusal::no_method("undefined")),
        None | Some(Ok(None)) => {
            return refused(answer_to, Refusal::request("method must be a string"));
        }
    };
    let params = members.get("params");
    match id {
        Some(id) => Incoming::Request { id, method, params },
        None => Incoming::Notification { method, params },
    }
}

/// The text of a JSON string; none if the value is something else.
pub fn string(value: &RawValue) -> Result<Option<Cow<'_, str>>, Refusal> {
    if !value.get().starts_with('"') {
        return Ok(None);
    }
    let text: Result<Text<'_>, _> = serde_json::from_str(value.get());
    text.map(|text| Some(text.0)).map_err(|_| Refusal::parse())
}

/// What kind of value this is, in the words of JSON.
pub fn kind(value: &RawValue) -> &'static str {
    match value.get().bytes().next() {
        Some(b'"') => "a string",
        Some(b'{') => "an object",
        Some(b'[') => "an array",
        Some(b't' | b'f') => "a boolean",
        Some(b'n') => "null",
        _ => "a number",
    }
}

/// A string that is borrowed where it has no escapes.
#[derive(serde::Deserialize)]
#[serde(transparent)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

/// The members of an object, undecoded, in order.
#[derive(Debug, Default)]
pub struct Members<'a>(Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'a> Members<'a> {
    /// The members of a value; none if it is no object.
    pub fn of(value: &'a RawValue) -> Option<Self> {
        serde_json::from_str(value.get()).ok()
    }

    /// The members of `params`: an object, or left out.
    pub fn of_params(params: Option<&'a RawValue>) -> Result<Self, Refusal> {
        match params {
            Some(params) if params.get() != "null" => {
                Self::of(params).ok_or_else(|| Refusal::params("params must be an object"))
            }
            _ => Ok(Self::default()),
        }
    }

    /// A member; of several with one name the last.
    pub fn get(&self, name: &str) -> Option<&'a RawValue> {
        let mut members = self.0.iter().rev();
        members
            .find(|(key, _)| key == name)
            .map(|(_, value)| *value)
    }

    /// The id of a message as it was written; none if it is missing or cannot be one.
    fn id(&self) -> Option<&'a str> {
        let id = self.get("id")?.get();
        (!id.starts_with(['{', '[', 't', 'f'])).then_some(id)
    }

    /// A member that must be a string where it is there at all.
    pub fn string(&self, name: &str) -> Option<Result<Cow<'a, str>, Refusal>> {
        let value = self.get(name)?;
        Some(string(value).and_then(|text| {
            let problem = || format!("{name} must be a string, not {}", kind(value));
            text.ok_or_else(|| Refusal::params(&problem()))
        }))
    }

    /// The names, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(name, _)| &**name)
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
