//! One conversation: a line in, at most one answer out.

use std::sync::Arc;

use agent3md::tool_text;
use serde_json::value::RawValue;

use super::call::call;
use super::served::Served;
use super::tools;
use super::version::Version;
use super::wire::{Incoming, Members, Refusal, read, write_json};

/// The server's version, which clients compare; the program's own is `skills --version`.
const SERVER_VERSION: &str = "0.1.0";
/// Streams of changes that a client may have open.
const LISTENERS_MAX: usize = 100;
const INSTRUCTIONS: &str = "Call route_skill with the user's request to pick a skill, then get_skill, or resolve_skill if it builds on others, to load its instructions.";

/// A conversation with one client.
#[derive(Debug)]
pub struct Session {
    served: Arc<Served>,
    /// What `initialize` settled on; before that, the oldest.
    version: Version,
    /// The ids of open `subscriptions/listen` requests.
    listeners: Vec<String>,
}

impl Session {
    /// A conversation about a document.
    pub fn new(served: Arc<Served>) -> Self {
        Self {
            served,
            version: Version::First,
            listeners: Vec::new(),
        }
    }

    /// Reads a line, without its line end, and appends the answer, with one, if there is any.
    pub fn answer(&mut self, line: &[u8], out: &mut Vec<u8>) {
        match read(line) {
            Incoming::Nothing => {}
            Incoming::Refused { id, refusal } => refusal.write(id, out),
            Incoming::Notification { method, params } => self.notified(&method, params),
            Incoming::Request { id, method, params } => {
                let start = out.len();
                if let Err(refusal) = self.request(id, &method, params, out) {
                    out.truncate(start);
                    refusal.write(id, out);
                }
            }
        }
    }

    /// Answers a line that was too long to be kept.
    pub fn too_long(out: &mut Vec<u8>) {
        Refusal::too_long().write("null", out);
    }

    /// Goes on with another document, and appends what the client is told about it.
    pub fn replace(&mut self, served: Arc<Served>, out: &mut Vec<u8>) {
        self.served = served;
        // A client of the first version was promised that there would be no such message.
        if self.version > Version::First {
            notify(out, "notifications/tools/list_changed", "");
        }
        for id in &self.listeners {
            let params = format!(r#","params":{{{}}}"#, subscription(id));
            notify(out, "notifications/tools/list_changed", &params);
        }
    }

    /// The client has gone silent for good: ends what it left open.
    pub fn finish(&mut self, out: &mut Vec<u8>) {
        for id in self.listeners.drain(..) {
            let result = format!(r#"{{"resultType":"complete",{}}}"#, subscription(&id));
            write_result(&id, &result, out);
        }
    }

    fn notified(&mut self, method: &str, params: Option<&RawValue>) {
        if method == "notifications/cancelled"
            && let Ok(params) = Members::of_params(params)
            && let Some(id) = params.get("requestId")
        {
            self.listeners.retain(|listener| listener != id.get());
        }
    }

    fn request(
        &mut self,
        id: &str,
        method: &str,
        params: Option<&RawValue>,
        out: &mut Vec<u8>,
    ) -> Result<(), Refusal> {
        let params = Members::of_params(params)?;
        let named = Version::of_request(&params)?;
        let version = named.unwrap_or(self.version);
        let stateless = version == Version::Stateless;
        match method {
            "tools/call" => {
                begin(id, out);
                call(&self.served, version, &params, out)?;
                out.extend_from_slice(b"}\n");
            }
            "ping" if !stateless => write_result(id, "{}", out),
            "tools/list" => match params.get("cursor").filter(|cursor| cursor.get() != "null") {
                None => write_result(id, tools::list(version), out),
                Some(_) => {
                    return Err(Refusal::params("unknown cursor: the list is one page"));
                }
            },
            "initialize" if !stateless => {
                let asked = params.string("protocolVersion").transpose()?;
                self.version = Version::negotiate(asked.as_deref());
                write_result(id, &self.hello(), out);
            }
            "server/discover" => write_result(id, &self.discovered(), out),
            "subscriptions/listen" if stateless => self.listen(id, &params, out)?,
            _ => return Err(Refusal::no_method(method)),
        }
        Ok(())
    }

    fn server_info(&self) -> String {
        let mut info = br#"{"name":"#.to_vec();
        write_json(&mut info, &tool_text::server_name(&self.served.agent));
        let name = String::from_utf8_lossy(&info);
        format!(r#"{name},"version":"{SERVER_VERSION}"}}"#)
    }

    fn hello(&self) -> String {
        let (version, info) = (self.version.as_str(), self.server_info());
        let changes = self.version > Version::First;
        let more = if changes {
            format!(r#","instructions":"{INSTRUCTIONS}""#)
        } else {
            String::new()
        };
        format!(
            r#"{{"protocolVersion":"{version}","capabilities":{{"tools":{{"listChanged":{changes}}}}},"serverInfo":{info}{more}}}"#
        )
    }

    fn discovered(&self) -> String {
        let (versions, info) = (Version::list(), self.server_info());
        format!(
            r#"{{"resultType":"complete","supportedVersions":{versions},"capabilities":{{"tools":{{"listChanged":true}}}},"instructions":"{INSTRUCTIONS}","ttlMs":0,"cacheScope":"private","_meta":{{"io.modelcontextprotocol/serverInfo":{info}}}}}"#
        )
    }

    /// Opens a stream of changes. It is acknowledged now and answered when it ends.
    fn listen(&mut self, id: &str, params: &Members<'_>, out: &mut Vec<u8>) -> Result<(), Refusal> {
        let filter = params.get("notifications").and_then(Members::of);
        let filter =
            filter.ok_or_else(|| Refusal::params("notifications must be an object of filters"))?;
        if self.listeners.iter().any(|listener| listener == id) {
            return Err(Refusal::request("this id already listens"));
        }
        if self.listeners.len() >= LISTENERS_MAX {
            return Err(Refusal::request("too many streams; cancel one first"));
        }
        let tools = filter.get("toolsListChanged").map(RawValue::get) == Some("true");
        let accepted = if tools {
            r#""toolsListChanged":true"#
        } else {
            ""
        };
        let params = format!(
            r#","params":{{"notifications":{{{accepted}}},{}}}"#,
            subscription(id)
        );
        notify(out, "notifications/subscriptions/acknowledged", &params);
        if tools {
            self.listeners.push(id.to_owned());
        } else {
            // Nothing it asks for ever comes, so it ends at once.
            let result = format!(r#"{{"resultType":"complete",{}}}"#, subscription(id));
            write_result(id, &result, out);
        }
        Ok(())
    }
}

/// How every message of a stream says which stream it belongs to.
fn subscription(id: &str) -> String {
    format!(r#""_meta":{{"io.modelcontextprotocol/subscriptionId":{id}}}"#)
}

fn begin(id: &str, out: &mut Vec<u8>) {
    out.extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
    out.extend_from_slice(id.as_bytes());
    out.extend_from_slice(br#","result":"#);
}

fn write_result(id: &str, result: &str, out: &mut Vec<u8>) {
    begin(id, out);
    out.extend_from_slice(result.as_bytes());
    out.extend_from_slice(b"}\n");
}

fn notify(out: &mut Vec<u8>, method: &str, params: &str) {
    let line = format!("{{\"jsonrpc\":\"2.0\",\"method\":\"{method}\"{params}}}\n");
    out.extend_from_slice(line.as_bytes());
}
