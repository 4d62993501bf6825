//! What the files hold: which document has which id or name, and its text.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{MAIN_SEPARATOR, Path, PathBuf};
use std::sync::Arc;

use skills_core::{
    Head, PromptName, PromptText, SkillId, Skipped, SourcePrompt, SourceSkill, triggers,
};

use super::cache::Cache;
use super::document::{self, Document};
use super::pattern::Pattern;
use super::prompt::{Card, card};
use super::scan::{Found, Limits, scan, shown};

/// The patterns, and what is remembered of files that have not changed.
#[derive(Debug)]
pub struct Library {
    skills: Patterns,
    prompts: Patterns,
    limits: Limits,
    skill_heads: Cache<SkillPart>,
    prompt_heads: Cache<PromptPart>,
}

#[derive(Debug, Default)]
struct Patterns {
    good: Vec<Pattern>,
    bad: Vec<Skipped>,
}

/// What a skill file teaches, but for its id.
#[derive(Clone, Debug)]
struct SkillPart {
    bytes: usize,
    changed_at: Arc<str>,
    head: Head,
}

/// What a prompt file teaches, but for its text.
#[derive(Clone, Debug)]
struct PromptPart {
    prompt: SourcePrompt,
    warning: Option<String>,
}

/// A file that is served.
#[derive(Debug)]
pub struct File<T> {
    /// What it is.
    pub entry: T,
    /// Where it is, from the root of the disk.
    pub path: PathBuf,
    /// The pattern that matches it.
    pub pattern: Arc<str>,
    /// What had to be put right to serve it.
    pub warning: Option<String>,
}

/// Files that are served, and what is not.
#[derive(Debug)]
pub struct Files<T> {
    /// In byte order of their paths.
    pub entries: Vec<File<T>>,
    /// What is not, and why.
    pub skipped: Vec<Skipped>,
}

impl Patterns {
    fn new(base: &Path, texts: &[String]) -> Self {
        let mut patterns = Self::default();
        for text in texts {
            match Pattern::parse(text, base) {
                Ok(pattern) => patterns.good.push(pattern),
                Err(reason) => patterns.bad.push(Skipped {
                    place: format!("pattern `{text}`"),
                    reason,
                }),
            }
        }
        patterns
    }
}

impl Library {
    /// The files that patterns match.
    pub fn new(base: &Path, skills: &[String], prompts: &[String], limits: Limits) -> Self {
        Self {
            skills: Patterns::new(base, skills),
            prompts: Patterns::new(base, prompts),
            limits,
            skill_heads: Cache::default(),
            prompt_heads: Cache::default(),
        }
    }

    /// Every skill.
    pub fn skills(&self) -> Files<SourceSkill> {
        let read = |found: &Found| {
            // A file whose path is no id need not be read.
            let id = id_of(&found.relative)?;
            let part = self.skill_heads.learn(&found.path, || {
                Ok(document::read(&found.path)?.map(SkillPart::of))
            })?;
            Ok(part.map(|part| {
                let entry = SourceSkill {
                    id,
                    bytes: part.bytes,
                    registered_at: part.changed_at,
                    head: part.head,
                };
                (entry, None)
            }))
        };
        let (patterns, cache) = (&self.skills, &self.skill_heads);
        self.list(patterns, cache, "id", |skill| skill.id.as_str(), read)
    }

    /// Every prompt.
    pub fn prompts(&self) -> Files<SourcePrompt> {
        let read = |found: &Found| {
            let part = self.prompt_heads.learn(&found.path, || {
                Ok(read_prompt(&found.path)?.map(|(part, _)| part))
            })?;
            Ok(part.map(|part| (part.prompt, part.warning)))
        };
        let (patterns, cache) = (&self.prompts, &self.prompt_heads);
        self.list(patterns, cache, "name", |prompt| prompt.name.as_str(), read)
    }

    /// The body of a skill, as the listing has it.
    pub fn skill(&self, id: &SkillId) -> Option<Arc<str>> {
        let body = |path: &Path| document::read(path).ok().flatten().map(|read| read.body);
        if let Some(paths) = self.paths_of(id) {
            return paths.iter().find_map(|path| body(path));
        }
        let mut files = self.skills().entries.into_iter();
        let file = files.find(|file| file.entry.id == *id)?;
        body(&file.path)
    }

