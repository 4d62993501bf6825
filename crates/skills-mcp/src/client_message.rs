//! Decodes what a client sent into the SDK's messages, or into the error response for it.
//!
//! The SDK's own decoding drops what it does not understand; here every request gets a response.

use rmcp::model::{ClientJsonRpcMessage, ClientRequest, RequestId};
use serde_json::value::RawValue;

use super::invalid_request;
use super::jsonrpc::{self, Call, ErrorResponse, Members};
use super::limits::{DEPTH_MAX, MAX_INITIALIZE_BYTES};

/// A message, nothing if no response is expected and none is needed, or an error response.
pub type Decoded = Result<Option<Box<ClientJsonRpcMessage>>, ErrorResponse>;

/// One line or one body.
#[derive(Debug)]
pub enum Incoming {
    /// One message.
    One(Decoded),
    /// The messages of a batch.
    Batch(Vec<Decoded>),
}

/// Decodes one line or one body.
pub fn decode(bytes: &[u8]) -> Incoming {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let text = match jsonrpc::text(bytes) {
        Ok("") => return Incoming::One(Ok(None)),
        Ok(text) => text,
        Err(error) => return Incoming::One(Err(error)),
    };
    if jsonrpc::is_too_deep(text) {
        let problem = format!("nested deeper than {DEPTH_MAX} levels");
        let error = jsonrpc::parse_error(problem);
        return Incoming::One(Err(ErrorResponse::without_id(error)));
    }
    if !text.starts_with('[') {
        return Incoming::One(decode_message(text));
    }
    match jsonrpc::parse_batch(text) {
        Ok(messages) => {
            let messages = messages.into_iter().map(RawValue::get);
            Incoming::Batch(messages.map(decode_message).collect())
        }
        Err(error) => Incoming::One(Err(error)),
    }
}

fn decode_message(text: &str) -> Decoded {
    let members = jsonrpc::parse_object(text)?;
    if let Some(name) = repeated_member(&members) {
        let error = jsonrpc::invalid_request(format!("more than one `{name}`"));
        return Err(ErrorResponse::without_id(error));
    }
    let Some(Call { id, method, params }) = jsonrpc::parse_call(&members)? else {
        return Ok(None);
    };
    let invalid = |problem: &str| ErrorResponse::new(id, jsonrpc::invalid_request(problem));
    if members.is_response() {
        return Err(invalid(
            "a message with a method has no result and no error",
        ));
    }
    let method = method.ok_or_else(|| invalid("method is missing"))?;
    let checked = jsonrpc::check_params(params);
    let Some(raw_id) = id else {
        // A notification gets no response, so one that cannot be decoded is dropped.
        let notification = serde_json::from_str(text).ok().filter(|_| checked.is_ok());
        return Ok(notification.map(|it| ClientJsonRpcMessage::notification(it).into()));
    };
    let id: RequestId = serde_json::from_str(raw_id)
        .map_err(|_| invalid("id must be a string or an integer of 64 bits"))?;
    let request = checked
        .and_then(|()| invalid_request::decode(&method, params.map(RawValue::get)))
        .map_err(|error| ErrorResponse::new(Some(raw_id), error))?;
    if matches!(request, ClientRequest::InitializeRequest(_)) && text.len() > MAX_INITIALIZE_BYTES {
        let problem = format!("initialize has more than {MAX_INITIALIZE_BYTES} bytes");
        return Err(invalid(&problem));
    }
    Ok(Some(ClientJsonRpcMessage::request(request, id).into()))
}

fn repeated_member(members: &Members<'_>) -> Option<&'static str> {
    let known = ["jsonrpc", "id", "method", "params", "result", "error"];
    let count = |name: &str| members.names().filter(|given| *given == name).count();
    known.into_iter().find(|name| count(name) > 1)
}
