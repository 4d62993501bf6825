//! The web page of the registry, served next to `/mcp`.
//!
//! A handler decodes a request, makes one call of the registry or runs one operation of
//! `skills-api`, and renders HTML. `pages/` has one file per page, `layout.rs` what all pages have
//! in common, `assets.rs` the stylesheet and the script, `access.rs` who may read and write, and
//! `tree.rs` the folders of skills.
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
mod fields;
mod format;
mod layout;
mod links;
mod markdown;
mod pages;
mod problem;
mod response;
mod tree;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use axum::Router;
use axum::middleware;
use skills_access::AccessPolicy;
use skills_core::Registry;

use tree::TreeCache;

/// What the page is made from.
pub struct PageOptions {
    /// The registry.
    pub registry: Arc<Registry>,
    /// Who may connect.
    pub access: AccessPolicy,
    /// The version of the program.
    pub version: &'static str,
}

/// What the handlers share.
struct Web {
    options: PageOptions,
    /// How many changes there were.
    version: Arc<AtomicU64>,
    tree: TreeCache,
}

impl Web {
    fn registry(&self) -> &Arc<Registry> {
        &self.options.registry
    }

    /// The number of changes so far. What was read before a change has a smaller one.
    fn changes(&self) -> u64 {
        self.version.load(Ordering::SeqCst)
    }
}

/// The routes of the page, and the answer to every address that no other route has.
pub fn router(options: PageOptions) -> Router {
    let version = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&version);
    options.registry.listen(Arc::new(move |_| {
        counted.fetch_add(1, Ordering::SeqCst);
    }));
    let web = Arc::new(Web {
        options,
        version,
        tree: TreeCache::default(),
    });
    pages::router()
        .layer(middleware::from_fn_with_state(
            Arc::clone(&web),
            problem::show,
        ))
        .layer(middleware::from_fn_with_state(
            Arc::clone(&web),
            access::check,
        ))
        .layer(middleware::from_fn(response::finish))
        .with_state(web)
}
