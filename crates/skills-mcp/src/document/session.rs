//! The messages of one client: a line in, at most one response out.

use std::sync::Arc;

use agent3md::tool_text;
use rmcp::ErrorData;
use rmcp::model::ErrorCode;
use serde_json::value::RawValue;

use super::call_tool::call_tool;
use super::served_agent::ServedAgent;
use super::tools;
use super::version::Version;
use crate::jsonrpc::{self, Call, ErrorResponse, Members, to_json};

/// The version of the server in `serverInfo`, which is not the version of the program.
const SERVER_VERSION: &str = "0.1.0";
/// Subscriptions that a client may have open.
const SUBSCRIPTIONS_MAX: usize = 100;
const INSTRUCTIONS: &str = "Call route_skill with the user's request to pick a skill, then get_skill, or resolve_skill if it builds on others, to load its instructions.";

/// The state of one client.
#[derive(Debug)]
pub struct Session {
    agent: Arc<ServedAgent>,
    /// The version that `initialize` agreed on; the oldest before that.
    version: Version,
    /// The ids of open `subscriptions/listen` requests, as JSON text.
    subscriptions: Vec<String>,
}

impl Session {
    /// A client that has sent nothing yet.
    pub fn new(agent: Arc<ServedAgent>) -> Self {
        Self {
            agent,
            version: Version::V2024_11_05,
            subscriptions: Vec::new(),
        }
    }

    /// Reads a line, without its line end, and appends the response, if there is one, with a line
    /// end.
    pub fn respond(&mut self, line: &[u8], out: &mut Vec<u8>) {
        let (id, method, params) = match parse(line) {
            Ok(Some(Call {
                id,
                method: Some(method),
                params,
            })) => (id, method, params),
            Ok(Some(Call { id, .. })) => {
                let error = match id {
                    Some(_) => jsonrpc::method_not_found("undefined"),
                    None => jsonrpc::invalid_request("method must be a string"),
                };
                return write_error(&ErrorResponse::new(id, error), out);
            }
            Ok(None) => return,
            Err(error) => return write_error(&error, out),
        };
        let Some(id) = id else {
            return self.handle_notification(&method, params);
        };
        let start = out.len();
        if let Err(error) = self.handle_request(id, &method, params, out) {
            out.truncate(start);
            write_error(&ErrorResponse::new(Some(id), error), out);
        }
    }

    /// Responds to a line over the size limit.
    pub fn too_long(out: &mut Vec<u8>) {
        write_error(&jsonrpc::line_too_long(), out);
    }

