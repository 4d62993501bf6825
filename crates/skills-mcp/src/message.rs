//! What one message from a client is, before anybody looks at what it asks for.
//!
//! JSON-RPC 2.0 as MCP narrows it: an id is a string or a number, parameters are an object. The
//! SDK's own reading drops what it does not understand; here every request gets an answer, and its
//! id goes back exactly as it came. Knows no transport and keeps no state.

use rmcp::model::{ClientNotification, ClientRequest, ProtocolVersion};
use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

/// The text is not JSON.
pub const PARSE_ERROR: i32 = -32700;
/// The JSON is no request.
pub const INVALID_REQUEST: i32 = -32600;
/// The method does not take these parameters.
pub const INVALID_PARAMS: i32 = -32602;

/// As deep as the JSON parser goes; said before it gives up, so that the answer can say why.
const DEPTH_MAX: usize = 120;

/// More messages in one batch are a mistake.
const BATCH_MAX: usize = 1000;

/// What a client sent.
#[derive(Debug)]
pub enum Incoming {
    /// It waits for an answer.
    Request(Box<Request>),
    /// It does not.
    Notification(ClientNotification),
    /// It no longer waits for the answer to this id.
    Cancelled(Cancelled),
    /// An answer to a question of ours, or something that may be ignored.
    Nothing,
    /// Several at once.
    Batch(Vec<Incoming>),
    /// Refused; the answer is ready.
    Refused(Refusal),
}

/// A request with its id as it was written.
#[derive(Debug)]
pub struct Request {
    /// The id's text, a JSON string or number.
    pub id: Box<str>,
    /// What is asked.
    pub request: ClientRequest,
}

/// A request is no longer waited for.
#[derive(Debug)]
pub struct Cancelled {
    /// The id's text.
    pub id: Box<str>,
    /// Why, if it was said.
    pub reason: Option<String>,
}

/// An error answer.
#[derive(Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The id's text; none where it could not be read.
    pub id: Option<Box<str>>,
    /// One of JSON-RPC's codes.
    pub code: i32,
    /// What is wrong, and what is right.
    pub message: String,
}

impl Refusal {
    /// A refusal of something whose id is not known.
    pub fn nameless(code: i32, message: impl Into<String>) -> Self {
        Self {
            id: None,
            code,
            message: message.into(),
        }
    }

    fn of(id: Option<&str>, code: i32, message: impl Into<String>) -> Self {
        Self {
            id: id.map(Into::into),
            code,
            message: message.into(),
        }
    }

    /// The answer as JSON text.
    pub fn to_json(&self) -> String {
        let id = self.id.as_deref().unwrap_or("null");
        let message = serde_json::Value::from(self.message.as_str());
        let code = self.code;
        format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":{code},"message":{message}}}}}"#)
    }
}

/// The outside of a message: which members it has, each as it was written.
#[derive(Debug, Default, Deserialize)]
struct Envelope<'a> {
    #[serde(borrow, default, deserialize_with = "present")]
    jsonrpc: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    id: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    method: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    params: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    result: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    error: Option<&'a RawValue>,
}

/// A member that is `null` is there; one that is missing is not.
fn present<'de: 'a, 'a, D: Deserializer<'de>>(from: D) -> Result<Option<&'a RawValue>, D::Error> {
    <&'a RawValue>::deserialize(from).map(Some)
}

/// Reads one line or one body. Nothing at all is an empty line.
pub fn read(bytes: &[u8]) -> Incoming {
    read_text(bytes).unwrap_or_else(Incoming::Refused)
}

