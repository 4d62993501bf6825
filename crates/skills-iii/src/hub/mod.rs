//! The embedded engine: workers connect to it, and it routes their calls.
//!
//! [`Hub::serve`] takes sockets, [`Hub::attach`] a worker inside this process.
//! One task per worker reads what it says and acts on it at once; what another
//! worker is to hear goes into that worker's queue, which never blocks. So no
//! worker waits for another.

mod builtin;
mod directory;
mod events;
mod handshake;
mod route;
mod session;
mod side;
mod trigger;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
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
use session::Session;
use side::SessionSide;
use skills_access::AccessPolicy;

use crate::client::{Client, ClientOptions};
use crate::link::{Heartbeat, Link, run, socket_config};
use crate::queue::{QueueLimits, queue};
use crate::state::StateStore;

/// How long a handshake may take.
const HANDSHAKE: Duration = Duration::from_secs(10);
/// How long workers may take to close when the hub stops.
const GOODBYE: Duration = Duration::from_secs(3);
/// The pause after a connection could not be taken.
const RETRY: Duration = Duration::from_millis(50);

/// Settings of a [`Hub`].
#[derive(Clone)]
pub struct HubOptions {
    /// Where `state::*` is kept.
    pub state: Arc<dyn StateStore>,
    /// Who may connect.
    pub access: AccessPolicy,
    /// The largest message taken, in bytes.
    pub max_message_bytes: usize,
    /// How much may wait for a worker before it counts as not reading.
    pub queue: QueueLimits,
    /// How sockets are watched.
    pub heartbeat: Heartbeat,
    /// How long a worker may take to introduce itself before its offers count
    /// anyway.
    pub introduction_timeout: Duration,
}

impl HubOptions {
    /// The defaults, with state kept in `state`.
    pub fn new(state: Arc<dyn StateStore>) -> Self {
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

/// An engine inside this process. Cheap to clone; it lives as long as anyone
/// holds it or is attached to it.
#[derive(Clone)]
pub struct Hub(Arc<Core>);

struct Core {
    options: HubOptions,
    /// The id under which the hub itself owns functions.
    own_id: String,
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
            own_id: Uuid::new_v4().to_string(),
            serial: AtomicU64::new(0),
            directory: RwLock::default(),
            functions_changed: Arc::default(),
            tasks: Mutex::default(),
        });
        let changed = Arc::clone(&core.functions_changed);
        let mut tasks = core.tasks();
        // They hold no claim on the hub: it ends when nobody else does.
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
        let [(to_hub, worker_end), (to_worker, hub_end)] = Link::pair(options.queue);
        let session = Session::new(self.0.next_serial(), to_worker, None);
        let mut side = SessionSide::new(&self.0, &session, self.0.options.introduction_timeout);
        let mut tasks = self.0.tasks();
        // Those that ended; nobody else waits for them.
        while tasks.try_join_next().is_some() {}
        tasks.spawn(async move {
            run(hub_end, &mut side).await;
        });
        drop(tasks);
        Client::attached(worker_end, to_hub, options)
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
                        // Out of file handles, most likely; it passes.
                        tracing::warn!(%error, "cannot take a connection");
                        tokio::time::sleep(RETRY).await;
                    }
                },
                Some(_) = connections.join_next() => {}
            }
        }
        drop(listener);
        closing.send_replace(true);
        let ended = async { while connections.join_next().await.is_some() {} };
        if tokio::time::timeout(GOODBYE, ended).await.is_err() {
            tracing::warn!(
                left = connections.len(),
                "workers that did not close in time"
            );
            connections.shutdown().await;
        }
    }
}

impl Core {
    fn next_serial(&self) -> u64 {
        self.serial.fetch_add(1, Ordering::Relaxed)
    }

    fn tasks(&self) -> MutexGuard<'_, JoinSet<()>> {
        self.tasks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn told_to_close(closing: &mut watch::Receiver<bool>) {
    // A sender that is gone has stopped serving as well.
    let _gone = closing.wait_for(|closing| *closing).await;
}

/// One socket, from handshake to end.
async fn connection(core: Arc<Core>, mut stream: TcpStream, mut closing: watch::Receiver<bool>) {
    let address = stream.peer_addr().ok().map(|address| address.ip());
    // Messages are small and wait for each other: never hold one back.
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "a connection that ended before it began");
        return;
    }
    let mut endpoint = Endpoint::Telemetry;
    let config = socket_config(core.options.max_message_bytes);
    #[expect(
        clippy::result_large_err,
        reason = "the library wants the refusal whole"
    )]
    let check = |request: &Request, response: Response| -> Result<Response, ErrorResponse> {
        endpoint = handshake::check(request, &core.options.access)?;
        Ok(handshake::welcome(response))
    };
    // The socket is lent, so that whoever asks for something else can be told.
    let handshake = async {
        let opened = accept_hdr_async_with_config(&mut stream, check, Some(config)).await;
        let opened = opened.map(drop);
        if let Err(error) = &opened
            && handshake::is_plain_http(error)
            && let Err(error) = handshake::explain(&mut stream).await
        {
            tracing::debug!(?address, %error, "a connection that did not wait for its answer");
        }
        opened
    };
    let opened = tokio::select! {
        opened = tokio::time::timeout(HANDSHAKE, handshake) => opened,
        () = told_to_close(&mut closing) => return,
    };
    match opened {
        Ok(Ok(())) => {}
        // Somebody looked whether anybody listens, as our own commands do.
        Ok(Err(Error::Protocol(ProtocolError::HandshakeIncomplete))) => {
            tracing::debug!(?address, "a connection that left without a word");
            return;
        }
        Ok(Err(error)) => {
            tracing::warn!(?address, %error, "refused a connection");
            return;
        }
        Err(_) => {
            tracing::warn!(?address, "a connection that never said what it wanted");
            return;
        }
    }
    let mut socket = WebSocketStream::from_raw_socket(stream, Role::Server, Some(config)).await;
    if endpoint == Endpoint::Telemetry {
        let drained = async { while let Some(Ok(_)) = socket.next().await {} };
        tokio::select! {
            () = drained => {}
            () = told_to_close(&mut closing) => {}
        }
        return;
    }
    let (outbox, queue) = queue(core.options.queue);
    let link = Link::socket(socket, queue, core.options.heartbeat);
    let session = Session::new(core.next_serial(), outbox, address);
    let mut side = SessionSide::new(&core, &session, core.options.introduction_timeout);
    let serving = run(link, &mut side);
    tokio::pin!(serving);
    let ended = tokio::select! {
        ended = &mut serving => ended,
        () = told_to_close(&mut closing) => {
            session.finish();
            serving.await
        }
    };
    tracing::debug!(worker = session.name(), reason = %ended, "a connection ended");
}
