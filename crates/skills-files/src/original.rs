//! The whole text behind a skill, for a copy that brings it back.

use std::fs;
use std::sync::Arc;

use skills_core::{BODY_MAX, Error, SkillId, generated_skill_md};

use crate::agents::AgentSkill;
use crate::blocking::run_blocking;
use crate::markdown::FILE_MAX;
use crate::sources::{Sources, agent_skills};
use crate::text_file::{TextFile, Unserved};

impl Sources {
    /// The file as it is, or a plane of a document with front matter of its own.
    pub(crate) async fn read_original(&self, id: &SkillId) -> Result<Option<Arc<str>>, Error> {
        let Some((path, body)) = self.read_skill_file(id).await? else {
            let agents = self.agents.list().await?;
            let found = agent_skills(&agents).find(|entry| entry.skill.id == *id);
            return Ok(found.map(|AgentSkill { skill, body, .. }| {
                generated_skill_md::with_front_matter(&skill.head, body).into()
            }));
        };
        let doing = format!("read skill `{id}`");
        let read = move |_: &_| {
            let real_path = fs::canonicalize(&path).unwrap_or(path);
            TextFile::read(&real_path, FILE_MAX, BODY_MAX)
        };
        match run_blocking(&self.skills, &doing, read).await? {
            Ok(Some(file)) => Ok(Some(file.text.into())),
            // It changed since its body was read.
            Ok(None) | Err(Unserved::Invalid(_)) => Ok(Some(body)),
            Err(error) => Err(Error::Source {
                doing,
                problem: error.reason(),
            }),
        }
    }
}
