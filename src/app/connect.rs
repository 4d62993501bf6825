//! The registry as a command finds it: on the engine that answers, else on the data
//! directory, in this process. Whoever calls functions need not know which.

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
use super::data_dir::data_dir as this_users;
use super::local_registry::{LocalRegistry, Stay};
use super::{GOODBYE, agents, files};
use crate::config::LoadedConfig;
use crate::engine::remote;

/// How long something that listens may take to turn out an engine.
const HANDSHAKE: Duration = Duration::from_secs(5);
/// How long somebody may take to pick up at all; on this machine it is no time.
const PICK_UP: Duration = Duration::from_millis(500);

/// Where to look for the registry.
#[derive(Clone, Debug)]
pub struct EngineTarget {
    /// Where an engine may be.
    pub url: String,
    /// What it asks for.
    pub token: Option<String>,
    /// Where state is, should no engine answer; else this user's data directory.
    pub data_dir: Option<PathBuf>,
}

/// Which of the two places to look in.
#[derive(Clone, Debug)]
pub enum Target {
    /// On an engine, else on a data directory.
    Engine(EngineTarget),
    /// On this data directory and nowhere else.
    Directory(PathBuf),
}

/// The registry, wherever it is.
pub struct Connected {
    /// A connection on which its functions can be called.
    pub client: Client,
    /// Where it was found.
    pub place: Location,
}

/// Where the registry is.
pub enum Location {
    /// On an engine that somebody else runs.
    Engine {
        /// Its address.
        url: String,
    },
    /// In this process.
    Here {
        /// Where state is.
        data_dir: PathBuf,
        /// The engine and the registry on it.
        local: Box<LocalRegistry>,
    },
}

/// Why there is no registry.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// An address that is none.
    #[error("{0}")]
    Address(#[from] BadAddress),
    /// Something listens there and is no engine, or does not let us in.
    #[error("something listens at {url}, but it did not answer as an engine within {after:?}")]
    Silent {
        /// Where.
        url: String,
        /// How long it was given.
        after: Duration,
    },
    /// Something listens there and says that we may not come in.
    #[error(
        "something listens at {url}, but it does not let us in as an engine would: HTTP {status}"
    )]
    TurnedAway {
        /// Where.
        url: String,
        /// What it said.
        status: u16,
    },
    /// Nobody listens, and there is no place for state.
    #[error("no engine answers at {url}, and this user has no data directory")]
    Nowhere {
        /// Where an engine was looked for.
        url: String,
    },
    /// The data directory cannot be used.
    #[error("{0}")]
    State(#[from] StateError),
    /// The registry in this process did not come up.
    #[error("the registry did not start")]
    Stuck,
}

impl ConnectError {
    /// What a program makes of it.
    pub fn kind(&self) -> Kind {
        match self {
            Self::Address(_) | Self::Nowhere { .. } => Kind::Invalid,
            Self::Silent { .. } => Kind::TimedOut,
            Self::TurnedAway {
                status: 401 | 403, ..
            } => Kind::Forbidden,
            Self::TurnedAway { .. } => Kind::Unavailable,
            Self::State(_) | Self::Stuck => Kind::Broken,
        }
    }

    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Address(_) => Some("an engine's address looks like ws://127.0.0.1:49134".into()),
            Self::Silent { .. } => Some(
                "is it an iii engine, and is the token right? --url names another address, --token another token".into(),
            ),
            Self::TurnedAway {
                status: 401 | 403, ..
            } => Some("is the token right? --token or SKILLS_TOKEN names it".into()),
            Self::TurnedAway { .. } => {
                Some("is it an iii engine? --url names another address".into())
            }
            Self::Nowhere { .. } => Some("say where state is kept with --data-dir".into()),
            Self::State(error) => error.hint().map(str::to_owned),
            Self::Stuck => None,
        }
    }
}

/// Finds the registry: an engine that answers at the address, else the data directory.
pub async fn connect(
    target: EngineTarget,
    loaded: &LoadedConfig,
    stay: Stay,
) -> Result<Connected, ConnectError> {
    start(target, loaded, stay).await?.ready().await
}

