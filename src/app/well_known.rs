//! `/.well-known/agent-skills/`: the discovery document of Agent Skills, version 0.2.0, and the
//! skills that it names. Served only if the operator publishes them, to anybody who may reach the
//! port; no token is needed.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::Router;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use serde::Serialize;
use serde_json::{Value, json};
use skills_access::{AccessPolicy, Refusal};
use skills_core::{
    Digest, Error, FilePath, Kind, Mime, PublishedSkill, PublishedSkills, Registry, SKILL_MD,
    SkillId,
};

use super::tar_gz::{Member, tar_gz};

const SCHEMA: &str = "https://schemas.agentskills.io/discovery/0.2.0/schema.json";
const ARCHIVE: &str = ".tar.gz";

/// How often the files are listed again if one changes between its listing and its reading.
const ATTEMPTS: usize = 3;

/// What the documents are made from.
struct WellKnown {
    registry: Arc<Registry>,
    access: AccessPolicy,
    /// The digests of archives by the digest of what is in them. Archives are not kept.
    archives: Mutex<HashMap<Digest, Digest>>,
}

/// An entry of the index.
#[derive(Serialize)]
struct Entry {
    name: String,
    r#type: &'static str,
    description: String,
    url: String,
    digest: String,
}

/// Why there is no document.
enum Problem {
    Error(Error),
    /// A file changed since it was listed.
    Changed,
    /// A path is too long for an archive.
    NoArchive,
}

/// The routes.
pub fn router(registry: Arc<Registry>, access: AccessPolicy) -> Router {
    let state = WellKnown {
        registry,
        access,
        archives: Mutex::default(),
    };
    Router::new()
        .route("/.well-known/agent-skills/index.json", get(index))
        .route("/.well-known/agent-skills/{*path}", get(artifact))
        .with_state(Arc::new(state))
}

async fn index(State(state): State<Arc<WellKnown>>, uri: Uri, headers: HeaderMap) -> Response {
    if let Some(refused) = state.refuse(&uri, &headers) {
        return refused;
    }
    let mut found = Err(Problem::Changed);
    for _ in 0..ATTEMPTS {
        found = state.entries().await;
        if !matches!(found, Err(Problem::Changed)) {
            break;
        }
    }
    match found {
        Ok(skills) => {
            let index = json!({ "$schema": SCHEMA, "skills": skills });
            ok(Mime::Json.as_str(), index.to_string().into_bytes())
        }
        Err(problem) => problem.into_response(),
    }
}

async fn artifact(
    State(state): State<Arc<WellKnown>>,
    Path(path): Path<String>,
    uri: Uri,
    headers: HeaderMap,
) -> Response {
    if let Some(refused) = state.refuse(&uri, &headers) {
        return refused;
    }
    match state.artifact(&path).await {
        Ok(Some((mime, bytes))) => ok(mime, bytes),
        Ok(None) | Err(Problem::NoArchive) => StatusCode::NOT_FOUND.into_response(),
        Err(problem) => problem.into_response(),
    }
}

impl WellKnown {
    /// The response to a request from a foreign page. Other requests need no token.
    fn refuse(&self, uri: &Uri, headers: &HeaderMap) -> Option<Response> {
        match self.access.check(uri, headers) {
            Ok(()) | Err(Refusal::Token) => None,
            Err(refusal) => Some((refusal.status(), refusal.to_string()).into_response()),
        }
    }

    fn archives(&self) -> MutexGuard<'_, HashMap<Digest, Digest>> {
        // Nothing awaits while this is held.
        self.archives.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn entries(&self) -> Result<Vec<Entry>, Problem> {
        let published = self.registry.published().await?;
        let known = self.archives().clone();
        let mut used = HashMap::new();
        let mut entries = Vec::new();
        for skill in indexed(&published) {
            let files = skill.files();
            let (r#type, url, digest) = if files.len() == 1 {
                let url = format!("{}/{SKILL_MD}", skill.id());
                ("skill-md", url, files[0].digest)
            } else {
                let content = content_digest(&skill);
                let digest = match known.get(&content) {
                    Some(digest) => *digest,
                    None => match self.archive(&skill).await {
                        Ok(archive) => Digest::of(&archive),
                        Err(Problem::NoArchive) => continue,
                        Err(problem) => return Err(problem),
                    },
                };
                used.insert(content, digest);
                ("archive", format!("{}{ARCHIVE}", skill.id()), digest)
            };
            entries.push(Entry {
                name: skill.name().to_owned(),
                r#type,
                description: description(&skill),
                url,
                digest: digest.to_string(),
            });
        }
        *self.archives() = used;
        Ok(entries)
    }

