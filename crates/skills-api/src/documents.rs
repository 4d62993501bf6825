//! The function `skills::documents`: the skills of sources as another process needs them to serve
//! them like this one, with their folders and digests.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use skills_core::{
    Digest, Error, FolderFile, GeneratedSkillMd, Head, Manifest, Origin, SkillFolder, SourceSkill,
    Visibility,
};

use super::Operation;
use super::decode::{decode, encode};

/// `skills::documents`.
pub const DOCUMENTS: Operation = Operation::function::<DocumentsInput, Documents>(
    "skills::documents",
    "Internal: every skill that is a document, with the files of its folder.",
    |registry, payload| {
        Box::pin(async move {
            let DocumentsInput { digests } = decode(&payload)?;
            let documents = if digests {
                let manifests = registry.document_manifests().await?;
                Documents {
                    skills: manifests.iter().map(Document::of_manifest).collect(),
                    hidden: Vec::new(),
                }
            } else {
                let list = registry.documents().await?;
                let entries = |skills: &[SourceSkill]| {
                    let skills = skills.iter();
                    skills.map(|skill| Document::of(skill, &[])).collect()
                };
                Documents {
                    skills: entries(&list.skills),
                    hidden: entries(&list.hidden),
                }
            };
            encode(&documents)
        })
    },
)
.idempotent();

/// Input of `skills::documents`.
#[derive(Debug, Default, Deserialize, Serialize, JsonSchema)]
pub struct DocumentsInput {
    /// Whether to compute the digest of every file.
    #[serde(default)]
    pub digests: bool,
}

/// Output of `skills::documents`.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub struct Documents {
    /// In no particular order. Registered skills, and the documents that they hide, are absent.
    pub skills: Vec<Document>,
    /// The documents with another body that they or registered skills hide. Absent if there are
    /// none, and with digests.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hidden: Vec<Document>,
}

/// A skill that is a document.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub struct Document {
    /// Its id.
    pub id: String,
    bytes: usize,
    registered_at: Arc<str>,
    /// `fs` or `3md`.
    origin: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    title: Option<Arc<str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    description: Option<Arc<str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    triggers: Option<Vec<Arc<str>>>,
    /// The functions whose output it links to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sections: Option<Vec<String>>,
    /// How visible it is, if that is not `auto`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    visibility: Option<String>,
    /// Its folder, if it has a `SKILL.md`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder: Option<Folder>,
    /// The `SKILL.md` that is generated for it, if digests were asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    generated: Option<Generated>,
}

/// The folder of a skill.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub struct Folder {
    /// The front matter of its `SKILL.md`, with the keys in their order.
    #[schemars(with = "serde_json::Map<String, serde_json::Value>")]
    front_matter: Box<RawValue>,
    /// In byte order of their paths; none if they are not served.
    pub files: Vec<File>,
    /// Why its files are not served.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    files_problem: Option<Arc<str>>,
    /// Why the Agent Skills specification rejects it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    rejections: Vec<String>,
}

/// A file of a folder.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub struct File {
    /// Its path in the folder.
    pub path: String,
    bytes: u32,
    /// Whether its owner may execute it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub executable: bool,
    /// `sha256:` and 64 hexadecimal digits, if digests were asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    digest: Option<String>,
}

/// A generated `SKILL.md`.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
struct Generated {
    bytes: u64,
    digest: String,
    #[schemars(with = "serde_json::Map<String, serde_json::Value>")]
    front_matter: Box<RawValue>,
}

impl Document {
    fn of_manifest(manifest: &Manifest) -> Self {
        let generated = manifest.generated.as_ref().map(|generated| Generated {
            bytes: generated.bytes,
            digest: generated.digest.to_string(),
            front_matter: json(&generated.front_matter),
        });
        Self {
            generated,
            ..Self::of(&manifest.skill, &manifest.digests)
        }
    }

    fn of(skill: &SourceSkill, digests: &[Digest]) -> Self {
        let folder = skill.folder.as_ref();
        Self {
            id: skill.id.to_string(),
            bytes: skill.bytes,
            registered_at: Arc::clone(&skill.registered_at),
            origin: skill.origin.as_str().to_owned(),
            title: skill.head.title.clone(),
            description: skill.head.description.clone(),
            triggers: skill.head.triggers.as_ref().map(|all| all.to_vec()),
            sections: skill.head.sections.as_ref().map(|sections| {
                let sections = sections.iter();
                sections.map(ToString::to_string).collect()
            }),
            visibility: skill
                .head
                .visibility
                .filter(|visibility| *visibility != Visibility::Auto)
                .map(|visibility| visibility.as_str().to_owned()),
            folder: folder.map(|folder| Folder::of(folder, digests)),
            generated: None,
        }
    }

