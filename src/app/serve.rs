//! `skills serve`: engine, registry and HTTP in one process.

use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use skills_access::{AccessPolicy, Connections};
use skills_core::Kind;
use skills_iii::state::StateError;
use skills_mcp::http::{HttpOptions, router};
use skills_mcp::limits::MAX_HTTP_STREAMS;
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use tracing::Level;

use super::address::{DEFAULT_WORKER_PORT, authority};
use super::embedded_registry::EmbeddedRegistry;
use super::file_handles::max_connections;
use super::metrics_route::MetricsRoute;
use super::{SHUTDOWN_TIMEOUT, http, mcp, page, sources, well_known};
use crate::config::LoadedConfig;

/// Listen addresses, data directory and access.
#[derive(Clone, Debug)]
pub struct ServeOptions {
    /// The listen address for workers, as a `ws://` URL.
    pub url: String,
    /// The listen address for HTTP.
    pub http: String,
    /// The data directory.
    pub data_dir: PathBuf,
    /// Which workers and which HTTP clients may connect.
    pub access: AccessPolicy,
    /// Told when everything is ready, instead of the log.
    pub announce: Option<fn(&Ready)>,
}

/// What is served where.
#[derive(Debug)]
pub struct Ready {
    /// The address for workers.
    pub workers: String,
    /// The address for MCP clients.
    pub mcp: String,
    /// The address of the web page, if it is served.
    pub page: Option<String>,
    /// The data directory.
    pub data_dir: PathBuf,
    /// The origins of the skills, each with their number; or why they cannot be listed.
    pub skills: Result<BTreeMap<&'static str, usize>, String>,
    /// Whether clients need a token.
    pub has_token: bool,
}

/// Why serving did not start, or ended.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// An address is not valid.
    #[error("`{given}` is not a listen address: {problem}")]
    Address {
        /// The address.
        given: String,
        /// What is wrong with it.
        problem: String,
    },
    /// The port is in use, or the system refuses it.
    #[error("cannot listen on {address}: {}", listen_problem(cause))]
    Listen {
        /// The address.
        address: String,
        /// The option that sets it.
        flag: &'static str,
        /// The error of the system.
        cause: io::Error,
    },
    /// Other machines could use the server.
    #[error("{flag} {address} can be reached from other machines, and no token is set")]
    Exposed {
        /// The address.
        address: String,
        /// The option that sets it.
        flag: &'static str,
    },
    /// The data directory cannot be used.
    #[error("{0}")]
    State(#[from] StateError),
    /// The registry stopped serving, although nothing stopped it.
    #[error("the registry ended unexpectedly")]
    RegistryEnded,
}

impl ServeError {
    /// The kind of the error, for programs.
    pub fn kind(&self) -> Kind {
        match self {
            Self::Address { .. } | Self::Exposed { .. } => Kind::Invalid,
            Self::Listen { .. } => Kind::Unavailable,
            Self::State(_) | Self::RegistryEnded => Kind::Broken,
        }
    }

    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Address { .. } => {
                Some("such as ws://127.0.0.1:49134, or 127.0.0.1:49135 for --http".into())
            }
            Self::Listen { cause, flag, .. } if cause.kind() == io::ErrorKind::AddrInUse => {
                let joins = "if an iii engine is running there, `skills` without `serve` joins it; \
                             otherwise ";
                let joins = if *flag == "--url" { joins } else { "" };
                Some(format!(
                    "{joins}stop the program that has the port, or choose another with {flag}"
                ))
            }
            Self::Exposed { .. } => {
                Some("set a token with --token or SKILLS_TOKEN, or listen on 127.0.0.1 only".into())
            }
            Self::Listen { flag, .. } => Some(format!("choose another address with {flag}")),
            Self::State(error) => error.hint().map(str::to_owned),
            Self::RegistryEnded => Some("start it again; the log has the cause".into()),
        }
    }
}

