//! The engine inside this process, with its rows in a data directory.

use std::path::Path;
use std::sync::Arc;

use skills_access::AccessPolicy;
use skills_iii::state::{SqliteState, StateError, StoreOptions};
use skills_iii::{Client, ClientOptions, Hub, HubOptions};

/// A running engine and the store it keeps state in.
pub struct Embedded {
    /// The engine.
    pub hub: Hub,
    /// What it keeps.
    pub store: Arc<SqliteState>,
}

impl Embedded {
    /// Opens the data directory and starts an engine on it.
    pub fn open(data_dir: &Path, token: Option<String>) -> Result<Self, StateError> {
        let store = Arc::new(SqliteState::open(data_dir, StoreOptions::default())?);
        let hub = Hub::new(HubOptions {
            access: AccessPolicy {
                token,
                ..AccessPolicy::default()
            },
            ..HubOptions::new(Arc::clone(&store) as _)
        });
        Ok(Self { hub, store })
    }

    /// The registry's own connection: no socket in between.
    pub fn attach(&self) -> Client {
        self.hub.attach_with(ClientOptions {
            version: env!("CARGO_PKG_VERSION").into(),
            description: Some(env!("CARGO_PKG_DESCRIPTION").into()),
            ..ClientOptions::named("skills")
        })
    }
}