fn read_text(bytes: &[u8]) -> Result<Incoming, Refusal> {
    let text = std::str::from_utf8(bytes).map_err(|error| {
        Refusal::nameless(PARSE_ERROR, format!("Parse error: not UTF-8: {error}"))
    })?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let text = text.trim_matches([' ', '\t', '\r', '\n']);
    if text.is_empty() {
        return Ok(Incoming::Nothing);
    }
    if deeper_than(DEPTH_MAX, text) {
        let message = format!("Parse error: nested deeper than {DEPTH_MAX} levels");
        return Err(Refusal::nameless(PARSE_ERROR, message));
    }
    match text.as_bytes()[0] {
        b'{' => read_object(text),
        b'[' => read_batch(text),
        _ => {
            serde_json::from_str::<IgnoredAny>(text).map_err(|error| not_json(&error))?;
            let message = "Invalid Request: a message is a JSON object";
            Err(Refusal::nameless(INVALID_REQUEST, message))
        }
    }
}

fn not_json(error: &serde_json::Error) -> Refusal {
    Refusal::nameless(PARSE_ERROR, format!("Parse error: {error}"))
}

fn read_batch(text: &str) -> Result<Incoming, Refusal> {
    let items: Vec<&RawValue> = serde_json::from_str(text).map_err(|error| not_json(&error))?;
    let refuse = |message: String| Err(Refusal::nameless(INVALID_REQUEST, message));
    match items.len() {
        0 => refuse("Invalid Request: an empty batch".to_owned()),
        many if many > BATCH_MAX => refuse(format!(
            "Invalid Request: {many} messages in a batch, at most {BATCH_MAX}"
        )),
        _ => Ok(Incoming::Batch(items.into_iter().map(read_item).collect())),
    }
}

fn read_item(item: &RawValue) -> Incoming {
    if item.get().starts_with('{') {
        return read_object(item.get()).unwrap_or_else(Incoming::Refused);
    }
    let message = "Invalid Request: a message is a JSON object";
    Incoming::Refused(Refusal::nameless(INVALID_REQUEST, message))
}

fn read_object(text: &str) -> Result<Incoming, Refusal> {
    let envelope: Envelope = serde_json::from_str(text).map_err(|error| {
        if error.is_data() {
            Refusal::nameless(INVALID_REQUEST, format!("Invalid Request: {error}"))
        } else {
            not_json(&error)
        }
    })?;
    let id = read_id(envelope.id)?;
    let invalid = |message: &str| {
        let message = format!("Invalid Request: {message}");
        Err(Refusal::of(id, INVALID_REQUEST, message))
    };
    let answers = envelope.result.is_some() || envelope.error.is_some();
    let Some(method) = envelope.method else {
        // We ask clients nothing, so an answer is to somebody else's question.
        return if answers {
            Ok(Incoming::Nothing)
        } else {
            invalid("no `method`")
        };
    };
    if envelope.jsonrpc.map(RawValue::get) != Some(r#""2.0""#) {
        return invalid(r#"`jsonrpc` must be "2.0""#);
    }
    if answers {
        return invalid("a message with `method` has neither `result` nor `error`");
    }
    let Ok(method) = serde_json::from_str::<String>(method.get()) else {
        return invalid("`method` must be a string");
    };
    let params = envelope.params.map_or("null", RawValue::get);
    let is_object = params.starts_with('{') || params == "null";
    match id {
        Some(id) if !is_object => {
            let message = format!("Invalid params: `params` of {method} must be an object");
            Err(Refusal::of(Some(id), INVALID_PARAMS, message))
        }
        Some(id) => match read_request(&method, text) {
            Ok(request) => Ok(Incoming::Request(Box::new(Request {
                id: id.into(),
                request,
            }))),
            // It may be a method that is gone since; the handler knows.
            Err(_) if is_modern(params) => Ok(Incoming::Request(Box::new(Request {
                id: id.into(),
                request: ClientRequest::CustomRequest(
                    serde_json::from_str(text).map_err(|error| not_json(&error))?,
                ),
            }))),
            Err(error) => {
                let message = format!("Invalid params: {method}: {error}");
                Err(Refusal::of(Some(id), INVALID_PARAMS, message))
            }
        },
        None if method == "notifications/cancelled" => Ok(read_cancelled(params)),
        // Nobody waits for an answer to a notification, so a bad one is only ignored.
        None => Ok(serde_json::from_str(text)
            .ok()
            .filter(|_| is_object)
            .map_or(Incoming::Nothing, Incoming::Notification)),
    }
}

/// Whether a request names the version of the protocol in which each does.
fn is_modern(params: &str) -> bool {
    #[derive(Deserialize)]
    struct Params<'a> {
        #[serde(borrow, rename = "_meta")]
        meta: Option<Meta<'a>>,
    }
    #[derive(Deserialize)]
    struct Meta<'a> {
        #[serde(borrow, rename = "io.modelcontextprotocol/protocolVersion")]
        version: Option<&'a str>,
    }
    let meta = serde_json::from_str(params)
        .ok()
        .and_then(|params: Params| params.meta);
    let version = meta.and_then(|meta| meta.version);
    version.is_some_and(|version| version >= ProtocolVersion::V_2026_07_28.as_str())
}

