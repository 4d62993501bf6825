//! How a step reaches the registry: the calls a worker on an engine can make.
//!
//! Steps know nothing else, so the same scenarios can run against an engine behind
//! a socket. Everything is async for that reason.

use std::collections::BTreeMap;

use serde_json::Value;
use skills_test_support::memory_source::MemorySource;

use super::memory_backend::MemoryBackend;
use super::socket_backend::SocketBackend;

/// A way to the registry.
#[derive(Debug)]
pub enum Backend {
    /// The function table on an engine in memory.
    Memory(MemoryBackend),
    /// A worker on an engine, over a socket.
    Socket(SocketBackend),
}

/// What a caller sees of an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallFailure {
    /// For programs.
    pub code: String,
    /// For people: message and hint.
    pub message: String,
}

/// What a function that a scenario offers does when it is called.
#[derive(Clone, Debug)]
pub enum Behaviour {
    /// Answers this.
    Returns(Value),
    /// Answers this text once so many calls are waiting for each other.
    ReturnsOnceTogether {
        /// What it answers.
        text: String,
        /// How many calls have to be under way at the same time.
        parties: usize,
    },
    /// Answers with an error.
    Fails(String),
    /// Never answers.
    Hangs,
    /// Was offered once; its worker is gone.
    Vanished,
}

/// A function or trigger type as an engine lists it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offered {
    /// Its id.
    pub id: String,
    /// What it says about itself.
    pub about: String,
    /// What tools show instead of the id.
    pub label: Option<String>,
}

/// A row or document that is not served, and why.
#[derive(Clone, Debug)]
pub struct Problem {
    /// Scope and key, or path.
    pub place: String,
    /// What is wrong with it.
    pub reason: String,
}

/// For steps of scenarios that carry `@in_memory` or no `@engine`.
const IN_MEMORY: &str = "only an engine in memory can do this; tag the scenario @in_memory";

impl Backend {
    /// Calls a function of the registry.
    pub async fn call(&self, function: &str, payload: Value) -> Result<Value, CallFailure> {
        match self {
            Self::Memory(backend) => backend.call(function, payload).await,
            Self::Socket(backend) => backend.call(function, payload).await,
        }
    }

    /// Offers a function, or changes what it does.
    pub async fn offer(&self, function: &str, behaviour: Behaviour) {
        match self {
            Self::Memory(backend) => backend.offer(function, behaviour),
            Self::Socket(backend) => backend.offer(function, behaviour).await,
        }
    }

    /// What an offered function was called with so far, without the fields an
    /// engine adds.
    pub fn received_calls(&self, function: &str) -> Vec<Value> {
        match self {
            Self::Memory(backend) => backend.received_calls(function),
            Self::Socket(backend) => backend.received_calls(function),
        }
    }

    /// Lets a function hear of changes. It need not be offered before.
    pub async fn subscribe(&mut self, trigger_type: &str, function: &str) {
        match self {
            Self::Memory(backend) => backend.subscribe(trigger_type, function),
            Self::Socket(backend) => backend.subscribe(trigger_type, function).await,
        }
    }

    /// Takes a subscription back.
    pub async fn unsubscribe(&mut self, trigger_type: &str, function: &str) {
        match self {
            Self::Memory(backend) => backend.unsubscribe(trigger_type, function),
            Self::Socket(backend) => backend.unsubscribe(trigger_type, function).await,
        }
    }

    /// The notices that reached subscribers since the last time: waits for as many
    /// as expected, and fails if there is one more.
    pub async fn notices(&mut self, expected: usize) -> Vec<(String, Value)> {
        let notices = match self {
            Self::Memory(backend) => backend.notices().await,
            Self::Socket(backend) => backend.notices(expected).await,
        };
        assert_eq!(notices.len(), expected, "notices: {notices:?}");
        notices
    }

    /// Writes a row past the registry, as any worker may.
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

    /// What the registry says it cannot serve.
    pub async fn problems(&self) -> Vec<Problem> {
        match self {
            Self::Memory(backend) => backend.problems().await,
            Self::Socket(_) => panic!("{IN_MEMORY}"),
        }
    }

    /// The functions of the registry.
    pub async fn functions(&self) -> Vec<Offered> {
        match self {
            Self::Memory(_) => MemoryBackend::functions(),
            Self::Socket(backend) => backend.functions().await,
        }
    }

    /// The trigger types of the registry.
    pub async fn trigger_types(&self) -> Vec<Offered> {
        match self {
            Self::Memory(_) => MemoryBackend::trigger_types(),
            Self::Socket(backend) => backend.trigger_types().await,
        }
    }

    /// The engine goes away.
    pub fn cut(&mut self) {
        match self {
            Self::Memory(backend) => backend.cut(),
            Self::Socket(_) => panic!("{IN_MEMORY}"),
        }
    }

    /// The engine is back, and subscribers subscribe again.
    pub fn mend(&mut self) {
        match self {
            Self::Memory(backend) => backend.mend(),
            Self::Socket(_) => panic!("{IN_MEMORY}"),
        }
    }
}
