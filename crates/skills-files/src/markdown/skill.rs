//! A markdown file as a skill: its path below the root of a pattern is the id. A `SKILL.md`
//! makes its folder the skill.

use std::borrow::Cow;
use std::path::{MAIN_SEPARATOR, Path};
use std::sync::Arc;

use skills_core::{
    BODY_MAX, Digest, Document, Head, Origin, SkillFolder, SkillId, SourceSkill, agent_skill,
    body_hash,
};

use super::content::{self, FILE_MAX, Needs};
use crate::bundle::Bundle;
use crate::file_set::FileEntry;
use crate::generated::Generated;
use crate::scan::{FoundFile, FoundFolder, SkillMd};
use crate::snapshot::fingerprint;
use crate::stamp::StampHash;
use crate::text_file::{TextFile, Unserved};

/// A skill without its body.
#[derive(Clone, Debug)]
pub struct SkillFile {
    /// The entry of a listing.
    pub skill: SourceSkill,
    /// What an author should correct, and how; mostly nothing.
    pub warnings: Option<Arc<[String]>>,
    /// The files of its folder.
    pub folder: Option<Arc<ParsedFolder>>,
    /// The `SKILL.md` that is generated for a file that is none.
    pub generated: Option<Arc<Generated>>,
    /// Changes with everything that is served of the file itself.
    fingerprint: u64,
}

/// What is remembered of a skill folder.
#[derive(Clone, Debug)]
pub struct ParsedFolder {
    /// Its files.
    pub bundle: Arc<Bundle>,
    /// Its `SKILL.md` when that was parsed.
    pub skill_md: (StampHash, Digest),
}

impl SkillFile {
    /// Changes with everything that is served of the skill.
    pub fn fingerprint(&self) -> u64 {
        match &self.folder {
            Some(folder) => fingerprint((self.fingerprint, folder.bundle.fingerprint)),
            None => self.fingerprint,
        }
    }

    /// What an author should correct, with what is wrong with the files of the folder.
    pub fn all_warnings(&self) -> Vec<String> {
        let folder = self.skill.folder.as_ref();
        let problem = folder.and_then(|folder| folder.files_problem.as_deref());
        let warnings = self.warnings.iter().flat_map(|all| all.iter().cloned());
        warnings.chain(problem.map(str::to_owned)).collect()
    }
}

impl FileEntry for SkillFile {
    const SUFFIX: &'static str = ".md";
    const LISTING: &'static str = "list the skill files";
    const SKILL_MD: SkillMd = SkillMd::Folder;
    type Name = SkillId;

    fn read(found: &FoundFile, earlier: Option<&Self>) -> Result<Option<Self>, Unserved> {
        // Before reading: a path that is not an id decides.
        let (id, renamed) = match &found.folder {
            Some(folder) => folder_id(&folder.id_path)?,
            None => (file_id(&found.relative)?, None),
        };
        let Some(file) = TextFile::read(found.real_path(), FILE_MAX, BODY_MAX)? else {
            return Ok(None);
        };
        let document = content::parse(&file.text, Needs::of_skill(found.folder.is_some()))?;
        let head = Head::of_document(&document);
        let fingerprint = fingerprint((document.body, &file.modified_at, &head));
        let mut skill = SourceSkill {
            id,
            bytes: document.body.len(),
            registered_at: Arc::clone(&file.modified_at),
            origin: Origin::Fs,
            head,
            folder: None,
            body_hash: Some(body_hash(document.body)),
        };
        let folder = found.folder.as_ref().map(|folder| {
            let earlier = earlier.and_then(|file| file.folder.as_ref());
            let bundle = Bundle::new(folder, earlier.map(|folder| &*folder.bundle));
            skill.folder = Some(Arc::new(skill_folder(folder, &document, &bundle)));
            Arc::new(ParsedFolder {
                bundle: Arc::new(bundle),
                skill_md: (file.stamp.to_hash(), Digest::of(file.text.as_bytes())),
            })
        });
        let warnings: Vec<_> = renamed.into_iter().chain(document.warnings()).collect();
        Ok(Some(Self {
            generated: folder
                .is_none()
                .then(|| Arc::new(Generated::new(file.stamp))),
            skill,
            warnings: (!warnings.is_empty()).then(|| warnings.into()),
            folder,
            fingerprint,
        }))
    }

