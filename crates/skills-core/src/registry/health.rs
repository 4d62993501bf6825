//! What is wrong with the registry and with what it serves. A part that cannot be read is a
//! finding, so that the others are still reported.

use std::sync::PoisonError;

use super::Registry;
use super::collisions::{Hides, Unshadowed};
use crate::health::Check;
use crate::{Error, FindingGroup, HealthFinding, Origin, PromptName, SkillId, SourceSkill};

impl Registry {
    /// Adds a check of something that only the caller knows.
    pub fn add_check(&self, check: Check) {
        let mut checks = self.checks.lock().unwrap_or_else(PoisonError::into_inner);
        checks.push(check);
    }

    /// Everything that was found, in the order of the groups.
    pub async fn findings(&self) -> Vec<HealthFinding> {
        let checks = {
            let checks = self.checks.lock().unwrap_or_else(PoisonError::into_inner);
            checks.clone()
        };
        let mut findings = Vec::new();
        for check in checks {
            findings.extend(found_or_failed(
                check().await,
                FindingGroup::NotServed,
                "files",
            ));
        }
        for found in self.own_findings().await {
            // A check of the store may have reported a damaged row already.
            let is_known = |known: &HealthFinding| {
                found.group == FindingGroup::Damaged
                    && (known.group, &known.place) == (found.group, &found.place)
            };
            if !findings.iter().any(is_known) {
                findings.push(found);
            }
        }
        findings.sort_by_key(|finding| finding.group);
        findings
    }

    async fn own_findings(&self) -> Vec<HealthFinding> {
        let mut findings = Vec::new();
        let scope = self.skills.scope();
        findings.extend(found_or_failed(
            self.registered_problems().await,
            FindingGroup::Store,
            scope,
        ));
        findings.extend(found_or_failed(
            self.document_problems().await,
            FindingGroup::NotServed,
            "files",
        ));
        findings.extend(found_or_failed(
            self.visibility_problems().await,
            FindingGroup::NotServed,
            "files",
        ));
        findings
    }

    /// The patterns of the configuration that no skill has, served or not: one may be misspelled.
    async fn visibility_problems(&self) -> Result<Vec<HealthFinding>, Error> {
        // State that cannot be read is reported elsewhere, and nothing is known then.
        let Ok(state) = self.stored_skills("list the skills").await else {
            return Ok(Vec::new());
        };
        let registered = state.rows.iter().chain(&state.off);
        let mut ids: Vec<SkillId> = registered.map(|skill| skill.id.clone()).collect();
        for source in &self.sources {
            ids.extend(source.skills().await?.entries.into_iter().map(|s| s.id));
            ids.extend(source.skills_off().await?);
        }
        let finding = |pattern| {
            let reason = format!("the pattern `{pattern}` matches no skill");
            HealthFinding::new(FindingGroup::Advice, "visibility", reason)
        };
        Ok(self.visibility.unused(&ids).map(finding).collect())
    }

    /// The rows that cannot be served, are off or have mistakes.
    async fn registered_problems(&self) -> Result<Vec<HealthFinding>, Error> {
        let skills = self.stored_skills("list the skills").await?;
        let prompts = self.stored_prompts().await?;
        let registered = self.registered_findings().await?;
        let damaged = [&skills.damaged[..], &prompts.damaged[..]].concat();
        let groups = [
            (FindingGroup::Damaged, damaged),
            (FindingGroup::NotServed, registered.off),
            (FindingGroup::ToCorrect, registered.warnings),
        ];
        let findings = groups.into_iter().flat_map(|(group, skipped)| {
            let finding = move |skipped| HealthFinding::of_skipped(group, skipped);
            skipped.into_iter().map(finding)
        });
        Ok(findings.collect())
    }

