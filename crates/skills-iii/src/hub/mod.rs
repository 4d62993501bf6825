//! The embedded engine: workers connect to it, and it routes their calls.
//!
//! [`Hub::serve`] accepts sockets, [`Hub::attach`] connects a worker inside this process. One task
//! per connection reads a worker's messages (`protocol`) and routes them (`route`). Messages for
//! another worker go into that worker's queue, which never blocks, so no worker waits for another.
//! A queue that is full refuses calls and drops events; see [`crate::limits`].
//! `directory` and `trigger` are the tables of what is registered, `session` is one worker,
//! `builtin` has the functions and `events` the trigger types of the hub itself.

mod builtin;
mod directory;
mod events;
mod handshake;
mod id;
mod open_call;
mod protocol;
mod registered;
mod route;
mod session;
mod trigger;
mod trigger_type;
mod worker_log;

use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, RwLock};
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, watch};
use tokio::task::JoinSet;
use tokio_tungstenite::tungstenite::Error;
use tokio_tungstenite::tungstenite::error::ProtocolError;
use tokio_tungstenite::tungstenite::handshake::server::{ErrorResponse, Request, Response};
use tokio_tungstenite::tungstenite::protocol::Role;
use tokio_tungstenite::{WebSocketStream, accept_hdr_async_with_config};
use uuid::Uuid;

use directory::Directory;
use handshake::Endpoint;
use protocol::SessionProtocol;
use session::Session;
use skills_access::{AccessPolicy, Connection, Connections};

use crate::client::{Client, ClientOptions};
use crate::limits::{
    HANDSHAKE_TIMEOUT, INTRODUCTION_TIMEOUT, MAX_FRAME_BYTES, MAX_MESSAGE_BYTES, MAX_OPEN_CALLS,
    MAX_QUEUED_BYTES_OF_ALL, MAX_WORKER_CONNECTIONS, SILENCE_TIMEOUT, WRITE_TIMEOUT,
};
use crate::link::{
    Heartbeat, Monitored, Protocol, io_problem, problem, run_local, run_socket, socket_config,
};
use crate::lock::lock;
use crate::message::{BadMessage, Message};
use crate::queue::{Budget, Outbox, QueueLimits, local_queue, queue};
use crate::state::SqliteState;

/// How long connections may take to close when the hub stops.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(3);
/// The pause after a connection could not be accepted.
const ACCEPT_RETRY_DELAY: Duration = Duration::from_millis(50);

/// Settings of a [`Hub`].
#[derive(Clone)]
pub struct HubOptions {
    /// The store of `state::*`.
    pub state: Arc<SqliteState>,
    /// Which clients may connect.
    pub access: AccessPolicy,
    /// The largest number of connections. A new one takes the place of one whose handshake is
    /// not complete; if there is none, it is refused.
    pub max_connections: usize,
    /// The largest accepted message, in bytes.
    pub max_message_bytes: usize,
    /// How much may wait for a worker that does not read.
    pub queue: QueueLimits,
    /// How many bytes may wait for all workers that do not read.
    pub max_queued_bytes: usize,
    /// How many calls a worker may have open.
    pub max_open_calls: usize,
    /// The timeouts of sockets.
    pub heartbeat: Heartbeat,
    /// How long the registrations of a worker wait for its introduction before they take effect
    /// without one.
    pub introduction_timeout: Duration,
    /// What the names of commands begin with, which come and go without a line at INFO.
    pub command_prefix: Option<&'static str>,
}

impl HubOptions {
    /// The defaults, with this store.
    pub fn new(state: Arc<SqliteState>) -> Self {
        Self {
            state,
            access: AccessPolicy::default(),
            max_connections: MAX_WORKER_CONNECTIONS,
            max_message_bytes: MAX_MESSAGE_BYTES,
            queue: QueueLimits::default(),
            max_queued_bytes: MAX_QUEUED_BYTES_OF_ALL,
            max_open_calls: MAX_OPEN_CALLS,
            heartbeat: Heartbeat {
                ping_after: Duration::from_secs(30),
                silence_timeout: SILENCE_TIMEOUT,
                write_timeout: WRITE_TIMEOUT,
            },
            introduction_timeout: INTRODUCTION_TIMEOUT,
            command_prefix: None,
        }
    }
}

