//! The registry with an engine of its own.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use skills_access::AccessPolicy;
use skills_core::Kind;
use skills_iii::state::StateError;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::address::{WORKERS, authority};
use super::local_registry::{LocalRegistry, Stay};
use super::{GOODBYE, agents, files, http, mcp};
use crate::config::LoadedConfig;
use skills_mcp::http::{HttpOptions, router};

/// Where to serve and what to keep.
#[derive(Clone, Debug)]
pub struct ServeOptions {
    /// Where workers connect.
    pub url: String,
    /// Where HTTP is served.
    pub http: String,
    /// Where state is kept.
    pub data_dir: PathBuf,
    /// Required of every worker and of every MCP client.
    pub token: Option<String>,
}

/// Why nothing is served.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// An address that cannot be listened on.
    #[error("`{given}` is no address to listen on: {problem}")]
    Address {
        /// What was given.
        given: String,
        /// What is wrong with it.
        problem: String,
    },
    /// Somebody has the port, or the system says no.
    #[error("cannot listen on {address}: {cause}")]
    Listen {
        /// Where.
        address: String,
        /// The flag that moves it.
        flag: &'static str,
        /// What the system said.
        cause: io::Error,
    },
    /// The data directory cannot be used.
    #[error("{0}")]
    State(#[from] StateError),
}

impl ServeError {
    /// What a program makes of it; none where it is just broken.
    pub fn kind(&self) -> Option<Kind> {
        match self {
            Self::Address { .. } => Some(Kind::Invalid),
            Self::Listen { .. } => Some(Kind::Unavailable),
            Self::State(_) => None,
        }
    }

    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Address { .. } => {
                Some("such as ws://127.0.0.1:49134, or 127.0.0.1:49135 for --http".into())
            }
            Self::Listen { cause, flag, .. } if cause.kind() == io::ErrorKind::AddrInUse => {
                Some(format!(
                    "another `skills serve` or an iii engine may be running; stop it, or choose another port with {flag}"
                ))
            }
            Self::Listen { flag, .. } => Some(format!("choose another address with {flag}")),
            Self::State(error) => error.hint().map(str::to_owned),
        }
    }
}

/// Serves until `stop`, then lets everything finish.
pub async fn serve(
    serving: ServeOptions,
    loaded: &LoadedConfig,
    stop: impl Future<Output = ()>,
) -> Result<(), ServeError> {
    let workers = listen(where_workers_meet(&serving.url)?, "--url").await?;
    let web = listen(serving.http.clone(), "--http").await?;
    let folder = files::folder(loaded);
    let token = serving.token.clone();
    let mut local = LocalRegistry::open(
        &serving.data_dir,
        token,
        loaded,
        folder.as_ref(),
        Stay::Long,
    )?;
    let clients_stop = CancellationToken::new();
    local.follow(folder.clone(), agents::agents(loaded));
    let (stopping, stopped) = watch::channel(false);
    let until = |mut stopped: watch::Receiver<bool>| async move {
        // The sender is dropped only after it has spoken.
        let _ = stopped.wait_for(|stop| *stop).await;
    };
    let mut tasks = JoinSet::new();
    let report = files::boot_report(folder, Arc::clone(&local.registry), local.serving());
    let agents = agents::boot_report(agents::agents(loaded));
    let reporting = tasks.spawn(async { _ = tokio::join!(report, agents) });
    tokio::pin!(stop);
    // Nobody gets in before there is something to call.
    let ready = tokio::select! {
        ready = local.ready() => ready,
        () = &mut stop => false,
    };
    if ready {
        tracing::info!(
            workers = %address(&workers, "ws"), http = %address(&web, "http"),
            data = %serving.data_dir.display(), "ready"
        );
        let hub = local.embedded.hub.clone();
        let hub_stops = until(stopped.clone());
        tasks.spawn(async move { hub.serve(workers, hub_stops).await });
        let handler = mcp::handler(
            &local.client,
            Arc::clone(&local.registry),
            loaded,
            clients_stop.clone(),
        );
        let watching = tasks.spawn(mcp::watch_functions(&local.client, handler.clone()));
        let options = HttpOptions {
            access: AccessPolicy {
                token: serving.token,
                ..AccessPolicy::default()
            },
            ..HttpOptions::default()
        };
        let mcp = router(handler, options, clients_stop.clone());
        let registry = Arc::clone(&local.registry);
        let http = http::serve(web, registry, mcp, clients_stop.clone());
        let mut http = tokio::spawn(http);
        stop.await;
        // What clients are waiting for needs the workers, so clients go first.
        clients_stop.cancel();
        if tokio::time::timeout(GOODBYE, &mut http).await.is_err() {
            http.abort();
        }
        watching.abort();
    }
    tracing::info!("stopping");
    reporting.abort();
    local.leave().await;
    stopping.send_replace(true);
    while tasks.join_next().await.is_some() {}
    local.close().await;
    Ok(())
}

fn where_workers_meet(url: &str) -> Result<String, ServeError> {
    authority(url, WORKERS).map_err(|problem| ServeError::Address {
        given: url.into(),
        problem: problem.into(),
    })
}

async fn listen(address: String, flag: &'static str) -> Result<TcpListener, ServeError> {
    match TcpListener::bind(&address).await {
        Ok(listener) => Ok(listener),
        Err(cause) if cause.kind() == io::ErrorKind::InvalidInput => Err(ServeError::Address {
            given: address,
            problem: cause.to_string(),
        }),
        Err(cause) => Err(ServeError::Listen {
            address,
            flag,
            cause,
        }),
    }
}

fn address(listener: &TcpListener, scheme: &str) -> String {
    let local = listener.local_addr();
    format!(
        "{scheme}://{}",
        local.as_ref().map_or("?".into(), SocketAddr::to_string)
    )
}
