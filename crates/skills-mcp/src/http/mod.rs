//! MCP over Streamable HTTP, at `/mcp`.
//!
//! The SDK implements the protocol. This module adds what the SDK leaves out: access control
//! (`access`), limits on connections (`listener`), sessions and streams (`sessions`), body size and
//! time, and JSON-RPC error responses for bodies that are not valid messages.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use futures_util::StreamExt;
use rmcp::model::{ClientRequest, ErrorCode, JsonRpcMessage, RequestId};
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ErrorData, ServerHandler};
use skills_access::AccessPolicy;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

pub use self::access::check_access;
pub use self::listener::serve;
use self::sessions::Sessions;
use super::client_message::{self, Incoming};
use super::jsonrpc::{self, ErrorResponse};
use super::limits::{
    HTTP_BODY_TIMEOUT, LINE_MAX, MAX_HTTP_BODIES_BYTES, MAX_HTTP_SMALL_BYTES, MAX_HTTP_STREAMS,
    MAX_SESSIONS, REQUEST_TIMEOUT, SESSION_IDLE_TIMEOUT,
};

mod access;
mod listener;
mod sessions;
mod write_timeout;

const SESSION_HEADER: &str = "mcp-session-id";

/// How long requests in progress may take to finish after the server was told to stop.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(2);

/// Who may connect, and the limits of requests and sessions.
#[derive(Clone, Debug)]
pub struct HttpOptions {
    /// Who may connect.
    pub access: AccessPolicy,
    /// The largest body of a request, in bytes.
    pub max_body_bytes: usize,
    /// The largest number of open sessions.
    pub max_sessions: usize,
    /// The largest number of open streams.
    pub max_streams: usize,
    /// How long a session without an open stream may send no request.
    pub session_idle_timeout: Duration,
    /// How long a body may take to arrive.
    pub body_timeout: Duration,
    /// How long a request may take until its response begins.
    pub request_timeout: Duration,
}

impl Default for HttpOptions {
    fn default() -> Self {
        Self {
            access: AccessPolicy::default(),
            max_body_bytes: LINE_MAX,
            max_sessions: MAX_SESSIONS,
            max_streams: MAX_HTTP_STREAMS,
            session_idle_timeout: SESSION_IDLE_TIMEOUT,
            body_timeout: HTTP_BODY_TIMEOUT,
            request_timeout: REQUEST_TIMEOUT,
        }
    }
}

/// Serves `/mcp` until `stop`; then finishes requests in progress and ends streams.
pub fn router<H: ServerHandler + Clone>(
    handler: H,
    options: HttpOptions,
    stop: CancellationToken,
) -> Router {
    let sessions = Sessions::new(options.max_sessions, options.session_idle_timeout);
    let streams = CancellationToken::new();
    // `AccessPolicy` checks hosts and origins: it also knows the configured additional names.
    let config = StreamableHttpServerConfig::default()
        .disable_allowed_hosts()
        .with_json_response(true)
        .with_max_request_body_bytes(options.max_body_bytes)
        .with_cancellation_token(streams.clone());
    let sdk = StreamableHttpService::new(move || Ok(handler.clone()), sessions.manager(), config);
    let in_progress = TaskTracker::new();
    tokio::spawn(end_streams(stop.clone(), in_progress.clone(), streams));
    let service = McpService {
        bodies: Arc::new(Semaphore::new(MAX_HTTP_BODIES_BYTES)),
        streams: Arc::new(Semaphore::new(options.max_streams)),
        options,
        sessions,
        in_progress,
        stop,
    };
    Router::new()
        .route_service("/mcp", sdk)
        .layer(middleware::from_fn_with_state(Arc::new(service), respond))
}

/// Ends streams, which have no end of their own, after the other requests have finished.
async fn end_streams(
    stop: CancellationToken,
    in_progress: TaskTracker,
    streams: CancellationToken,
) {
    stop.cancelled().await;
    in_progress.close();
    let _ = tokio::time::timeout(DRAIN_TIMEOUT, in_progress.wait()).await;
    streams.cancel();
}

/// Checks a request before the SDK serves it, and watches the response.
struct McpService {
    options: HttpOptions,
    sessions: Sessions,
    /// Bytes that larger bodies may use.
    bodies: Arc<Semaphore>,
    /// Streams that may be opened.
    streams: Arc<Semaphore>,
    /// Requests without a response, other than those that stay open until the client ends them.
    in_progress: TaskTracker,
    stop: CancellationToken,
}

async fn respond(State(service): State<Arc<McpService>>, request: Request, next: Next) -> Response {
    match service.check(request).await {
        Ok((request, info)) => service.run(request, info, next).await,
        Err(refused) => *refused,
    }
}

