//! The agents of a configuration, and what is said about them when the program starts.

use std::sync::Arc;

use skills_core::Source;

use crate::config::LoadedConfig;
use skills_files::agents::{Agents, LoadedAgent as Document};

/// The documents that the configuration names; none where it names none.
pub fn agents(loaded: &LoadedConfig) -> Option<Agents> {
    let patterns = &loaded.config.agents;
    (!patterns.is_empty()).then(|| Agents::new(&loaded.base, patterns))
}

/// The same as a source of the registry.
pub fn source(loaded: &LoadedConfig) -> Option<Arc<dyn Source>> {
    agents(loaded).map(|agents| Arc::new(agents) as Arc<dyn Source>)
}

/// Says once which documents are served and which are not.
pub async fn boot_report(agents: Option<Agents>) {
    let Some(agents) = agents else {
        return;
    };
    let report = match agents.report().await {
        Ok(report) => report,
        Err(error) => return tracing::warn!("{}", error.to_text()),
    };
    for document in &report.documents {
        let Document {
            agent, ids, path, ..
        } = document;
        let path = path.display();
        tracing::info!(agent, skills = ids.len(), %path, "agent loaded");
        for warning in &document.warnings {
            tracing::warn!(%path, "{warning}");
        }
    }
    for skipped in &report.skipped {
        tracing::warn!(path = skipped.place, reason = skipped.reason, "skipped");
    }
    tracing::info!(
        agents = report.documents.len(),
        skipped = report.skipped.len(),
        "agents"
    );
}