    /// The skill with the digests that the document has.
    pub fn into_manifest(self) -> Result<Manifest, Error> {
        let origin = match self.origin {
            origin if origin == Origin::Agent3md.as_str() => Origin::Agent3md,
            _ => Origin::Fs,
        };
        let (folder, digests) = match self.folder {
            Some(folder) => {
                let (folder, digests) = folder.into_core()?;
                (Some(Arc::new(folder)), digests)
            }
            None => (None, Vec::new()),
        };
        let generated = match self.generated {
            Some(generated) => Some(GeneratedSkillMd {
                bytes: generated.bytes,
                digest: generated.digest.parse()?,
                front_matter: generated.front_matter.get().into(),
            }),
            None => None,
        };
        Ok(Manifest {
            skill: SourceSkill {
                id: self.id.parse()?,
                bytes: self.bytes,
                registered_at: self.registered_at,
                origin,
                head: Head {
                    title: self.title,
                    description: self.description,
                    triggers: self.triggers.map(Into::into),
                    // A later version may have others.
                    visibility: self.visibility.and_then(|name| name.parse().ok()),
                    sections: self.sections.map(|sections| {
                        let sections = sections.iter();
                        sections.filter_map(|id| id.parse().ok()).collect()
                    }),
                },
                folder,
                body_hash: None,
            },
            digests: digests.into(),
            generated,
        })
    }
}

impl Folder {
    fn of(folder: &SkillFolder, digests: &[Digest]) -> Self {
        let digests = digests.iter().map(|digest| Some(digest.to_string()));
        let digests = digests.chain(std::iter::repeat(None));
        let file = |(file, digest): (&FolderFile, Option<String>)| File {
            path: file.path.to_string(),
            bytes: file.bytes,
            executable: file.is_executable,
            digest,
        };
        Self {
            front_matter: json(&folder.front_matter),
            files: folder.files.iter().zip(digests).map(file).collect(),
            files_problem: folder.files_problem.clone(),
            rejections: folder.rejections.to_vec(),
        }
    }

    fn into_core(self) -> Result<(SkillFolder, Vec<Digest>), Error> {
        let mut files = Vec::with_capacity(self.files.len());
        let mut digests = Vec::new();
        for file in self.files {
            files.push(FolderFile {
                path: file.path.parse()?,
                bytes: file.bytes,
                is_executable: file.executable,
            });
            if let Some(digest) = file.digest {
                digests.push(digest.parse()?);
            }
        }
        let folder = SkillFolder {
            front_matter: self.front_matter.get().into(),
            files: files.into(),
            files_problem: self.files_problem,
            rejections: self.rejections.into(),
        };
        Ok((folder, digests))
    }
}

/// Front matter, which the registry keeps as JSON.
fn json(text: &str) -> Box<RawValue> {
    RawValue::from_string(text.to_owned()).expect("front matter is kept as JSON")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_keeps_everything_of_its_manifest() {
        let folder = SkillFolder {
            front_matter: r#"{"name":"pdf","a":1}"#.into(),
            files: [("SKILL.md", false), ("run.sh", true)]
                .map(|(path, is_executable)| FolderFile {
                    path: path.parse().unwrap(),
                    bytes: 5,
                    is_executable,
                })
                .into(),
            files_problem: None,
            rejections: ["has no name".to_owned()].into(),
        };
        let skill = SourceSkill {
            id: "docs/pdf".parse().unwrap(),
            bytes: 7,
            registered_at: "2026-01-01T00:00:00Z".into(),
            origin: Origin::Fs,
            head: Head {
                title: Some("PDF".into()),
                description: None,
                triggers: Some(["read pdf".into()].into()),
                visibility: Some(Visibility::Manual),
                sections: Some(["demo::hello".parse().unwrap()].into()),
            },
            folder: Some(Arc::new(folder)),
            body_hash: None,
        };
        let digests = [Digest::of(b"a"), Digest::of(b"b")];
        let manifest = Manifest {
            generated: Some(GeneratedSkillMd {
                bytes: 9,
                digest: Digest::of(b"c"),
                front_matter: r#"{"name":"pdf"}"#.into(),
            }),
            ..Manifest::of_folder(skill, digests.into())
        };
        let text = serde_json::to_string(&Document::of_manifest(&manifest)).unwrap();
        let read: Document = serde_json::from_str(&text).unwrap();
        let read = read.into_manifest().unwrap();
        assert_eq!(format!("{read:?}"), format!("{manifest:?}"));

        let mut read: Document = serde_json::from_str(&text).unwrap();
        read.generated.as_mut().unwrap().digest = "sha256:0".into();
        let error = read.into_manifest().unwrap_err();
        assert!(error.to_text().contains("sha256:0"), "{error}");
    }
}