/// An engine inside this process. Cheap to clone; it lives as long as a clone or an attached
/// worker.
#[derive(Clone)]
pub struct Hub(Arc<Core>);

struct Core {
    options: HubOptions,
    /// The worker id of the hub itself.
    hub_id: String,
    serial: AtomicU64,
    /// What may wait for all sockets.
    budget: Budget,
    /// Bytes of events that wait for a condition.
    condition_bytes: AtomicUsize,
    // A std lock: nothing awaits while it is held.
    directory: RwLock<Directory>,
    functions_changed: Arc<Notify>,
    tasks: Mutex<JoinSet<()>>,
}

impl Hub {
    /// Starts an engine. Must be called inside a runtime.
    pub fn new(options: HubOptions) -> Self {
        let writes = options.state.changes();
        let core = Arc::new(Core {
            budget: Budget::new(options.max_queued_bytes),
            condition_bytes: AtomicUsize::new(0),
            options,
            hub_id: Uuid::new_v4().to_string(),
            serial: AtomicU64::new(0),
            directory: RwLock::default(),
            functions_changed: Arc::default(),
            tasks: Mutex::default(),
        });
        let changed = Arc::clone(&core.functions_changed);
        let mut tasks = lock(&core.tasks);
        // Weak references, so that these tasks do not keep the hub alive.
        tasks.spawn(events::publish_state_changes(Arc::downgrade(&core), writes));
        tasks.spawn(events::publish_functions(Arc::downgrade(&core), changed));
        drop(tasks);
        Self(core)
    }

    /// A worker inside this process: the same [`Client`], without a socket.
    pub fn attach(&self, name: &str) -> Client {
        self.attach_with(ClientOptions::named(name))
    }

    /// A worker inside this process, with settings.
    pub fn attach_with(&self, options: ClientOptions) -> Client {
        let (to_hub, from_worker) = local_queue(options.queue);
        let (to_worker, from_hub) = local_queue(options.queue);
        let session = self.0.new_session(to_worker.clone(), None);
        let mut protocol = SessionProtocol::new(&self.0, &session);
        let mut tasks = lock(&self.0.tasks);
        while tasks.try_join_next().is_some() {}
        tasks.spawn(async move {
            run_local(from_worker, to_worker, &mut protocol).await;
        });
        drop(tasks);
        Client::attached(from_hub, to_hub, options)
    }

    /// Serves workers that connect to `listener` until `shutdown` completes,
    /// then closes every connection, at the latest after three seconds.
    pub async fn serve(&self, listener: TcpListener, shutdown: impl Future<Output = ()>) {
        let mut connections = JoinSet::new();
        let places = Connections::new(self.0.options.max_connections);
        let (closing, _) = watch::channel(false);
        tokio::pin!(shutdown);
        loop {
            tokio::select! {
                () = &mut shutdown => break,
                accepted = listener.accept() => match accepted {
                    Ok((stream, _)) => {
                        let Some(place) = places.admit().await else {
                            tracing::warn!("refused a connection: too many workers are connected");
                            continue;
                        };
                        let core = Arc::clone(&self.0);
                        connections.spawn(connection(core, stream, place, closing.subscribe()));
                    }
                    Err(error) => {
                        // Most likely out of file handles, which is temporary.
                        tracing::warn!(problem = io_problem(&error), "cannot accept a connection");
                        tokio::time::sleep(ACCEPT_RETRY_DELAY).await;
                    }
                },
                Some(_) = connections.join_next() => {}
            }
        }
        drop(listener);
        closing.send_replace(true);
        let ended = async { while connections.join_next().await.is_some() {} };
        if tokio::time::timeout(SHUTDOWN_TIMEOUT, ended).await.is_err() {
            tracing::warn!(
                left = connections.len(),
                "dropping connections that did not close in time"
            );
            connections.shutdown().await;
        }
    }
}