    /// The documents that are not served or not listed. Without state, as if nothing were
    /// registered: that state cannot be read is reported elsewhere.
    async fn document_problems(&self) -> Result<Vec<HealthFinding>, Error> {
        let mut findings = Vec::new();
        if self.sources.is_empty() {
            return Ok(findings);
        }
        let (skills, hides) = match self.stored_skills("list the skills").await {
            Ok(state) => self.source_skills_with_hidden(&state).await?,
            Err(_) => self.unregistered_skills().await?,
        };
        let not_served = |skipped| HealthFinding::of_skipped(FindingGroup::NotServed, skipped);
        for hidden in &skills.hidden {
            let is_equal = !hides
                .get(&hidden.id)
                .is_some_and(|origins| origins.contains(&hidden.origin));
            if !is_equal {
                findings.push(self.hidden_skill(&skills, hidden).await?);
            }
        }
        // A markdown file in the folder of a skill is in no list.
        for (id, origins) in &hides {
            let mut hidden = skills.hidden.iter();
            let is_listed = hidden.any(|hidden| hidden.id == *id && hidden.origin == Origin::Fs);
            if !is_listed && origins.contains(&Origin::Fs) {
                // It may be gone by now, or not be readable.
                let file = self.hidden_bundled(id).await.ok().flatten();
                let place = file.map_or_else(|| format!("{id}.md"), |file| file.place);
                let reason = self.registered_skill_reason(id).await?;
                findings.push(HealthFinding::new(FindingGroup::Hidden, place, reason));
            }
        }
        findings.extend(skills.listing.skipped.into_iter().map(not_served));
        if let Ok(state) = self.stored_prompts().await {
            let prompts = self.unshadowed_prompts(&state).await?;
            for hidden in &prompts.hidden {
                let mut rows = state.rows.iter();
                let row = rows.find(|prompt| prompt.name == hidden.name);
                let at = row.map(|prompt| &*prompt.registered_at);
                findings.push(self.hidden_prompt(&hidden.name, at).await?);
            }
            findings.extend(prompts.listing.skipped.into_iter().map(not_served));
        }
        if let Ok(published) = self.published().await {
            // What is wrong with a folder is reported with its file.
            let unlisted = published.unlisted().filter(|unlisted| !unlisted.is_fault);
            findings.extend(unlisted.map(|unlisted| {
                let reason = format!(
                    "not listed for clients of Agent Skills: {}",
                    unlisted.reason
                );
                HealthFinding::new(FindingGroup::Advice, unlisted.id.as_str(), reason)
            }));
        }
        Ok(findings)
    }

    async fn unregistered_skills(&self) -> Result<(Unshadowed<SourceSkill>, Hides), Error> {
        let skills = self.unshadowed_skills(std::iter::empty()).await?;
        let hides = self.hides(&skills, &[]).await?;
        Ok((skills, hides))
    }

    async fn hidden_skill(
        &self,
        skills: &Unshadowed<SourceSkill>,
        hidden: &SourceSkill,
    ) -> Result<HealthFinding, Error> {
        let id = &hidden.id;
        let place = self.place(id, hidden.origin).await?;
        let mut served = skills.listing.entries.iter();
        let reason = if let Some(winner) = served.find(|skill| skill.id == *id) {
            let winner = self.place(id, winner.origin).await?;
            format!("has the id `{id}` that {winner} has already; rename one")
        } else {
            self.registered_skill_reason(id).await?
        };
        Ok(HealthFinding::new(FindingGroup::Hidden, place, reason))
    }

    async fn registered_skill_reason(&self, id: &SkillId) -> Result<String, Error> {
        let state = self.stored_skills("list the skills").await?;
        let mut rows = state.rows.iter();
        let row = rows.find(|skill| skill.id == *id);
        let at = row.map(|skill| &*skill.registered_at);
        Ok(registered_reason("skill", id.as_str(), at))
    }

    async fn hidden_prompt(
        &self,
        name: &PromptName,
        at: Option<&str>,
    ) -> Result<HealthFinding, Error> {
        let mut place = name.to_string();
        for source in &self.sources {
            if let Some(found) = source.prompt_place(name).await? {
                place = found;
                break;
            }
        }
        let reason = registered_reason("prompt", name.as_str(), at);
        Ok(HealthFinding::new(FindingGroup::Hidden, place, reason))
    }

    /// The path of a document.
    async fn place(&self, id: &SkillId, origin: Origin) -> Result<String, Error> {
        let found = self.find_document(id, origin).await?;
        Ok(found.map_or_else(|| format!("{origin}: {id}"), |found| found.place))
    }
}

fn registered_reason(kind: &str, name: &str, at: Option<&str>) -> String {
    let at = at.map(|at| format!(" at {at}")).unwrap_or_default();
    format!(
        "{kind} `{name}` was registered by a worker{at}; unregister that one or rename the file"
    )
}

/// The findings of a check; its error is one.
fn found_or_failed(
    found: Result<Vec<HealthFinding>, Error>,
    group: FindingGroup,
    place: &str,
) -> Vec<HealthFinding> {
    let failed = |error: Error| {
        let group = match error {
            Error::Source { .. } => FindingGroup::NotServed,
            _ => group,
        };
        vec![HealthFinding::new(group, place, error.to_text())]
    };
    found.unwrap_or_else(failed)
}
