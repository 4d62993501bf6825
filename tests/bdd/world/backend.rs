//! How steps reach the registry: in memory, or over a socket.
//!
//! Steps use nothing else, so the same scenarios run on both.

use std::collections::BTreeMap;

use serde_json::Value;
use skills_core::{LeaseSettings, OnConflict, RegistrySettings};
use skills_test_support::memory_source::MemorySource;

use super::memory_backend::MemoryBackend;
use super::socket_backend::SocketBackend;

/// A registry and the engine it is on.
#[derive(Debug)]
pub enum Backend {
    /// The table of operations on an engine in memory.
    Memory(MemoryBackend),
    /// A worker on an engine, over a socket.
    Socket(SocketBackend),
}

/// The error of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallFailure {
    /// The code, for programs.
    pub code: String,
    /// The message and hint, for people.
    pub message: String,
}

/// What a function of a scenario does.
#[derive(Clone, Debug)]
pub enum Behaviour {
    /// Returns this.
    Returns(Value),
    /// Returns a text once a number of calls are in progress.
    ReturnsOnceTogether {
        /// The text.
        text: String,
        /// How many calls must be in progress.
        parties: usize,
    },
    /// Fails with this message.
    Fails(String),
    /// Never returns.
    Hangs,
    /// Its worker has disconnected.
    Disconnected,
}

/// A function or trigger type as an engine lists it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedFunction {
    /// Its id.
    pub id: String,
    /// Its description.
    pub description: String,
    /// The name that tools show.
    pub label: Option<String>,
}

/// A row or file that is not served.
#[derive(Clone, Debug)]
pub struct Problem {
    /// Scope and key, or path.
    pub place: String,
    /// Why it is not served.
    pub reason: String,
}

/// The panic message of steps that need the other backend.
const IN_MEMORY: &str = "only the backend in memory can do this; tag the scenario @in_memory";

impl Backend {
    /// Calls a function of the registry.
    pub async fn call(&self, function: &str, payload: Value) -> Result<Value, CallFailure> {
        match self {
            Self::Memory(backend) => backend.call(function, payload).await,
            Self::Socket(backend) => backend.call(function, payload).await,
        }
    }

    /// Calls a function of the registry as a worker that disconnects after it.
    pub async fn call_and_leave(
        &self,
        function: &str,
        payload: Value,
    ) -> Result<Value, CallFailure> {
        match self {
            Self::Memory(backend) => backend.call_as("gone", function, payload).await,
            Self::Socket(backend) => backend.call_and_leave(function, payload).await,
        }
    }

    /// Registers a function, or replaces it.
    pub async fn register_function(&self, function: &str, behaviour: Behaviour) {
        match self {
            Self::Memory(backend) => backend.register_function(function, behaviour),
            Self::Socket(backend) => backend.register_function(function, behaviour).await,
        }
    }

    /// The payloads that a function of the scenario was called with, without the fields
    /// that an engine adds.
    pub fn received_calls(&self, function: &str) -> Vec<Value> {
        match self {
            Self::Memory(backend) => backend.received_calls(function),
            Self::Socket(backend) => backend.received_calls(function),
        }
    }

    /// Subscribes a function to a trigger type. It is registered if needed.
    pub async fn subscribe(&mut self, trigger_type: &str, function: &str) {
        match self {
            Self::Memory(backend) => backend.subscribe(trigger_type, function),
            Self::Socket(backend) => backend.subscribe(trigger_type, function).await,
        }
    }

    /// Removes a subscription.
    pub async fn unsubscribe(&mut self, trigger_type: &str, function: &str) {
        match self {
            Self::Memory(backend) => backend.unsubscribe(trigger_type, function),
            Self::Socket(backend) => backend.unsubscribe(trigger_type, function).await,
        }
    }

    /// The events since the last call of this: waits for as many as expected, and fails
    /// if there are more.
    pub async fn events(&mut self, expected: usize) -> Vec<(String, Value)> {
        let events = match self {
            Self::Memory(backend) => backend.events(expected).await,
            Self::Socket(backend) => backend.events(expected).await,
        };
        assert_eq!(events.len(), expected, "{events:?}");
        events
    }

    /// Writes a row to the state directly.
    pub async fn put_row(&self, scope: &str, key: &str, row: &Value) {
        match self {
            Self::Memory(backend) => backend.put_row(scope, key, row).await,
            Self::Socket(backend) => backend.put_row(scope, key, row).await,
        }
    }

    /// The rows of a scope by key.
    pub async fn rows(&self, scope: &str) -> BTreeMap<String, Value> {
        match self {
            Self::Memory(backend) => backend.rows(scope),
            Self::Socket(backend) => backend.rows(scope).await,
        }
    }

    /// The source beside the rows.
    pub fn source(&self) -> &MemorySource {
        match self {
            Self::Memory(backend) => &backend.source,
            Self::Socket(_) => panic!("{IN_MEMORY}"),
        }
    }

    /// Begins again with this rule for ids that a document has already.
    pub fn set_on_conflict(&mut self, on_conflict: OnConflict) {
        match self {
            Self::Memory(backend) => {
                *backend = MemoryBackend::with_settings(RegistrySettings {
                    on_conflict,
                    ..MemoryBackend::settings()
                });
            }
            Self::Socket(_) => panic!("{IN_MEMORY}"),
        }
    }

    /// Restarts the registry on the same state with these settings for leases.
    pub async fn restart(&mut self, leases: LeaseSettings) {
        match self {
            Self::Memory(backend) => {
                *backend = backend.restarted(RegistrySettings {
                    leases,
                    ..MemoryBackend::settings()
                });
            }
            Self::Socket(backend) => backend.restart_worker(leases).await,
        }
    }

    /// The rows and files that the registry cannot serve.
    pub async fn problems(&self) -> Vec<Problem> {
        match self {
            Self::Memory(backend) => backend.problems().await,
            Self::Socket(_) => panic!("{IN_MEMORY}"),
        }
    }

    /// The functions of the registry.
    pub async fn functions(&self) -> Vec<ListedFunction> {
        match self {
            Self::Memory(_) => MemoryBackend::functions(),
            Self::Socket(backend) => backend.functions().await,
        }
    }

    /// The trigger types of the registry.
    pub async fn trigger_types(&self) -> Vec<ListedFunction> {
        match self {
            Self::Memory(_) => MemoryBackend::trigger_types(),
            Self::Socket(backend) => backend.trigger_types().await,
        }
    }

    /// Disconnects the engine.
    pub fn disconnect(&mut self) {
        match self {
            Self::Memory(backend) => backend.disconnect(),
            Self::Socket(_) => panic!("{IN_MEMORY}"),
        }
    }

    /// Connects the engine again; subscribers subscribe again.
    pub fn reconnect(&mut self) {
        match self {
            Self::Memory(backend) => backend.reconnect(),
            Self::Socket(_) => panic!("{IN_MEMORY}"),
        }
    }
}