    /// What the index names at a path, with its media type.
    async fn artifact(&self, path: &str) -> Result<Option<(&'static str, Vec<u8>)>, Problem> {
        let skill_md = path.strip_suffix(SKILL_MD);
        let skill_md = skill_md.and_then(|path| path.strip_suffix('/'));
        let Some(id) = skill_md.or_else(|| path.strip_suffix(ARCHIVE)) else {
            return Ok(None);
        };
        let Ok(id) = id.parse::<SkillId>() else {
            return Ok(None);
        };
        let published = self.registry.published().await?;
        let Some(skill) = indexed(&published).find(|skill| *skill.id() == id) else {
            return Ok(None);
        };
        if skill_md.is_some() != (skill.files().len() == 1) {
            return Ok(None);
        }
        if skill_md.is_none() {
            return Ok(Some(("application/gzip", self.archive(&skill).await?)));
        }
        let path = FilePath::in_skill(&id, SKILL_MD)?;
        let content = self.registry.read_file(&path).await?;
        Ok(Some((Mime::Markdown.as_str(), content.bytes.to_vec())))
    }

    /// The archive of a skill as it was listed.
    async fn archive(&self, skill: &PublishedSkill<'_>) -> Result<Vec<u8>, Problem> {
        let mut members = Vec::new();
        for file in skill.files() {
            let path = FilePath::in_skill(file.skill, file.path)?;
            let content = match self.registry.read_file(&path).await {
                Ok(content) if content.digest == file.digest => content,
                Err(error) if error.kind() != Kind::NotFound => return Err(error.into()),
                Ok(_) | Err(_) => return Err(Problem::Changed),
            };
            let id = skill.id().as_str();
            let name = path.as_str().strip_prefix(id).unwrap_or_default();
            let name = name.trim_start_matches('/').to_owned();
            members.push((name, content.bytes, file.is_executable));
        }
        let members = members.iter().map(|(path, content, is_executable)| Member {
            path,
            content,
            is_executable: *is_executable,
        });
        tar_gz(members).ok_or(Problem::NoArchive)
    }
}

/// The skills of the index. Clients install them by name, so of each name it has the first.
fn indexed(published: &PublishedSkills) -> impl Iterator<Item = PublishedSkill<'_>> {
    let is_first = |(skill, first): (_, Option<_>)| first.is_none().then_some(skill);
    published.by_name().filter_map(is_first)
}

/// Changes with every name and every byte of the files of a skill.
fn content_digest(skill: &PublishedSkill<'_>) -> Digest {
    let lines = skill.files().into_iter();
    let lines: Vec<_> = lines
        .map(|file| format!("{} {}", file.digest, file.uri()))
        .collect();
    let lines = lines.join("\n");
    Digest::of(lines.as_bytes())
}

fn description(skill: &PublishedSkill<'_>) -> String {
    let fields: Value = serde_json::from_str(skill.front_matter()).unwrap_or_default();
    fields["description"]
        .as_str()
        .unwrap_or_default()
        .to_owned()
}

fn ok(mime: &'static str, bytes: Vec<u8>) -> Response {
    ([(header::CONTENT_TYPE, mime)], bytes).into_response()
}

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        Self::Error(error)
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let message = match self {
            Self::Error(error) => error.to_text(),
            Self::Changed => "files of a skill change all the time; try again".to_owned(),
            Self::NoArchive => "a path is too long for an archive".to_owned(),
        };
        (StatusCode::SERVICE_UNAVAILABLE, message).into_response()
    }
}

#[cfg(test)]
mod tests {
    use axum::body::{Bytes, to_bytes};
    use serde_json::value::Value;

