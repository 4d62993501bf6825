//! The text of one version, for a reader.

use std::sync::Arc;

use super::Registry;
use super::entry_versions::decode_optional;
use crate::row_slot::RowSlot;
use crate::{EntryName, Error, Skill, SkillId, VersionRef};

impl Registry {
    /// The text of one version for a reader. What is turned off is not served.
    pub(super) async fn version_body(
        &self,
        id: &SkillId,
        wanted: &VersionRef,
    ) -> Result<Arc<str>, Error> {
        let not_found = || Error::NoSuchSkill {
            id: id.clone(),
            nearest: None,
        };
        if self.visibility.turns_off(id) {
            return Err(not_found());
        }
        if let Some(RowSlot::Row(current)) = self.stored_skill(id).await?
            && !self.is_served(&current)
        {
            return Err(not_found());
        }
        let body = match self.text_by_number(id, wanted).await? {
            Some(body) => body,
            None => self.skill_version(id, wanted).await?.body,
        };
        let skill = Skill::new(id.clone(), body, "");
        if !self.is_served(&skill) {
            return Err(not_found());
        }
        Ok(skill.body)
    }

    /// The text of a version that is named by its number, without reading the others. None if
    /// only all versions tell whether there is one.
    async fn text_by_number(
        &self,
        id: &SkillId,
        wanted: &VersionRef,
    ) -> Result<Option<Arc<str>>, Error> {
        let (VersionRef::Number(number), Some(versions)) = (wanted, self.skills.versions()) else {
            return Ok(None);
        };
        let name = EntryName::Skill(id.clone());
        let found = versions.read_one(id.as_str(), *number).await;
        let found = found.map_err(Error::state(|| format!("read version {number} of {name}")))?;
        let Some(version) = found else {
            return Ok(None);
        };
        let skill: Option<Skill> = decode_optional(&name, &version)?;
        Ok(skill.map(|skill| skill.body))
    }
}