impl Core {
    fn new_session(&self, outbox: Outbox, address: Option<IpAddr>) -> Arc<Session> {
        let serial = self.serial.fetch_add(1, Ordering::Relaxed);
        Session::new(serial, outbox, address, self.options.max_open_calls)
    }
}

/// Discards telemetry.
struct Discard;

impl Protocol for Discard {
    fn receive(&mut self, _: Message) {}

    fn receive_invalid(&mut self, _: &BadMessage) {}
}

async fn wait_until_closing(closing: &mut watch::Receiver<bool>) {
    // An error means that the sender is gone, which also means that the hub has stopped.
    let _ = closing.wait_for(|closing| *closing).await;
}

/// Serves one socket from handshake to end.
async fn connection(
    core: Arc<Core>,
    mut stream: TcpStream,
    place: Connection,
    mut closing: watch::Receiver<bool>,
) {
    let address = stream.peer_addr().ok().map(|address| address.ip());
    let from = address.map_or_else(|| "unknown".into(), |address| address.to_string());
    // Messages are small, and peers wait for them: do not delay them.
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "a connection ended before its handshake");
        return;
    }
    let mut endpoint = Endpoint::Telemetry;
    let config = socket_config(core.options.max_message_bytes, MAX_FRAME_BYTES);
    #[expect(
        clippy::result_large_err,
        reason = "tungstenite takes the refusal as a whole response"
    )]
    let check = |request: &Request, response: Response| -> Result<Response, ErrorResponse> {
        endpoint = handshake::check(request, &core.options.access)?;
        Ok(handshake::add_capabilities(response))
    };
    // The handshake borrows the socket, which a plain HTTP request needs for its response.
    let handshake = async {
        let opened = accept_hdr_async_with_config(&mut stream, check, Some(config)).await;
        let opened = opened.map(drop);
        if let Err(error) = &opened
            && handshake::is_plain_http(error)
            && let Err(error) = handshake::answer_plain_http(&mut stream).await
        {
            tracing::debug!(
                from,
                problem = io_problem(&error),
                "a connection ended before its response"
            );
        }
        opened
    };
    let opened = tokio::select! {
        opened = tokio::time::timeout(HANDSHAKE_TIMEOUT, handshake) => opened,
        () = place.replaced() => return,
        () = wait_until_closing(&mut closing) => return,
    };
    // Kept from now on.
    let _work = Arc::new(place).work();
    match opened {
        Ok(Ok(())) => {}
        // A probe whether a server listens here, as our own commands make.
        Ok(Err(Error::Protocol(ProtocolError::HandshakeIncomplete))) => {
            tracing::debug!(from, "a connection closed before its handshake");
            return;
        }
        Ok(Err(error)) if handshake::is_plain_http(&error) => {
            tracing::warn!(
                from,
                "answered a plain HTTP request; workers connect by WebSocket"
            );
            return;
        }
        Ok(Err(error)) => {
            tracing::warn!(from, reason = problem(&error), "refused a connection");
            return;
        }
        Err(_) => {
            tracing::warn!(from, "a connection sent no complete handshake in time");
            return;
        }
    }
    let stream = Monitored::new(stream);
    let socket = WebSocketStream::from_raw_socket(stream, Role::Server, Some(config)).await;
    let (outbox, queue) = queue(core.options.queue, &core.budget);
    let heartbeat = core.options.heartbeat;
    let finish = outbox.clone();
    let serving = async {
        if endpoint == Endpoint::Telemetry {
            return run_socket(socket, queue, heartbeat, &mut Discard).await;
        }
        let session = core.new_session(outbox, address);
        let mut protocol = SessionProtocol::new(&core, &session);
        let ended = run_socket(socket, queue, heartbeat, &mut protocol).await;
        core.log_disconnected(&session, &ended.to_string());
        ended
    };
    tokio::pin!(serving);
    tokio::select! {
        _ = &mut serving => {}
        () = wait_until_closing(&mut closing) => {
            finish.finish();
            serving.await;
        }
    }
}
