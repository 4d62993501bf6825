//! The web page of the registry, served next to `/mcp`.
//!
//! A handler decodes a request, makes one call of the registry or runs one operation of
//! `skills-api`, and renders HTML. `pages/` has one file per page, `layout.rs` what all pages have
//! in common, `assets.rs` the stylesheet and the script, `access.rs` who may read and write,
//! `events.rs` how open pages hear of changes, and `tree.rs` the folders of skills.
//!
//! Every text of a skill, a prompt or a function is hostile. `maud` escapes what a page shows;
//! the only markup that is made from content comes from `markdown.rs`, which escapes all text
//! itself and writes no address that it has not checked.
//!
//! Absent on purpose: a framework, a build step, inline scripts and styles, anything from another
//! server, and rules: `skills-core` has them.

mod access;
mod assets;
mod compress;
mod difference;
mod events;
mod fields;
mod format;
mod layout;
pub mod limits;
mod links;
mod markdown;
mod pages;
mod problem;
mod response;
mod tree;

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Router;
use axum::middleware;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::value::to_raw_value;
use skills_access::AccessPolicy;
use skills_core::{Error, Registry};

pub use events::Events;
use fields::FormBudget;
use tree::TreeCache;

/// What the page is made from.
pub struct PageOptions {
    /// The registry.
    pub registry: Arc<Registry>,
    /// Who may connect.
    pub access: AccessPolicy,
    /// The version of the program.
    pub version: &'static str,
    /// Tells open pages of changes.
    pub events: Events,
    /// The address for workers.
    pub worker_url: String,
    /// The MCP clients that are connected.
    pub mcp_clients: Box<dyn Fn() -> Vec<McpClient> + Send + Sync>,
}

/// An MCP client that is connected.
#[derive(Clone, Debug)]
pub struct McpClient {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// For how long it has been connected.
    pub connected_for: Duration,
}

/// Who made a change with a form, in its version.
const CALLER: &str = "web page";

/// What the handlers share.
struct Web {
    options: PageOptions,
    forms: FormBudget,
    tree: TreeCache,
    /// When this server started.
    started: Instant,
}

impl Web {
    fn registry(&self) -> &Arc<Registry> {
        &self.options.registry
    }

    fn events(&self) -> &Events {
        &self.options.events
    }

    /// The number of changes so far. What was read before a change has a smaller one.
    fn changes(&self) -> u64 {
        self.events().count()
    }

    /// Runs an operation of `skills-api`.
    async fn run<T: DeserializeOwned>(&self, id: &str, input: impl Serialize) -> Result<T, Error> {
        let failed = |problem: &dyn std::fmt::Display| Error::invalid(id, problem.to_string());
        let operation = skills_api::find_function(id).ok_or_else(|| failed(&"is no operation"))?;
        let input = to_raw_value(&input).map_err(|error| failed(&error))?;
        let input = skills_api::with_caller(input, CALLER);
        let output = (operation.run)(Arc::clone(self.registry()), input).await?;
        serde_json::from_str(output.get()).map_err(|error| failed(&error))
    }
}

/// The routes of the page, and the answer to every address that no other route has.
pub fn router(options: PageOptions) -> Router {
    let web = Arc::new(Web {
        options,
        forms: FormBudget::default(),
        tree: TreeCache::default(),
        started: Instant::now(),
    });
    let told = Arc::downgrade(&web);
    web.registry().listen(Arc::new(move |change| {
        if let Some(web) = told.upgrade() {
            web.events().changed(change);
        }
    }));
    pages::router()
        .layer(middleware::from_fn_with_state(
            Arc::clone(&web),
            problem::show,
        ))
        .layer(middleware::from_fn_with_state(
            Arc::clone(&web),
            events::remember_version,
        ))
        .layer(middleware::from_fn_with_state(
            Arc::clone(&web),
            access::check,
        ))
        .layer(middleware::from_fn(response::finish))
        .with_state(web)
}