/// Serves until `stop`, then lets everything finish.
pub async fn serve(
    options: ServeOptions,
    loaded: &LoadedConfig,
    stop: impl Future<Output = ()>,
) -> Result<(), ServeError> {
    let has_token = options.access.token.is_some();
    let worker_listener = listen(worker_address(&options.url)?, "--url", has_token).await?;
    let http_listener = listen(options.http.clone(), "--http", has_token).await?;
    let mut local = EmbeddedRegistry::open(&options.data_dir, options.access.clone(), loaded)?;
    let (clients_stop, hub_stop) = (CancellationToken::new(), CancellationToken::new());
    let mut tasks = JoinSet::new();
    let report = {
        let (sources, registry) = (local.sources.clone(), Arc::clone(&local.registry));
        let serving = local.serving();
        // What is announced has the numbers.
        let level = options.announce.map_or(Level::INFO, |_| Level::DEBUG);
        tasks.spawn(async move { sources::report(&sources, &registry, serving, level).await })
    };
    tokio::pin!(stop);
    // Connections are accepted once every function is registered and the files are followed.
    let ready = tokio::select! {
        ready = local.ready_with_files() => Some(ready),
        () = &mut stop => None,
    };
    let mut registry_ended = ready == Some(false);
    if ready == Some(true) {
        let (workers, http) = (&worker_listener, &http_listener);
        let addresses = (address(workers, "ws"), address(http, "http"));
        let worker_url = addresses.0.clone();
        announce(&options, addresses, loaded.config.http.page, &local).await;
        let (hub, stopped) = (local.hub.clone(), hub_stop.clone().cancelled_owned());
        tasks.spawn(async move { hub.serve(worker_listener, stopped).await });
        let registry = Arc::clone(&local.registry);
        let server = mcp::server(&local.client, registry, loaded, clients_stop.clone());
        let watching = tasks.spawn(mcp::watch_functions(&local.client, server.clone()));
        server.observe(local.metrics.mcp_observer());
        let access = options.access;
        let metrics = MetricsRoute {
            metrics: Arc::clone(&local.metrics),
            hub: local.hub.clone(),
            server: server.clone(),
            registry: Arc::clone(&local.registry),
            files: Arc::clone(&local.file_counts),
            data_dir: options.data_dir,
            access: access.clone(),
        };
        let max_connections = max_connections(loaded.config.limits.http_connections);
        let mcp_options = HttpOptions {
            access: access.clone(),
            max_body_bytes: loaded.config.limits.http_body_bytes,
            max_sessions: loaded.config.limits.http_sessions,
            max_streams: MAX_HTTP_STREAMS.min(max_connections / 2),
            ..HttpOptions::default()
        };
        let mut routes = router(server.clone(), mcp_options, clients_stop.clone());
        routes = routes.merge(metrics.router());
        if loaded.config.publish {
            let registry = Arc::clone(&local.registry);
            routes = routes.merge(well_known::router(registry, access.clone()));
        }
        if loaded.config.http.page {
            let (stop, max) = (&clients_stop, max_connections);
            let page = page::router(&local, &access, server, worker_url, max, stop);
            routes = routes.merge(page);
        }
        let health = http::Health {
            registry: Arc::clone(&local.registry),
            store: Arc::clone(&local.store),
            files: Arc::clone(&local.file_counts),
            access,
        };
        let connections = Connections::new(max_connections);
        let http = http::serve(
            http_listener,
            health,
            routes,
            connections,
            clients_stop.clone(),
        );
        let mut http = tokio::spawn(http);
        tokio::select! {
            () = &mut stop => {}
            () = local.ended() => registry_ended = true,
        }
        // Requests of clients may need the workers, so clients stop first.
        clients_stop.cancel();
        if tokio::time::timeout(SHUTDOWN_TIMEOUT, &mut http)
            .await
            .is_err()
        {
            http.abort();
        }
        watching.abort();
    }
    tracing::info!("stopping");
    report.abort();
    local.leave().await;
    hub_stop.cancel();
    while tasks.join_next().await.is_some() {}
    local.close().await;
    if registry_ended {
        return Err(ServeError::RegistryEnded);
    }
    Ok(())
}

/// Tells where everything is: the caller, or else the log.
async fn announce(
    options: &ServeOptions,
    (workers, http): (String, String),
    has_page: bool,
    local: &EmbeddedRegistry,
) {
    let (mcp, data) = (format!("{http}/mcp"), &options.data_dir);
    let page = has_page.then(|| format!("{http}/"));
    let Some(announce) = options.announce else {
        tracing::info!(page, workers, mcp, data = %data.display(), "ready");
        return;
    };
    let listing = local.registry.skills().await;
    let skills = listing.map_err(|error| error.to_text()).map(|listing| {
        let mut counts = BTreeMap::new();
        for head in listing.entries {
            *counts.entry(head.origin.as_str()).or_default() += 1;
        }
        counts
    });
    announce(&Ready {
        workers,
        mcp,
        page,
        data_dir: data.clone(),
        skills,
        has_token: options.access.token.is_some(),
    });
}

/// Why an address cannot be listened on.
fn listen_problem(cause: &io::Error) -> String {
    match cause.kind() {
        io::ErrorKind::AddrInUse => "the port is in use".into(),
        io::ErrorKind::AddrNotAvailable => "this machine does not have the address".into(),
        io::ErrorKind::PermissionDenied => "the system does not permit it".into(),
        _ => cause.to_string(),
    }
}

fn worker_address(url: &str) -> Result<String, ServeError> {
    authority(url, DEFAULT_WORKER_PORT).map_err(|problem| ServeError::Address {
        given: url.into(),
        problem: problem.into(),
    })
}

async fn listen(
    address: String,
    flag: &'static str,
    has_token: bool,
) -> Result<TcpListener, ServeError> {
    match TcpListener::bind(&address).await {
        Ok(listener) => {
            let is_local = |address: SocketAddr| address.ip().to_canonical().is_loopback();
            if has_token || listener.local_addr().is_ok_and(is_local) {
                return Ok(listener);
            }
            Err(ServeError::Exposed { address, flag })
        }
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
    let address = listener.local_addr();
    address.map_or_else(|_| "?".into(), |address| format!("{scheme}://{address}"))
}
