//! The embedded engine: workers connect to it, and it routes their calls.
//!
//! [`Hub::serve`] accepts sockets, [`Hub::attach`] connects a worker inside this process. One task
//! per connection reads a worker's messages (`protocol`) and routes them (`route`). Messages for
//! another worker go into that worker's queue, which never blocks, so no worker waits for another.
//! `directory` and `trigger` are the tables of what is registered, `session` is one worker,
//! `builtin` has the functions and `events` the trigger types of the hub itself.

mod builtin;
mod directory;
mod events;
mod handshake;
mod protocol;
mod route;
mod session;
mod trigger;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, RwLock};
use std::time::Duration;

use futures_util::StreamExt;
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
use skills_access::AccessPolicy;

use crate::client::{Client, ClientOptions};
use crate::link::{Heartbeat, run_local, run_socket, socket_config};
use crate::lock::lock;
use crate::queue::{QueueLimits, queue};
use crate::state::SqliteState;

/// How long a handshake may take.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(10);
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
    /// The largest accepted message, in bytes.
    pub max_message_bytes: usize,
    /// How much may wait for a worker that does not read.
    pub queue: QueueLimits,
    /// The timeouts of sockets.
    pub heartbeat: Heartbeat,
    /// How long the registrations of a worker wait for its introduction before they take effect
    /// without one.
    pub introduction_timeout: Duration,
}

impl HubOptions {
    /// The defaults, with this store.
    pub fn new(state: Arc<SqliteState>) -> Self {
        Self {
            state,
            access: AccessPolicy::default(),
            max_message_bytes: 256 << 20,
            queue: QueueLimits::default(),
            heartbeat: Heartbeat {
                ping_after: Duration::from_secs(30),
                silence_timeout: Duration::from_secs(90),
                write_timeout: Duration::from_secs(30),
            },
            introduction_timeout: Duration::from_secs(5),
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
        let (to_hub, from_worker) = queue(options.queue);
        let (to_worker, from_hub) = queue(options.queue);
        let session = Session::new(self.0.next_serial(), to_worker.clone(), None);
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
        let (closing, _) = watch::channel(false);
        tokio::pin!(shutdown);
        loop {
            tokio::select! {
                () = &mut shutdown => break,
                accepted = listener.accept() => match accepted {
                    Ok((stream, _)) => {
                        let connection = connection(Arc::clone(&self.0), stream, closing.subscribe());
                        connections.spawn(connection);
                    }
                    Err(error) => {
                        // Most likely out of file handles, which is temporary.
                        tracing::warn!(%error, "cannot accept a connection");
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
    fn next_serial(&self) -> u64 {
        self.serial.fetch_add(1, Ordering::Relaxed)
    }
}

async fn wait_until_closing(closing: &mut watch::Receiver<bool>) {
    // An error means that the sender is gone, which also means that the hub has stopped.
    let _ = closing.wait_for(|closing| *closing).await;
}

/// Serves one socket from handshake to end.
async fn connection(core: Arc<Core>, mut stream: TcpStream, mut closing: watch::Receiver<bool>) {
    let address = stream.peer_addr().ok().map(|address| address.ip());
    // Messages are small, and peers wait for them: do not delay them.
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "a connection ended before its handshake");
        return;
    }
    let mut endpoint = Endpoint::Telemetry;
    let config = socket_config(core.options.max_message_bytes);
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
            tracing::debug!(?address, %error, "a connection ended before its response");
        }
        opened
    };
    let opened = tokio::select! {
        opened = tokio::time::timeout(HANDSHAKE_TIMEOUT, handshake) => opened,
        () = wait_until_closing(&mut closing) => return,
    };
    match opened {
        Ok(Ok(())) => {}
        // A probe whether a server listens here, as our own commands make.
        Ok(Err(Error::Protocol(ProtocolError::HandshakeIncomplete))) => {
            tracing::debug!(?address, "a connection closed before its handshake");
            return;
        }
        Ok(Err(error)) => {
            tracing::warn!(?address, %error, "refused a connection");
            return;
        }
        Err(_) => {
            tracing::warn!(?address, "a handshake timed out");
            return;
        }
    }
    let mut socket = WebSocketStream::from_raw_socket(stream, Role::Server, Some(config)).await;
    if endpoint == Endpoint::Telemetry {
        let drained = async { while let Some(Ok(_)) = socket.next().await {} };
        tokio::select! {
            () = drained => {}
            () = wait_until_closing(&mut closing) => {}
        }
        return;
    }
    let (outbox, queue) = queue(core.options.queue);
    let session = Session::new(core.next_serial(), outbox, address);
    let mut protocol = SessionProtocol::new(&core, &session);
    let serving = run_socket(socket, queue, core.options.heartbeat, &mut protocol);
    tokio::pin!(serving);
    let ended = tokio::select! {
        ended = &mut serving => ended,
        () = wait_until_closing(&mut closing) => {
            session.finish();
            serving.await
        }
    };
    tracing::debug!(worker = session.name(), reason = %ended, "a connection ended");
}