/// The same without waiting for a registry in this process to have loaded: functions
/// may not be there yet.
pub(super) async fn start(
    target: EngineTarget,
    loaded: &LoadedConfig,
    stay: Stay,
) -> Result<Connected, ConnectError> {
    let EngineTarget {
        url,
        token,
        data_dir: dir,
    } = target;
    if let Some(client) = engine_at(&url, token).await? {
        let place = Location::Engine { url };
        return Ok(Connected { client, place });
    }
    let data_dir = dir
        .or_else(this_users)
        .ok_or(ConnectError::Nowhere { url })?;
    start_local(data_dir, loaded, stay)
}

/// The registry on this data directory, in this process, whatever engines there are.
pub async fn open_local(
    data_dir: PathBuf,
    loaded: &LoadedConfig,
    stay: Stay,
) -> Result<Connected, ConnectError> {
    start_local(data_dir, loaded, stay)?.ready().await
}

/// The same without waiting.
pub(super) fn start_local(
    data_dir: PathBuf,
    loaded: &LoadedConfig,
    stay: Stay,
) -> Result<Connected, ConnectError> {
    let folder = files::folder(loaded);
    let local = Box::new(LocalRegistry::open(
        &data_dir,
        None,
        loaded,
        folder.as_ref(),
        stay,
    )?);
    Ok(Connected {
        client: local.client.clone(),
        place: Location::Here { data_dir, local },
    })
}

/// A connection to the engine at an address; none if nobody listens there.
pub async fn engine_at(url: &str, token: Option<String>) -> Result<Option<Client>, ConnectError> {
    let client = remote::visit(url, token)?;
    let turned_away = turned_away(client.events());
    // Without a port, `ws` means 80.
    let listening = match authority(url, 80) {
        Ok(address) => somebody_listens(&address).await,
        Err(_) => false,
    };
    if !listening {
        return Ok(None);
    }
    let url = url.to_owned();
    let error = tokio::select! {
        connected = tokio::time::timeout(HANDSHAKE, client.wait_connected()) => match connected {
            Ok(Ok(_)) => return Ok(Some(client)),
            _ => ConnectError::Silent { url, after: HANDSHAKE },
        },
        status = turned_away => ConnectError::TurnedAway { url, status },
    };
    client.shutdown(Duration::ZERO).await;
    Err(error)
}

/// Waits until whoever listens says that we may not come in.
async fn turned_away(mut events: broadcast::Receiver<Event>) -> u16 {
    loop {
        match events.recv().await {
            Ok(Event::ConnectionRefused { status }) => return status,
            Ok(_) | Err(broadcast::error::RecvError::Lagged(_)) => {}
            Err(broadcast::error::RecvError::Closed) => std::future::pending().await,
        }
    }
}

async fn somebody_listens(address: &str) -> bool {
    let connecting = TcpStream::connect(address);
    match tokio::time::timeout(PICK_UP, connecting).await {
        Ok(Ok(_)) => true,
        Ok(Err(error)) => {
            // Refused is the ordinary case; anything else is worth a line to whoever asks.
            if error.kind() != io::ErrorKind::ConnectionRefused {
                tracing::debug!(address, %error, "nobody there");
            }
            false
        }
        Err(_) => false,
    }
}

impl Connected {
    /// Waits until a registry in this process offers its functions.
    async fn ready(mut self) -> Result<Self, ConnectError> {
        if let Location::Here { local, .. } = &mut self.place
            && !local.ready().await
        {
            return Err(ConnectError::Stuck);
        }
        Ok(self)
    }

    /// For whoever stays: announces what changes in the files from now on, where
    /// nobody else does.
    pub fn follow_files(&mut self, loaded: &LoadedConfig) {
        if let Location::Here { local, .. } = &mut self.place {
            local.follow(files::folder(loaded), agents::agents(loaded));
        }
    }

    /// Finishes what is in flight and lets go.
    pub async fn close(self) {
        match self.place {
            Location::Engine { .. } => self.client.shutdown(GOODBYE).await,
            Location::Here { local, .. } => local.close().await,
        }
    }
}