/// What is known of a request before it is served.
struct RequestInfo {
    session: Option<String>,
    /// The JSON-RPC id.
    id: Option<RequestId>,
    /// Whether the body was read as JSON.
    is_json: bool,
    /// The error for a message that the SDK cannot decode.
    invalid: Option<ErrorResponse>,
    /// For a response that stays open until the client ends it.
    stream: Option<OwnedSemaphorePermit>,
}

impl McpService {
    async fn check(&self, request: Request) -> Result<(Request, RequestInfo), Box<Response>> {
        check_access(&self.options.access, request.uri(), request.headers())?;
        let session = text(request.headers(), SESSION_HEADER).map(str::to_owned);
        if let Some(session) = &session {
            self.sessions.touch(session);
        }
        let mut info = RequestInfo {
            session,
            id: None,
            is_json: false,
            invalid: None,
            stream: None,
        };
        if request.method() == Method::GET {
            info.stream = Some(self.open_stream(info.session.as_deref(), None)?);
        }
        let is_json = text(request.headers(), header::CONTENT_TYPE.as_str())
            .is_some_and(|kind| kind.starts_with("application/json"));
        if request.method() != Method::POST || !is_json {
            return Ok((request, info));
        }
        let (mut parts, body) = request.into_parts();
        let (body, counted) = self.read_body(body).await?;
        if let Some(counted) = counted {
            // Dropped with the request.
            parts.extensions.insert(Arc::new(counted));
        }
        info.is_json = true;
        let message = match client_message::decode(&body) {
            Incoming::One(Ok(message)) => message,
            // The SDK checks headers and session first and then reports these.
            Incoming::One(Err(error)) if is_about_the_call(&error) => {
                info.invalid = Some(error);
                None
            }
            Incoming::One(Err(error)) => {
                return Err(refuse(StatusCode::BAD_REQUEST, &error).into());
            }
            Incoming::Batch(_) => {
                let problem = "no batches over HTTP; send one message per request";
                return Err(bad_request(jsonrpc::invalid_request(problem)).into());
            }
        };
        if message.is_none() && body.trim_ascii().is_empty() {
            return Err(bad_request(jsonrpc::parse_error("an empty body")).into());
        }
        if let Some(JsonRpcMessage::Request(request)) = message.map(|message| *message) {
            match request.request {
                ClientRequest::InitializeRequest(_) if info.session.is_none() => {
                    self.make_room(&request.id).await?;
                }
                ClientRequest::SubscriptionsListenRequest(_) => {
                    info.stream = Some(self.open_stream(None, Some(&request.id))?);
                }
                _ => {}
            }
            info.id = Some(request.id);
        }
        Ok((Request::from_parts(parts, Body::from(body)), info))
    }

    /// Reads a body. A large one counts as long as the permit is held.
    async fn read_body(
        &self,
        body: Body,
    ) -> Result<(Bytes, Option<OwnedSemaphorePermit>), Box<Response>> {
        let max = self.options.max_body_bytes;
        let read = async {
            let mut bytes = Vec::new();
            let mut counted: Option<OwnedSemaphorePermit> = None;
            let mut chunks = body.into_data_stream();
            while let Some(chunk) = chunks.next().await {
                let chunk = chunk.map_err(|error| bad_request(jsonrpc::parse_error(error)))?;
                let length = bytes.len() + chunk.len();
                if length > max {
                    let error = jsonrpc::invalid_request(format!("more than {max} bytes"));
                    let error = ErrorResponse::without_id(error);
                    return Err(refuse(StatusCode::PAYLOAD_TOO_LARGE, &error).into());
                }
                if length > MAX_HTTP_SMALL_BYTES {
                    let permit = u32::try_from(chunk.len()).ok().and_then(|bytes| {
                        let bodies = Arc::clone(&self.bodies);
                        bodies.try_acquire_many_owned(bytes).ok()
                    });
                    let permit = permit.ok_or_else(|| {
                        let problem = "too many large requests at the same time; try again later";
                        busy(None, problem)
                    })?;
                    match &mut counted {
                        Some(counted) => counted.merge(permit),
                        None => counted = Some(permit),
                    }
                }
                bytes.extend_from_slice(&chunk);
            }
            Ok((Bytes::from(bytes), counted))
        };
        let read = tokio::time::timeout(self.options.body_timeout, read).await;
        read.unwrap_or_else(|_| {
            let error = jsonrpc::invalid_request("the request did not arrive in time");
            let error = ErrorResponse::without_id(error);
            Err(refuse(StatusCode::REQUEST_TIMEOUT, &error).into())
        })
    }

