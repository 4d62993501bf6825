//! Findings in skills: on request, and when a worker registers one.

use std::collections::HashMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skills_core::{
    ContentData, Error, FilePath, Registry, ResourceUri, SKILL_MD, Severity, SkillFolder, SkillId,
};
use skills_lint::{
    Collection, File, Finding, Findings, Kind, KnownSkill, Skill, check, check_text,
};

use super::Operation;
use super::decode::{decode, encode};

/// The most findings of one registration that are logged.
const LOGGED_MAX: usize = 5;

/// `skills::lint`.
pub const LINT: Operation = Operation::function::<LintInput, LintOutput<'static>>(
    "skills::lint",
    "Check a skill by its id, or a markdown text: form, links, and what must not be trusted.",
    |registry, payload| {
        Box::pin(async move {
            let findings = match decode(&payload)? {
                LintInput {
                    id: Some(id),
                    text: None,
                } => of_skill(&registry, &id.parse()?).await?,
                LintInput {
                    id: None,
                    text: Some(text),
                } => check_text(None, &text, registry.lint_settings()),
                LintInput { .. } => {
                    return Err(Error::invalid_hint(
                        "payload",
                        "must have either `id` or `text`",
                        "write `{\"id\": \"resend/email\"}` or `{\"text\": \"# Title ...\"}`",
                    ));
                }
            };
            encode(&LintOutput {
                findings: findings.all.iter().map(FindingEntry::of).collect(),
                allowed: findings.allowed.len(),
            })
        })
    },
)
.idempotent();

#[derive(Deserialize, JsonSchema)]
struct LintInput {
    /// The id of a skill.
    id: Option<String>,
    /// A markdown text that is not registered.
    text: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct LintOutput<'a> {
    findings: Vec<FindingEntry<'a>>,
    /// How many findings allow comments silence.
    allowed: usize,
}

#[derive(Serialize, JsonSchema)]
struct FindingEntry<'a> {
    /// The code of the rule.
    code: &'a str,
    /// `error`, `warning` or `note`.
    severity: &'a str,
    /// The address of the document.
    file: &'a str,
    /// Counted from 1.
    line: usize,
    /// Counted from 1, in characters.
    column: usize,
    message: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    help: Option<&'a str>,
}

impl<'a> FindingEntry<'a> {
    fn of(finding: &'a Finding) -> Self {
        Self {
            code: finding.rule.code,
            severity: finding.severity.as_str(),
            file: &finding.file,
            line: finding.at.line,
            column: finding.at.column,
            message: &finding.message,
            help: finding.help.as_deref(),
        }
    }
}

/// The findings in a skill of any origin, with links judged over the whole registry.
async fn of_skill(registry: &Registry, id: &SkillId) -> Result<Findings, Error> {
    let (skills, documents) = (
        registry.skills().await?.entries,
        registry.documents().await?.skills,
    );
    let document = documents.iter().find(|document| document.id == *id);
    let folder = document.and_then(|document| document.folder.as_ref());
    let main = match folder {
        Some(_) => ResourceUri::File(FilePath::in_skill(id, SKILL_MD)?),
        None => ResourceUri::Skill(id.clone()),
    };
    let mut bundled = Vec::new();
    for file in folder.iter().flat_map(|folder| folder.files.iter()) {
        if file.path.as_str() != SKILL_MD {
            let uri = ResourceUri::File(FilePath::in_skill(id, file.path.as_str())?);
            bundled.push(read(registry, file.path.as_str(), &uri).await?);
        }
    }
    let name = id
        .as_str()
        .rsplit('/')
        .next()
        .unwrap_or_default()
        .to_owned();
    let skill = Skill {
        id: Some(id.clone()),
        kind: folder.map_or(Kind::Markdown, |_| Kind::Folder { name }),
        document: read(registry, SKILL_MD, &main).await?,
        bundled,
    };
    let folders: HashMap<&SkillId, &SkillFolder> = documents
        .iter()
        .filter_map(|document| Some((&document.id, &**document.folder.as_ref()?)))
        .collect();
    let others = skills
        .iter()
        .map(|head| &head.id)
        .filter(|other| *other != id);
    let known = others.map(|id| {
        let files = folders.get(id).map_or(&[][..], |folder| &folder.files);
        KnownSkill {
            id: id.clone(),
            files: files.iter().map(|file| file.path.clone()).collect(),
        }
    });
    let collection = Collection {
        skills: vec![skill],
        known: known.collect(),
        ..Collection::default()
    };
    Ok(check(&collection, registry.lint_settings()))
}

async fn read(registry: &Registry, name: &str, uri: &ResourceUri) -> Result<File, Error> {
    let bytes = match registry.read_uncounted(uri).await?.data {
        ContentData::Text(text) => text.as_bytes().to_vec(),
        ContentData::Bytes(bytes) => bytes.to_vec(),
    };
    Ok(File {
        name: name.into(),
        shown: uri.to_string().into(),
        bytes: Some(bytes),
    })
}

/// Checks a text before it is registered, or leaves that to [`log_findings`]. Fails if the operator
/// refuses one of the findings.
///
/// Allow comments do not help against a refusal: the author of a hostile text writes them too.
pub fn check_registration(registry: &Registry, id: &SkillId, text: &str) -> Result<(), Error> {
    let settings = registry.lint_settings();
    if settings.refuse.is_empty() && registry.lint_later(id) {
        return Ok(());
    }
    let findings = check_text(Some(id), text, settings);
    let is_refused = |finding: &&Finding| settings.refuse.contains(finding.rule.code);
    let mut all = findings.all.iter().chain(&findings.allowed);
    if let Some(finding) = all.find(is_refused) {
        let Finding {
            rule,
            at,
            message,
            help,
            ..
        } = finding;
        return Err(Error::invalid_hint(
            format!("skill `{id}`"),
            format!("is refused: {at}: {}: {message}", rule.code),
            help.clone().unwrap_or_else(|| rule.why.into()),
        ));
    }
    log(id, &findings);
    Ok(())
}

/// Logs the findings in a registered skill.
pub async fn log_findings(registry: &Registry, id: &SkillId) {
    // Removed since, or unreadable, which is logged elsewhere.
    if !matches!(registry.is_skill_registered(id).await, Ok(true)) {
        return;
    }
    let skill = ResourceUri::Skill(id.clone());
    let Ok(content) = registry.read_uncounted(&skill).await else {
        return;
    };
    if let ContentData::Text(text) = content.data {
        log(id, &check_text(Some(id), &text, registry.lint_settings()));
    }
}

fn log(id: &SkillId, findings: &Findings) {
    let is_logged = |finding: &&Finding| finding.severity > Severity::Note;
    let logged: Vec<_> = findings.all.iter().filter(is_logged).collect();
    for Finding {
        rule,
        severity,
        at,
        message,
        ..
    } in logged.iter().take(LOGGED_MAX)
    {
        tracing::warn!("skill `{id}`: {at}: {severity} {}: {message}", rule.code);
    }
    if let more @ 1.. = logged.len().saturating_sub(LOGGED_MAX) {
        tracing::warn!("skill `{id}`: {more} more findings; `skills lint {id}` lists them");
    }
}
