//! MCP over Streamable HTTP, at `/mcp`.
//!
//! The SDK speaks the protocol; here is what it leaves to us: who may connect (`access`), how many may
//! stay and for how long (`sessions`), and an answer in JSON-RPC for what is no message.

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, Method, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::{Router, http::HeaderValue};
use futures_util::StreamExt;
use rmcp::ServerHandler;
use rmcp::model::ClientRequest;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use skills_access::AccessPolicy;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

pub use self::access::check_access;
use self::direct::{Direct, Way};
use self::sessions::Sessions;
use super::lines::LINE_MAX;
use super::message::{self, INVALID_REQUEST, Incoming, PARSE_ERROR, Refusal};

mod access;
mod direct;
mod sessions;

const SESSION: &str = "mcp-session-id";

/// An internal error, as JSON-RPC numbers it.
const INTERNAL_ERROR: i32 = -32603;

/// After `stop`, how long what was asked before may take.
const GRACE: Duration = Duration::from_secs(2);

/// Who may come in, and how much of us they may have.
#[derive(Clone, Debug)]
pub struct Options {
    /// Who may connect.
    pub access: AccessPolicy,
    /// Bytes of one request.
    pub body_max: usize,
    /// Sessions at once.
    pub sessions_max: usize,
    /// How long a session may be silent and without a stream.
    pub idle: Duration,
    /// How long a request may take to arrive, and how long until its answer begins.
    pub timeout: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            access: AccessPolicy::default(),
            body_max: LINE_MAX,
            sessions_max: 1024,
            idle: Duration::from_mins(30),
            timeout: Duration::from_mins(2),
        }
    }
}

struct Gate<H: ServerHandler> {
    direct: Direct<H>,
    access: AccessPolicy,
    sessions: Sessions,
    body_max: usize,
    timeout: Duration,
    /// Requests that are not answered, other than those that stay open for as long as one likes.
    work: TaskTracker,
    stop: CancellationToken,
}

/// Serves `/mcp` until `stop`: then what was asked is answered, and streams end.
pub fn router<H: ServerHandler + Clone>(
    handler: H,
    options: Options,
    stop: CancellationToken,
) -> Router {
    let sessions = Sessions::new(options.sessions_max, options.idle);
    let streams = CancellationToken::new();
    // Hosts and origins are checked by our own policy, which also knows the names that were added.
    let config = StreamableHttpServerConfig::default()
        .disable_allowed_hosts()
        .with_json_response(true)
        .with_max_request_body_bytes(options.body_max)
        .with_cancellation_token(streams.clone());
    let direct = Direct::new(handler.clone());
    let factory = move || Ok(handler.clone());
    let service = StreamableHttpService::new(factory, sessions.manager(), config);
    let work = TaskTracker::new();
    tokio::spawn(end_streams(stop.clone(), work.clone(), streams));
    let gate = Gate {
        direct,
        access: options.access,
        sessions,
        body_max: options.body_max,
        timeout: options.timeout,
        work,
        stop,
    };
    Router::new()
        .route_service("/mcp", service)
        .layer(middleware::from_fn_with_state(Arc::new(gate), pass::<H>))
}

/// Ends what has no end of its own, once the rest is done.
async fn end_streams(stop: CancellationToken, work: TaskTracker, streams: CancellationToken) {
    stop.cancelled().await;
    work.close();
    let _ = tokio::time::timeout(GRACE, work.wait()).await;
    streams.cancel();
}

async fn pass<H: ServerHandler>(
    State(gate): State<Arc<Gate<H>>>,
    request: Request,
    next: Next,
) -> Response {
    let (request, mut visit) = match gate.admit(request).await {
        Ok(admitted) => admitted,
        Err(refused) => return *refused,
    };
    if let Some((way, read)) = visit.read.take()
        && let Some(answer) = gate.answer(&visit, way, *read).await
    {
        return answer;
    }
    gate.serve(request, visit, next).await
}

/// What is known of a request before it is served.
struct Visit {
    session: Option<String>,
    /// The request's id as the client wrote it.
    id: Option<Box<str>>,
    /// Whether it stays open for as long as the client likes.
    listens: bool,
    /// What can be answered without the SDK.
    read: Option<(Way, Box<message::Request>)>,
}