    /// A permit for a response that stays open.
    fn open_stream(
        &self,
        session: Option<&str>,
        id: Option<&RequestId>,
    ) -> Result<OwnedSemaphorePermit, Box<Response>> {
        if session.is_some_and(|session| !self.sessions.may_open_stream(session)) {
            let problem = "too many streams of this session; close one";
            return Err(busy(id, problem).into());
        }
        let permit = Arc::clone(&self.streams).try_acquire_owned();
        permit.map_err(|_| {
            let max = self.options.max_streams;
            busy(
                id,
                &format!("all {max} streams are in use; try again later"),
            )
            .into()
        })
    }

    async fn make_room(&self, id: &RequestId) -> Result<(), Box<Response>> {
        if self.sessions.make_room().await {
            return Ok(());
        }
        let max = self.options.max_sessions;
        let problem =
            format!("all {max} sessions are in use; close one (DELETE) or try again later");
        Err(busy(Some(id), &problem).into())
    }

    async fn run(&self, request: Request, info: RequestInfo, next: Next) -> Response {
        let is_stream = info.stream.is_some();
        let ends_session = request.method() == Method::DELETE;
        let running = (!is_stream && !self.stop.is_cancelled()).then(|| self.in_progress.token());
        let timeout = self.options.request_timeout;
        let Ok(mut response) = tokio::time::timeout(timeout, next.run(request)).await else {
            let message = format!("no response within {} s", timeout.as_secs());
            let error = ErrorData::internal_error(message, None);
            let id = info.id.map(|id| jsonrpc::to_json(&id));
            let error = ErrorResponse::new(id.as_deref(), error);
            return refuse(StatusCode::GATEWAY_TIMEOUT, &error);
        };
        if info.is_json && is_undecodable(&response, info.invalid.is_some()) {
            let unknown =
                || ErrorResponse::without_id(jsonrpc::invalid_request("not expected here"));
            let error = info.invalid.unwrap_or_else(unknown);
            return refuse(StatusCode::BAD_REQUEST, &error);
        }
        if ends_session && response.status() == StatusCode::ACCEPTED {
            // The session has ended already. Clients warn about 202, which the SDK sends.
            *response.status_mut() = StatusCode::NO_CONTENT;
        }
        let opened = text(response.headers(), SESSION_HEADER);
        if let Some(session) = opened {
            self.sessions.opened(session);
        }
        let kind = text(response.headers(), header::CONTENT_TYPE.as_str());
        if kind.is_none_or(|kind| !kind.starts_with("text/event-stream")) {
            return response;
        }
        let session = opened.or(info.session.as_deref());
        let guard = session.and_then(|session| self.sessions.guard_stream(session, is_stream));
        let stream_permit = info.stream;
        // While the stream is open, its session is in use and its request is in progress.
        response.map(|body| {
            let stream = body.into_data_stream();
            Body::from_stream(stream.inspect(move |_| {
                let _ = (&running, &guard, &stream_permit);
            }))
        })
    }
}

/// Whether a message is valid, and only its method or its parameters are not.
fn is_about_the_call(error: &ErrorResponse) -> bool {
    let code = error.error.code;
    matches!(
        code,
        ErrorCode::INVALID_PARAMS | ErrorCode::METHOD_NOT_FOUND
    )
}

/// Whether this is the SDK's text for a body that it cannot decode. It takes an `initialize` with
/// invalid parameters for a request without a session.
fn is_undecodable(response: &Response, is_invalid: bool) -> bool {
    let kind = text(response.headers(), header::CONTENT_TYPE.as_str());
    match response.status() {
        StatusCode::UNSUPPORTED_MEDIA_TYPE | StatusCode::UNPROCESSABLE_ENTITY => true,
        StatusCode::BAD_REQUEST => {
            is_invalid && kind.is_none_or(|kind| !kind.starts_with("application/json"))
        }
        _ => false,
    }
}

/// The response when a limit on all clients together is reached.
fn busy(id: Option<&RequestId>, problem: &str) -> Response {
    let error = ErrorData::internal_error(problem.to_owned(), None);
    let id = id.map(jsonrpc::to_json);
    let error = ErrorResponse::new(id.as_deref(), error);
    let mut response = refuse(StatusCode::SERVICE_UNAVAILABLE, &error);
    let retry_after = HeaderValue::from_static("10");
    response
        .headers_mut()
        .insert(header::RETRY_AFTER, retry_after);
    response
}

fn bad_request(error: ErrorData) -> Response {
    refuse(StatusCode::BAD_REQUEST, &ErrorResponse::without_id(error))
}

fn refuse(status: StatusCode, error: &ErrorResponse) -> Response {
    let kind = [(header::CONTENT_TYPE, "application/json")];
    (status, kind, error.to_json()).into_response()
}

fn text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}