    /// A prompt and its text.
    pub fn prompt(&self, name: &PromptName) -> Option<PromptText> {
        // Front matter may name a prompt, so only looking at all of them tells.
        let mut files = self.prompts().entries.into_iter();
        let file = files.find(|file| file.entry.name == *name)?;
        let (PromptPart { prompt, .. }, text) = read_prompt(&file.path).ok().flatten()?;
        (prompt.name == *name).then_some(PromptText { prompt, text })
    }

    /// The files that can be the skill `id`, computed without a walk, in the order
    /// of the listing. None where a link is on the way: then only a walk tells.
    fn paths_of(&self, id: &SkillId) -> Option<Vec<PathBuf>> {
        if id.depth() > self.limits.depth {
            return Some(Vec::new());
        }
        let relative: PathBuf = format!("{id}.md").split('/').collect();
        let mut roots = Vec::with_capacity(self.skills.good.len());
        let mut paths = Vec::new();
        for pattern in &self.skills.good {
            let Ok(root) = fs::canonicalize(&pattern.root) else {
                continue;
            };
            let path = root.join(&relative);
            if pattern.matches(&relative)
                && let Ok(real) = fs::canonicalize(&path)
            {
                if real != path {
                    return None;
                }
                // Of two patterns that match a file the first gives the id.
                let first = roots
                    .iter()
                    .find_map(|(earlier, root): &(&Pattern, PathBuf)| {
                        path.strip_prefix(root).ok().filter(|r| earlier.matches(r))
                    });
                if first.is_none_or(|first| first == relative) {
                    paths.push(path);
                }
            }
            roots.push((pattern, root));
        }
        paths.sort_by(|a, b| bytes(a).cmp(bytes(b)));
        Some(paths)
    }

    /// Walks, reads every file, and gives each name to the first that has it.
    fn list<T, P: Clone>(
        &self,
        patterns: &Patterns,
        cache: &Cache<P>,
        what: &str,
        name: impl Fn(&T) -> &str,
        read: impl Fn(&Found) -> Result<Option<(T, Option<String>)>, String>,
    ) -> Files<T> {
        let scan = scan(&patterns.good, self.limits);
        let mut skipped = patterns.bad.clone();
        skipped.extend(scan.skipped);
        let mut entries: Vec<File<T>> = Vec::with_capacity(scan.found.len());
        let mut taken: HashMap<String, usize> = HashMap::with_capacity(scan.found.len());
        for found in &scan.found {
            let reason = match read(found) {
                // Deleted since the walk.
                Ok(None) => continue,
                Err(reason) => reason,
                Ok(Some((entry, warning))) => {
                    let name = name(&entry);
                    if let Some(&winner) = taken.get(name) {
                        let winner = shown(&entries[winner].path);
                        format!("has the {what} `{name}` that {winner} has already; rename one")
                    } else {
                        taken.insert(name.to_owned(), entries.len());
                        entries.push(File {
                            entry,
                            path: found.path.clone(),
                            pattern: Arc::clone(&found.pattern),
                            warning,
                        });
                        continue;
                    }
                }
            };
            let place = shown(&found.path);
            skipped.push(Skipped { place, reason });
        }
        let there: HashSet<&Path> = scan.found.iter().map(|found| &*found.path).collect();
        cache.keep(|path| there.contains(path));
        Files { entries, skipped }
    }
}

impl SkillPart {
    fn of(document: Document) -> Self {
        Self {
            bytes: document.body.len(),
            head: Head {
                triggers: document.front_matter.as_deref().and_then(triggers),
                ..Head::of(&document.body)
            },
            changed_at: document.changed_at,
        }
    }
}

/// Reads a prompt file. None if it is gone.
fn read_prompt(path: &Path) -> Result<Option<(PromptPart, Arc<str>)>, String> {
    let Some(document) = document::read(path)? else {
        return Ok(None);
    };
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let front_matter = document.front_matter.as_deref();
    let Card {
        name,
        description,
        warning,
    } = card(front_matter, &document.body, &stem)?;
    let prompt = SourcePrompt {
        name,
        description: description.into(),
        registered_at: document.changed_at,
    };
    Ok(Some((PromptPart { prompt, warning }, document.body)))
}

/// The id of the file at a path below the root of its pattern.
fn id_of(relative: &Path) -> Result<SkillId, String> {
    let text = relative.to_string_lossy().replace(MAIN_SEPARATOR, "/");
    let id = text.strip_suffix(".md").unwrap_or(&text);
    id.parse::<SkillId>()
        .map_err(|error| format!("cannot be a skill: {error}; rename it"))
}

fn bytes(path: &Path) -> &[u8] {
    path.as_os_str().as_encoded_bytes()
}