/// The id's text, if it is one that MCP allows.
fn read_id(id: Option<&RawValue>) -> Result<Option<&str>, Refusal> {
    let Some(text) = id.map(RawValue::get) else {
        return Ok(None);
    };
    if text.starts_with(['"', '-']) || text.starts_with(|first: char| first.is_ascii_digit()) {
        return Ok(Some(text));
    }
    let message = "Invalid Request: `id` must be a string or a number";
    Err(Refusal::nameless(INVALID_REQUEST, message))
}

fn read_cancelled(params: &str) -> Incoming {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Params<'a> {
        #[serde(borrow)]
        request_id: &'a RawValue,
        reason: Option<String>,
    }
    let Ok(params) = serde_json::from_str::<Params>(params) else {
        return Incoming::Nothing;
    };
    Incoming::Cancelled(Cancelled {
        id: params.request_id.get().into(),
        reason: params.reason,
    })
}

/// By name, so that what is wrong with the parameters of a known method can be said, and so that
/// not every message is tried as every request there is.
fn read_request(method: &str, text: &str) -> serde_json::Result<ClientRequest> {
    use serde_json::from_str;
    Ok(match method {
        "ping" => ClientRequest::PingRequest(from_str(text)?),
        "initialize" => ClientRequest::InitializeRequest(from_str(text)?),
        "server/discover" => ClientRequest::DiscoverRequest(from_str(text)?),
        "completion/complete" => ClientRequest::CompleteRequest(from_str(text)?),
        "logging/setLevel" => ClientRequest::SetLevelRequest(from_str(text)?),
        "prompts/get" => ClientRequest::GetPromptRequest(from_str(text)?),
        "prompts/list" => ClientRequest::ListPromptsRequest(from_str(text)?),
        "resources/list" => ClientRequest::ListResourcesRequest(from_str(text)?),
        "resources/templates/list" => ClientRequest::ListResourceTemplatesRequest(from_str(text)?),
        "resources/read" => ClientRequest::ReadResourceRequest(from_str(text)?),
        "resources/subscribe" => ClientRequest::SubscribeRequest(from_str(text)?),
        "resources/unsubscribe" => ClientRequest::UnsubscribeRequest(from_str(text)?),
        "subscriptions/listen" => ClientRequest::SubscriptionsListenRequest(from_str(text)?),
        "tools/call" => ClientRequest::CallToolRequest(from_str(text)?),
        "tools/list" => ClientRequest::ListToolsRequest(from_str(text)?),
        _ => ClientRequest::CustomRequest(from_str(text)?),
    })
}

/// Whether brackets nest deeper than `max`. Text that is no JSON may be misjudged either way: it is
/// refused all the same.
fn deeper_than(max: usize, text: &str) -> bool {
    let (mut depth, mut quoted, mut escaped) = (0_usize, false, false);
    for byte in text.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            b'[' | b'{' if !quoted => {
                depth += 1;
                if depth > max {
                    return true;
                }
            }
            b']' | b'}' if !quoted => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    false
}
