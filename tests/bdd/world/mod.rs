//! What the steps share: the world of a scenario, the backend, and ways to write values.

pub mod backend;
mod failure_writer;
mod feature_lint;
mod memory_backend;
mod received_calls;
mod socket_backend;
mod temp_folder;
pub mod values;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::Value;
use skills_core::{Error, FunctionId, Head, ResourceUri, SkillId};

pub use backend::{Backend, Behaviour, CallFailure, Offered};
pub use failure_writer::FailureWriter;
pub use feature_lint::lint_features;
pub use temp_folder::TempFolder;

/// How scenarios reach the registry: on an engine in memory, or over a socket.
pub static OVER_A_SOCKET: AtomicBool = AtomicBool::new(false);

/// Everything one scenario knows.
#[derive(Debug, cucumber::World)]
#[world(init = Self::new)]
pub struct World {
    /// The way to the registry.
    pub backend: Backend,
    /// What the last call came to.
    outcome: Option<Result<Value, CallFailure>>,
    /// The times of the registrations so far.
    pub times: Vec<String>,
    /// The functions the engine lists.
    pub functions: Vec<Offered>,
    /// The trigger types the engine lists.
    pub trigger_types: Vec<Offered>,
    /// The title and description of the last document.
    pub head: Option<Head>,
    /// What the last address means.
    pub address: Option<Result<ResourceUri, Error>>,
    /// Whether the last value keeps the rules.
    pub verdict: Option<Result<(), Error>>,
    /// The last function id.
    pub function: Option<FunctionId>,
    /// Registered skills and files for an index.
    pub registered: Vec<(SkillId, Head)>,
    /// Skills from files for an index.
    pub custom: Vec<(SkillId, Head)>,
    /// The index made of them.
    pub index: Option<Arc<str>>,
    /// Files of the scenario's own.
    pub files: TempFolder,
}

impl World {
    async fn new() -> Self {
        let backend = if OVER_A_SOCKET.load(Ordering::Relaxed) {
            Backend::Socket(socket_backend::SocketBackend::new().await)
        } else {
            Backend::Memory(memory_backend::MemoryBackend::new())
        };
        Self {
            backend,
            outcome: None,
            times: Vec::new(),
            functions: Vec::new(),
            trigger_types: Vec::new(),
            head: None,
            address: None,
            verdict: None,
            function: None,
            registered: Vec::new(),
            custom: Vec::new(),
            index: None,
            files: TempFolder::default(),
        }
    }

    /// Calls a function and keeps what it came to.
    pub async fn call(&mut self, function: &str, payload: Value) {
        let outcome = self.backend.call(function, payload).await;
        if let Ok(time) = outcome.as_ref().map(|answer| &answer["registered_at"])
            && let Some(time) = time.as_str()
        {
            self.times.push(time.to_owned());
        }
        self.outcome = Some(outcome);
    }

    /// Calls a function that has to succeed.
    pub async fn arrange(&mut self, function: &str, payload: Value) {
        self.call(function, payload).await;
        let _ = self.answer();
    }

    /// The answer of the last call.
    #[track_caller]
    pub fn answer(&self) -> &Value {
        match self.outcome.as_ref().expect("nothing was called yet") {
            Ok(answer) => answer,
            Err(failure) => panic!("the call failed as `{}`: {}", failure.code, failure.message),
        }
    }

    /// The error of the last call.
    #[track_caller]
    pub fn failure(&self) -> &CallFailure {
        match self.outcome.as_ref().expect("nothing was called yet") {
            Ok(answer) => panic!("the call succeeded: {answer:#}"),
            Err(failure) => failure,
        }
    }

    /// The text that the last call answered: of a fetch, or of the one entry of a
    /// read.
    #[track_caller]
    pub fn text(&self) -> &str {
        let answer = self.answer();
        let text = answer
            .as_str()
            .or_else(|| answer["contents"][0]["text"].as_str());
        text.unwrap_or_else(|| panic!("the answer holds no text: {answer:#}"))
    }
}
