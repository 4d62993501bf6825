//! What the steps share: the state of a scenario, the backend, and values in feature files.

pub mod backend;
mod failure_writer;
mod feature_lint;
mod memory_backend;
mod received_calls;
mod socket_backend;
mod socket_worker;
mod temp_folder;
pub mod values;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::Value;
use skills_core::{Error, FunctionId, Head, ResourceUri, SkillId};

pub use backend::{Backend, Behaviour, CallFailure, ListedFunction};
pub use failure_writer::FailureWriter;
pub use feature_lint::lint_features;
pub use temp_folder::TempFolder;

/// Whether scenarios run over a socket or in memory.
pub static OVER_A_SOCKET: AtomicBool = AtomicBool::new(false);

/// The state of one scenario.
#[derive(Debug, cucumber::World)]
#[world(init = Self::new)]
pub struct World {
    /// The registry.
    pub backend: Backend,
    /// The result of the last call.
    outcome: Option<Result<Value, CallFailure>>,
    /// The times of the registrations so far.
    pub times: Vec<String>,
    /// The listed functions.
    pub functions: Vec<ListedFunction>,
    /// The listed trigger types.
    pub trigger_types: Vec<ListedFunction>,
    /// The title and description of the last document.
    pub head: Option<Head>,
    /// The last parsed address.
    pub address: Option<Result<ResourceUri, Error>>,
    /// Whether the last value is valid.
    pub verdict: Option<Result<(), Error>>,
    /// The last function id.
    pub function: Option<FunctionId>,
    /// Registered skills for an index.
    pub registered: Vec<(SkillId, Head)>,
    /// Skills from files for an index.
    pub custom: Vec<(SkillId, Head)>,
    /// The rendered index.
    pub index: Option<Arc<str>>,
    /// The files of the scenario.
    pub files: TempFolder,
    /// The last run of the program.
    pub run: Option<Run>,
}

/// A run of the program that has ended.
#[derive(Debug)]
pub struct Run {
    /// The exit code; none if a signal ended it.
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
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
            run: None,
        }
    }

    /// Calls a function and keeps the result.
    pub async fn call(&mut self, function: &str, payload: Value) {
        let outcome = self.backend.call(function, payload).await;
        if let Ok(time) = outcome.as_ref().map(|answer| &answer["registered_at"])
            && let Some(time) = time.as_str()
        {
            self.times.push(time.to_owned());
        }
        self.outcome = Some(outcome);
    }

    /// Calls a function that must succeed.
    pub async fn arrange(&mut self, function: &str, payload: Value) {
        self.call(function, payload).await;
        let _ = self.result();
    }

    /// The result of the last call.
    #[track_caller]
    pub fn result(&self) -> &Value {
        match self.outcome.as_ref().expect("a call before") {
            Ok(result) => result,
            Err(failure) => panic!("the call failed as `{}`: {}", failure.code, failure.message),
        }
    }

    /// The error of the last call.
    #[track_caller]
    pub fn failure(&self) -> &CallFailure {
        match self.outcome.as_ref().expect("a call before") {
            Ok(result) => panic!("the call succeeded: {result:#}"),
            Err(failure) => failure,
        }
    }

    /// The text in the result of the last call: of a fetch, or of the only entry of a
    /// read.
    #[track_caller]
    pub fn text(&self) -> &str {
        let result = self.result();
        let text = result
            .as_str()
            .or_else(|| result["contents"][0]["text"].as_str());
        text.unwrap_or_else(|| panic!("the result has no text: {result:#}"))
    }
}