impl<H: ServerHandler> Gate<H> {
    async fn admit(&self, request: Request) -> Result<(Request, Visit), Box<Response>> {
        check_access(&self.access, request.uri(), request.headers())?;
        let session = text(request.headers(), SESSION).map(str::to_owned);
        if let Some(session) = &session {
            self.sessions.seen(session);
        }
        let mut visit = Visit {
            session,
            id: None,
            listens: request.method() == Method::GET,
            read: None,
        };
        let is_json = text(request.headers(), header::CONTENT_TYPE.as_str())
            .is_some_and(|kind| kind.starts_with("application/json"));
        if request.method() != Method::POST || !is_json {
            return Ok((request, visit));
        }
        let (parts, body) = request.into_parts();
        let body = self.read(body).await?;
        match message::read(&body) {
            Incoming::Refused(refusal) if refusal.code != message::INVALID_PARAMS => {
                return Err(refuse(StatusCode::BAD_REQUEST, &refusal).into());
            }
            Incoming::Request(request) => {
                if serde_json::from_str::<rmcp::model::RequestId>(&request.id).is_err() {
                    let refusal = Refusal {
                        id: Some(request.id),
                        code: INVALID_REQUEST,
                        message: "Invalid Request: `id` must be a string or an integer of 64 bits"
                            .to_owned(),
                    };
                    return Err(refuse(StatusCode::BAD_REQUEST, &refusal).into());
                }
                visit.id = Some(request.id.clone());
                match request.request {
                    ClientRequest::InitializeRequest(_) if visit.session.is_none() => {
                        self.make_room(request.id).await?;
                    }
                    ClientRequest::SubscriptionsListenRequest(_) => visit.listens = true,
                    _ => {
                        let way = Direct::<H>::takes(&parts.headers, &request);
                        visit.read = way.map(|way| (way, request));
                    }
                }
            }
            Incoming::Batch(_) => {
                let message = "Invalid Request: no batches over HTTP; send one message a request";
                let refusal = Refusal::nameless(INVALID_REQUEST, message);
                return Err(refuse(StatusCode::BAD_REQUEST, &refusal).into());
            }
            Incoming::Nothing if body.trim_ascii().is_empty() => {
                let refusal = Refusal::nameless(PARSE_ERROR, "Parse error: an empty body");
                return Err(refuse(StatusCode::BAD_REQUEST, &refusal).into());
            }
            _ => {}
        }
        Ok((Request::from_parts(parts, Body::from(body)), visit))
    }

    async fn read(&self, body: Body) -> Result<Bytes, Box<Response>> {
        let all = async {
            let mut all = Vec::new();
            let mut parts = body.into_data_stream();
            while let Some(part) = parts.next().await {
                let part = part.map_err(|error| {
                    let refusal = Refusal::nameless(PARSE_ERROR, format!("Parse error: {error}"));
                    Box::new(refuse(StatusCode::BAD_REQUEST, &refusal))
                })?;
                if all.len() + part.len() > self.body_max {
                    let message = format!("Invalid Request: more than {} bytes", self.body_max);
                    let refusal = Refusal::nameless(INVALID_REQUEST, message);
                    return Err(refuse(StatusCode::PAYLOAD_TOO_LARGE, &refusal).into());
                }
                all.extend_from_slice(&part);
            }
            Ok(Bytes::from(all))
        };
        tokio::time::timeout(self.timeout, all)
            .await
            .unwrap_or_else(|_| {
                let message = "Invalid Request: the request did not arrive in time";
                let refusal = Refusal::nameless(INVALID_REQUEST, message);
                Err(refuse(StatusCode::REQUEST_TIMEOUT, &refusal).into())
            })
    }

    async fn make_room(&self, id: Box<str>) -> Result<(), Box<Response>> {
        if self.sessions.make_room().await {
            return Ok(());
        }
        let refusal = Refusal {
            id: Some(id),
            code: INTERNAL_ERROR,
            message: format!(
                "{} sessions are open, which is all there may be; close one (DELETE) or try again later",
                self.sessions.max()
            ),
        };
        let mut response = refuse(StatusCode::SERVICE_UNAVAILABLE, &refusal);
        let headers = response.headers_mut();
        headers.insert(header::RETRY_AFTER, HeaderValue::from_static("10"));
        Err(response.into())
    }

    /// The answer to a read; none where the SDK has to answer it.
    async fn answer(&self, visit: &Visit, way: Way, read: message::Request) -> Option<Response> {
        match (way, &visit.session) {
            (Way::Alone, _) => {
                let _work = self.work.token();
                let answer = tokio::time::timeout(self.timeout, self.direct.answer(read));
                answer.await.ok().flatten()
            }
            (Way::InSession, Some(session)) if self.sessions.has(session).await => {
                self.direct.answer_at_once(read)
            }
            (Way::InSession, _) => None,
        }
    }

    async fn serve(&self, request: Request, visit: Visit, next: Next) -> Response {
        let work = (!visit.listens && !self.stop.is_cancelled()).then(|| self.work.token());
        let Ok(response) = tokio::time::timeout(self.timeout, next.run(request)).await else {
            let refusal = Refusal {
                id: visit.id,
                code: INTERNAL_ERROR,
                message: format!("nothing came within {} s", self.timeout.as_secs()),
            };
            return refuse(StatusCode::GATEWAY_TIMEOUT, &refusal);
        };
        let begun = text(response.headers(), SESSION);
        if let Some(session) = begun {
            self.sessions.begins(session);
        }
        let session = begun.or(visit.session.as_deref());
        let stays = session.and_then(|session| self.sessions.stays(session));
        let kind = text(response.headers(), header::CONTENT_TYPE.as_str());
        if kind.is_none_or(|kind| !kind.starts_with("text/event-stream")) {
            return response;
        }
        // As long as the stream is open, its session is in use and its request is work.
        response.map(|body| {
            let stream = body.into_data_stream();
            Body::from_stream(stream.inspect(move |_| {
                let _ = (&work, &stays);
            }))
        })
    }
}

fn refuse(status: StatusCode, refusal: &Refusal) -> Response {
    let kind = [(header::CONTENT_TYPE, "application/json")];
    (status, kind, refusal.to_json()).into_response()
}

fn text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}
