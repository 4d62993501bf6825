//! Finds the registry: on the engine at an address, or on a data directory.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use skills_core::Kind;
use skills_iii::client::BadAddress;
use skills_iii::state::StateError;
use skills_iii::{Client, Event};
use tokio::net::TcpStream;
use tokio::sync::broadcast;

use super::address::authority;
use super::data_dir::data_dir as user_data_dir;
use crate::engine::remote;

/// How long a listener may take to complete an engine's handshake.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(5);
/// How long a listener may take to accept a connection; on this machine it takes no time.
const ACCEPT_TIMEOUT: Duration = Duration::from_millis(500);

/// An engine to look for.
#[derive(Clone, Debug)]
pub struct EngineTarget {
    /// Its address.
    pub url: String,
    /// The token it requires.
    pub token: Option<String>,
    /// The data directory to use if no engine is listening; by default this user's.
    pub data_dir: Option<PathBuf>,
    /// Whether no data directory may take its place.
    pub is_required: bool,
}

/// Where to look for the registry.
#[derive(Clone, Debug)]
pub enum Target {
    /// On an engine, and on a data directory if none is listening.
    Engine(EngineTarget),
    /// On this data directory only.
    Directory(PathBuf),
}

/// Where the registry is.
pub enum Location {
    /// On an engine that runs elsewhere.
    Engine {
        /// A connection to it.
        client: Client,
        /// Its address.
        url: String,
    },
    /// On a data directory.
    Directory(PathBuf),
}

/// Why no registry was found.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// The address is not valid.
    #[error("{0}")]
    Address(#[from] BadAddress),
    /// A listener did not complete the handshake of an engine.
    #[error("something listens at {url}, but it did not answer as an engine within {after:?}")]
    Silent {
        /// The address.
        url: String,
        /// The time it had.
        after: Duration,
    },
    /// A listener refused the connection.
    #[error("something listens at {url}, but it refused the connection: HTTP {status}")]
    Refused {
        /// The address.
        url: String,
        /// The HTTP status.
        status: u16,
    },
    /// No engine is listening at an address that must have one.
    #[error("no engine is listening at {url}")]
    NotListening {
        /// The address.
        url: String,
    },
    /// No engine is listening, and there is no data directory.
    #[error("no engine is listening at {url}, and this user has no data directory")]
    NoDataDir {
        /// The address of the engine.
        url: String,
    },
    /// The data directory cannot be used.
    #[error("{0}")]
    State(#[from] StateError),
}

impl ConnectError {
    /// The kind of the error, for programs.
    pub fn kind(&self) -> Kind {
        match self {
            Self::Address(_) | Self::NoDataDir { .. } => Kind::Invalid,
            Self::Silent { .. } => Kind::TimedOut,
            Self::Refused {
                status: 401 | 403, ..
            } => Kind::Forbidden,
            Self::Refused { .. } | Self::NotListening { .. } => Kind::Unavailable,
            Self::State(_) => Kind::Broken,
        }
    }

    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Address(_) => "an engine's address looks like ws://127.0.0.1:49134",
            Self::Silent { .. } => {
                "is it an iii engine, and is the token right? --url names another address, --token another token"
            }
            Self::Refused { status, .. } => refusal_hint(*status),
            Self::NotListening { .. } => {
                "start it, name another address with --url, or use a data directory: `--data-dir DIR` instead of the address"
            }
            Self::NoDataDir { .. } => "name a data directory with --data-dir",
            Self::State(error) => error.hint()?,
        };
        Some(hint.to_owned())
    }
}

/// What to do about a connection that a listener refused with this HTTP status.
pub const fn refusal_hint(status: u16) -> &'static str {
    match status {
        401 => "is the token right? --token or SKILLS_TOKEN names it",
        403 => {
            "the server does not accept this host name; start it with --allow-host, or use its address"
        }
        _ => "is it an iii engine? --url names another address",
    }
}

/// Finds the registry.
pub async fn locate(target: Target) -> Result<Location, ConnectError> {
    let EngineTarget {
        url,
        token,
        data_dir,
        is_required,
    } = match target {
        Target::Engine(target) => target,
        Target::Directory(dir) => return Ok(Location::Directory(dir)),
    };
    if let Some(client) = engine_at(&url, token).await? {
        return Ok(Location::Engine { client, url });
    }
    if is_required {
        return Err(ConnectError::NotListening { url });
    }
    let data_dir = data_dir.or_else(user_data_dir);
    let data_dir = data_dir.ok_or(ConnectError::NoDataDir { url })?;
    Ok(Location::Directory(data_dir))
}

/// Connects to the engine at an address; `None` if nothing is listening there.
pub async fn engine_at(url: &str, token: Option<String>) -> Result<Option<Client>, ConnectError> {
    let client = remote::connect_caller(url, token)?;
    let refused = refused(client.events());
    // Without a port, `ws` means 80.
    let listening = match authority(url, 80) {
        Ok(address) => is_listening(&address).await,
        Err(_) => false,
    };
    if !listening {
        return Ok(None);
    }
    let url = url.to_owned();
    let after = HANDSHAKE_TIMEOUT;
    let error = tokio::select! {
        connected = tokio::time::timeout(after, client.wait_connected()) => match connected {
            Ok(Ok(_)) => return Ok(Some(client)),
            _ => ConnectError::Silent { url, after },
        },
        status = refused => ConnectError::Refused { url, status },
    };
    client.shutdown(Duration::ZERO).await;
    Err(error)
}

/// Waits until the listener refuses the connection; returns the HTTP status.
async fn refused(mut events: broadcast::Receiver<Event>) -> u16 {
    loop {
        match events.recv().await {
            Ok(Event::ConnectionRefused { status }) => return status,
            Ok(_) | Err(broadcast::error::RecvError::Lagged(_)) => {}
            Err(broadcast::error::RecvError::Closed) => std::future::pending().await,
        }
    }
}

async fn is_listening(address: &str) -> bool {
    match tokio::time::timeout(ACCEPT_TIMEOUT, TcpStream::connect(address)).await {
        Ok(Ok(_)) => true,
        Ok(Err(error)) => {
            // A refused connection is the ordinary case; other errors may need attention.
            if error.kind() != io::ErrorKind::ConnectionRefused {
                tracing::debug!(address, %error, "no engine is listening");
            }
            false
        }
        Err(_) => false,
    }
}