    /// Serves another agent from now on, and appends the notifications about it.
    pub fn replace(&mut self, agent: Arc<ServedAgent>, out: &mut Vec<u8>) {
        self.agent = agent;
        // `initialize` of the first version announces that there are no such notifications.
        if self.version > Version::V2024_11_05 {
            notify(out, "notifications/tools/list_changed", "");
        }
        for id in &self.subscriptions {
            let params = format!(r#","params":{{{}}}"#, subscription_meta(id));
            notify(out, "notifications/tools/list_changed", &params);
        }
    }

    /// Ends the open subscriptions, after the last line of the client.
    pub fn finish(&mut self, out: &mut Vec<u8>) {
        for id in self.subscriptions.drain(..) {
            write_result(&id, &listen_result(&id), out);
        }
    }

    fn handle_notification(&mut self, method: &str, params: Option<&RawValue>) {
        if method == "notifications/cancelled"
            && let Ok(params) = Members::of_params(params)
            && let Some(id) = params.get("requestId")
        {
            self.subscriptions.retain(|open| open != id.get());
        }
    }

    fn handle_request(
        &mut self,
        id: &str,
        method: &str,
        params: Option<&RawValue>,
        out: &mut Vec<u8>,
    ) -> Result<(), ErrorData> {
        let params = Members::of_params(params)?;
        let version = Version::of_request(&params)?.unwrap_or(self.version);
        let is_stateless = version == Version::V2026_07_28;
        match method {
            "tools/call" => {
                begin_result(id, out);
                call_tool(&self.agent, version, &params, out)?;
                out.extend_from_slice(b"}\n");
            }
            "ping" if !is_stateless => write_result(id, "{}", out),
            "tools/list" => {
                if params
                    .get("cursor")
                    .is_some_and(|cursor| cursor.get() != "null")
                {
                    let problem = "unknown cursor: the list is one page";
                    return Err(jsonrpc::invalid_params(problem));
                }
                write_result(id, tools::list(version), out);
            }
            "initialize" if !is_stateless => {
                let requested = params.string("protocolVersion").transpose()?;
                self.version = Version::negotiate(requested.as_deref());
                write_result(id, &self.initialize_result(), out);
            }
            "server/discover" => write_result(id, &self.discover_result(), out),
            "subscriptions/listen" if is_stateless => self.listen(id, &params, out)?,
            _ => return Err(jsonrpc::method_not_found(method)),
        }
        Ok(())
    }

    fn server_info(&self) -> String {
        let name = to_json(&tool_text::server_name(&self.agent.agent));
        format!(r#"{{"name":{name},"version":"{SERVER_VERSION}"}}"#)
    }

    fn initialize_result(&self) -> String {
        let (version, info) = (self.version.as_str(), self.server_info());
        let has_changes = self.version > Version::V2024_11_05;
        let instructions = if has_changes {
            format!(r#","instructions":"{INSTRUCTIONS}""#)
        } else {
            String::new()
        };
        format!(
            r#"{{"protocolVersion":"{version}","capabilities":{{"tools":{{"listChanged":{has_changes}}}}},"serverInfo":{info}{instructions}}}"#
        )
    }

    fn discover_result(&self) -> String {
        let (versions, info) = (to_json(&Version::names()), self.server_info());
        format!(
            r#"{{"resultType":"complete","supportedVersions":{versions},"capabilities":{{"tools":{{"listChanged":true}}}},"instructions":"{INSTRUCTIONS}","ttlMs":0,"cacheScope":"private","_meta":{{"io.modelcontextprotocol/serverInfo":{info}}}}}"#
        )
    }

    /// Opens a subscription. It is acknowledged now; its response comes when it ends.
    fn listen(
        &mut self,
        id: &str,
        params: &Members<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), ErrorData> {
        let filter = params.get("notifications").and_then(Members::of);
        let problem = "notifications must be an object of filters";
        let filter = filter.ok_or_else(|| jsonrpc::invalid_params(problem))?;
        if self.subscriptions.iter().any(|open| open == id) {
            return Err(jsonrpc::invalid_request("this id already listens"));
        }
        if self.subscriptions.len() >= SUBSCRIPTIONS_MAX {
            let problem = "too many streams; cancel one first";
            return Err(jsonrpc::invalid_request(problem));
        }
        let wants_tools = filter.get("toolsListChanged").map(RawValue::get) == Some("true");
        let accepted = if wants_tools {
            r#""toolsListChanged":true"#
        } else {
            ""
        };
        let params = format!(
            r#","params":{{"notifications":{{{accepted}}},{}}}"#,
            subscription_meta(id)
        );
        notify(out, "notifications/subscriptions/acknowledged", &params);
        if wants_tools {
            self.subscriptions.push(id.to_owned());
        } else {
            // There will be no notifications, so the subscription ends at once.
            write_result(id, &listen_result(id), out);
        }
        Ok(())
    }
}

/// Parses a line; `None` if it needs no response. Every parse error has the message of agent-3md.
fn parse(line: &[u8]) -> Result<Option<Call<'_>>, ErrorResponse> {
    let parsed = jsonrpc::text(line).and_then(|text| match text.bytes().next() {
        None => Ok(None),
        Some(b'[') => Err(match jsonrpc::parse_batch(text) {
            Err(error) if error.error.code == ErrorCode::PARSE_ERROR => error,
            _ => {
                let problem = "batches are not supported; send one object on each line";
                ErrorResponse::without_id(jsonrpc::invalid_request(problem))
            }
        }),
        Some(_) => jsonrpc::parse_call(&jsonrpc::parse_object(text)?),
    });
    parsed.map_err(|mut error| {
        if error.error.code == ErrorCode::PARSE_ERROR {
            error.error.message = "parse error".into();
        }
        error
    })
}

/// The member that names the subscription of a message.
fn subscription_meta(id: &str) -> String {
    format!(r#""_meta":{{"io.modelcontextprotocol/subscriptionId":{id}}}"#)
}

fn listen_result(id: &str) -> String {
    format!(r#"{{"resultType":"complete",{}}}"#, subscription_meta(id))
}

fn begin_result(id: &str, out: &mut Vec<u8>) {
    out.extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
    out.extend_from_slice(id.as_bytes());
    out.extend_from_slice(br#","result":"#);
}

fn write_result(id: &str, result: &str, out: &mut Vec<u8>) {
    begin_result(id, out);
    out.extend_from_slice(result.as_bytes());
    out.extend_from_slice(b"}\n");
}

fn write_error(error: &ErrorResponse, out: &mut Vec<u8>) {
    out.extend_from_slice(error.to_json().as_bytes());
    out.push(b'\n');
}

fn notify(out: &mut Vec<u8>, method: &str, params: &str) {
    let line = format!("{{\"jsonrpc\":\"2.0\",\"method\":\"{method}\"{params}}}\n");
    out.extend_from_slice(line.as_bytes());
}