    use super::*;
    use crate::config::{Config, LoadedConfig};
    use crate::engine::LocalEngine;

    async fn read(response: Response) -> (StatusCode, Bytes) {
        let status = response.status();
        let body = to_bytes(response.into_body(), 1 << 20).await.unwrap();
        (status, body)
    }

    fn headers() -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert("host", "localhost".parse().unwrap());
        headers
    }

    #[tokio::test]
    async fn the_index_names_what_is_served() {
        let dir = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = dir.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        write(
            "pdf/SKILL.md",
            "---\nname: pdf\ndescription: Reads PDF.\n---\n# PDF\n",
        );
        write("pdf/scripts/run.py", "print()");
        write("wrong/SKILL.md", "# No front matter\n");
        let loaded = LoadedConfig {
            config: Config {
                skills: vec!["**/*.md".into()],
                ..Config::default()
            },
            base: dir.path().to_owned(),
            ..LoadedConfig::default()
        };
        let data = tempfile::tempdir().unwrap();
        let engine = LocalEngine::open(data.path()).unwrap();
        let sources = super::super::file_sources(&loaded).for_registry();
        let registry = super::super::registry(engine, &loaded, sources);
        let id = "team/mail".parse().unwrap();
        registry.register_skill(id, "# Mail".into()).await.unwrap();
        // Of two skills with one name the first is published.
        let id = "team/other/pdf".parse().unwrap();
        registry.register_skill(id, "# Other".into()).await.unwrap();
        let state = Arc::new(WellKnown {
            registry,
            access: AccessPolicy {
                token: Some("secret".into()),
                ..AccessPolicy::default()
            },
            archives: Mutex::default(),
        });
        let uri = Uri::from_static("/.well-known/agent-skills/index.json");
        let get_index = || index(State(Arc::clone(&state)), uri.clone(), headers());
        let (status, body) = read(get_index().await).await;
        assert_eq!(status, StatusCode::OK);
        let found: Value = serde_json::from_slice(&body).unwrap();
        assert_eq!(found["$schema"], SCHEMA);
        let skills = found["skills"].as_array().unwrap();
        let shown: Vec<_> = skills
            .iter()
            .map(|skill| {
                json!([
                    skill["name"],
                    skill["type"],
                    skill["description"],
                    skill["url"]
                ])
            })
            .collect();
        assert_eq!(
            json!(shown),
            json!([
                ["pdf", "archive", "Reads PDF.", "pdf.tar.gz"],
                ["mail", "skill-md", "Mail", "team/mail/SKILL.md"],
            ])
        );
        let get = |path: &str| {
            let path = Path(path.to_owned());
            artifact(State(Arc::clone(&state)), path, uri.clone(), headers())
        };
        for skill in skills {
            let (status, body) = read(get(skill["url"].as_str().unwrap()).await).await;
            assert_eq!(status, StatusCode::OK, "{skill}");
            assert_eq!(skill["digest"], Digest::of(&body).to_string(), "{skill}");
        }
        for path in [
            "pdf/SKILL.md",
            "wrong/SKILL.md",
            "team/mail.tar.gz",
            "team/other/pdf/SKILL.md",
            "x",
            "../x",
            "team",
        ] {
            assert_eq!(get(path).await.status(), StatusCode::NOT_FOUND, "{path}");
        }
        // The digest of the archive is known now, and follows the files.
        write("pdf/scripts/run.py", "print(1)");
        let (_, body) = read(get_index().await).await;
        let changed: Value = serde_json::from_slice(&body).unwrap();
        assert_ne!(changed["skills"][0]["digest"], skills[0]["digest"]);
        let (_, body) = read(get("pdf.tar.gz").await).await;
        assert_eq!(
            changed["skills"][0]["digest"],
            Digest::of(&body).to_string()
        );
        let mut foreign = headers();
        foreign.insert("origin", "https://evil.example".parse().unwrap());
        let refused = index(State(Arc::clone(&state)), uri.clone(), foreign).await;
        assert_eq!(refused.status(), StatusCode::FORBIDDEN);
    }
}