    fn update(&mut self, found: &FoundFile) {
        let (Some(parsed), Some(found)) = (&mut self.folder, &found.folder) else {
            return;
        };
        if parsed.bundle.is_current(found) {
            return;
        }
        let bundle = Arc::new(Bundle::new(found, Some(&parsed.bundle)));
        if let Some(folder) = &mut self.skill.folder {
            let folder = Arc::make_mut(folder);
            folder.files = Arc::clone(&bundle.files);
            folder.files_problem.clone_from(&bundle.problem);
        }
        Arc::make_mut(parsed).bundle = bundle;
    }

    fn name(&self) -> &SkillId {
        &self.skill.id
    }

    fn duplicate_reason(&self, first: &str) -> String {
        let id = &self.skill.id;
        format!("has the id `{id}` that {first} has already; rename one")
    }
}

fn skill_folder(found: &FoundFolder, document: &Document<'_>, bundle: &Bundle) -> SkillFolder {
    let name = found.id_path.rsplit('/').next().unwrap_or_default();
    let front_matter = document.front_matter.as_ref();
    SkillFolder {
        front_matter: front_matter.map_or("{}", |matter| matter.json()).into(),
        files: Arc::clone(&bundle.files),
        files_problem: bundle.problem.clone(),
        rejections: agent_skill::rejections(document, name).into(),
    }
}

/// The id of a file; fails with the reason why its path is not one.
pub fn file_id(relative: &Path) -> Result<SkillId, String> {
    let text = relative.to_str().unwrap_or_default();
    let text = text.strip_suffix(SkillFile::SUFFIX).unwrap_or(text);
    let text: Cow<'_, str> = if MAIN_SEPARATOR == '/' {
        text.into()
    } else {
        text.replace(MAIN_SEPARATOR, "/").into()
    };
    text.parse()
        .map_err(|error| format!("cannot be a skill: {error}; rename it"))
}

/// The id of a folder, and a report if it is not the path of the folder.
pub fn folder_id(path: &str) -> Result<(SkillId, Option<String>), String> {
    if let Ok(id) = path.parse() {
        return Ok((id, None));
    }
    let parts: Vec<_> = path.split('/').map(id_segment).collect();
    let id: SkillId = parts.join("/").parse().map_err(|error| {
        format!("is in a folder that cannot be a skill: {error}; rename the folder")
    })?;
    let report = format!(
        "is in the folder {}, which is not an id; it is served as `{id}`; rename the folder",
        skills_core::quote(path)
    );
    Ok((id, Some(report)))
}

/// A name as a segment of an id: lowercase, with a hyphen for every run of other characters.
pub fn id_segment(name: &str) -> Cow<'_, str> {
    let is_allowed = |c: char| matches!(c, 'a'..='z' | '0'..='9' | '_' | '-');
    if name.chars().all(is_allowed) {
        return name.into();
    }
    let mut segment = String::with_capacity(name.len());
    for c in name.chars().map(|c| c.to_ascii_lowercase()) {
        if is_allowed(c) {
            segment.push(c);
        } else if !segment.ends_with('-') {
            segment.push('-');
        }
    }
    segment.trim_matches('-').to_owned().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_name_becomes_an_id() {
        for (name, id) in [
            ("pdf", "pdf"),
            ("My Skill", "my-skill"),
            ("PDF_Tools", "pdf_tools"),
            ("a.b (c)", "a-b-c"),
            ("café", "caf"),
            ("日本", ""),
        ] {
            assert_eq!(id_segment(name), id, "for {name}");
        }
        let (id, report) = folder_id("docs/My Skill").unwrap();
        assert_eq!(id.as_str(), "docs/my-skill");
        assert!(report.unwrap().contains("is served as `docs/my-skill`"));
        assert_eq!(folder_id("a/b").unwrap().1, None);
        for path in ["日本", "fn", "skills", "fn/a"] {
            let reason = folder_id(path).unwrap_err();
            assert!(reason.contains("rename the folder"), "{reason}");
        }
    }
}
