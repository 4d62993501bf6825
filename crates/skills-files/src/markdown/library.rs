//! What the files hold: which document has which id or name, and its text.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt::Display;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{MAIN_SEPARATOR, Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use skills_core::{
    Head, Origin, PromptText, SkillId, Skipped, SourcePrompt, SourceSkill, triggers,
};

use super::document::{self, Unserved};
use super::prompt::PromptFrontMatter;
use crate::cache::{Cache, Listing};
use crate::pattern::{PatternMatches, Patterns};
use crate::scan::{Found, Limits, scan, shown};
use crate::singleflight::Singleflight;

/// The patterns, and what is remembered of files that have not changed.
#[derive(Debug)]
pub struct Library {
    pub(super) skills: Patterns,
    prompts: Patterns,
    pub(super) limits: Limits,
    pub(super) known_skills: Cache<Part<SourceSkill>>,
    known_prompts: Cache<Part<SourcePrompt>>,
    /// Listings of skills that are asked for at the same time.
    pub skill_listings: Singleflight<Files<SourceSkill>>,
    /// Listings of prompts that are asked for at the same time.
    pub prompt_listings: Singleflight<Files<SourcePrompt>>,
    #[cfg(test)]
    pub(super) walks: std::sync::atomic::AtomicUsize,
}

/// What a file teaches, but for its text.
#[derive(Clone, Debug)]
pub struct Part<T> {
    /// What it is.
    pub entry: T,
    /// What had to be put right to serve it.
    pub warning: Option<Arc<str>>,
    /// Tells whether anything that is served of it changed.
    pub print: u64,
}

/// A file that is served.
#[derive(Debug)]
pub struct File<T> {
    /// What it teaches.
    pub part: Part<T>,
    /// Where it is, from the root of the disk.
    pub path: PathBuf,
    /// The pattern that matches it.
    pub pattern: Arc<str>,
}

/// Files that are served, and what is not.
#[derive(Debug)]
pub struct Files<T> {
    /// In byte order of their paths.
    pub entries: Vec<File<T>>,
    /// What is not, and why.
    pub skipped: Vec<Skipped>,
    /// How much each pattern matches.
    pub matches: Vec<PatternMatches>,
    /// The folders that were looked into, and those that are not there yet.
    pub folders: Vec<PathBuf>,
}

impl Library {
    /// The files that patterns match.
    pub fn new(base: &Path, skills: &[String], prompts: &[String], limits: Limits) -> Self {
        Self {
            skills: Patterns::new(base, skills, ".md"),
            prompts: Patterns::new(base, prompts, ".md"),
            limits,
            known_skills: Cache::default(),
            known_prompts: Cache::default(),
            skill_listings: Singleflight::default(),
            prompt_listings: Singleflight::default(),
            #[cfg(test)]
            walks: std::sync::atomic::AtomicUsize::default(),
        }
    }

    /// Every skill.
    pub fn skills(&self) -> Files<SourceSkill> {
        let learn = |known: &mut Listing<'_, Part<SourceSkill>>, found: &Found| {
            let text = id_text(&found.relative);
            let same = |part: &Part<SourceSkill>| part.entry.id.as_str() == text;
            known.learn(found, same, || {
                // A file whose path is no id need not be read.
                let id = id_of(&text)?;
                read_skill(&found.path, id)
            })
        };
        let (patterns, cache) = (&self.skills, &self.known_skills);
        self.list(patterns, cache, "id", |skill| &skill.id, learn)
    }

    /// Every prompt.
    pub fn prompts(&self) -> Files<SourcePrompt> {
        let learn = |known: &mut Listing<'_, Part<SourcePrompt>>, found: &Found| {
            let read = || Ok(read_prompt(&found.path)?.map(|(part, _)| part));
            known.learn(found, |_| true, read)
        };
        let (patterns, cache) = (&self.prompts, &self.known_prompts);
        self.list(patterns, cache, "name", |prompt| &prompt.name, learn)
    }

    /// Walks, learns of every file, and gives each name to the first that has it.
    fn list<T: Clone, N: Clone + Eq + Hash + Display>(
        &self,
        patterns: &Patterns,
        cache: &Cache<Part<T>>,
        what: &str,
        name: impl Fn(&T) -> &N,
        learn: impl Fn(&mut Listing<'_, Part<T>>, &Found) -> Result<Option<Part<T>>, Unserved>,
    ) -> Files<T> {
        #[cfg(test)]
        self.walks.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        let began = SystemTime::now();
        let scan = scan(&patterns.good, self.limits);
        let mut known = cache.listing(began);
        let mut skipped = patterns.bad.clone();
        skipped.extend(scan.skipped);
        let mut entries: Vec<File<T>> = Vec::with_capacity(scan.found.len());
        let mut taken: HashMap<N, usize> = HashMap::with_capacity(scan.found.len());
        for found in scan.found {
            let reason = match learn(&mut known, &found) {
                // Deleted since the walk.
                Ok(None) => continue,
                Err(unserved) => unserved.reason(),
                Ok(Some(part)) => {
                    let name = name(&part.entry);
                    if let Some(&winner) = taken.get(name) {
                        let winner = shown(&entries[winner].path);
                        format!("has the {what} `{name}` that {winner} has already; rename one")
                    } else {
                        taken.insert(name.clone(), entries.len());
                        let Found { path, pattern, .. } = found;
                        entries.push(File {
                            part,
                            path,
                            pattern,
                        });
                        continue;
                    }
                }
            };
            let place = shown(&found.path);
            skipped.push(Skipped { place, reason });
        }
        Files {
            entries,
            skipped,
            matches: scan.matches,
            folders: scan.folders,
        }
    }
}

impl<T> Files<T> {
    /// Each name with the fingerprint of its file.
    pub fn prints<N: Clone>(&self, name: impl Fn(&T) -> &N) -> impl Iterator<Item = (N, u64)> {
        let print = move |file: &File<T>| (name(&file.part.entry).clone(), file.part.print);
        self.entries.iter().map(print)
    }
}

/// Reads a skill file. None if it is gone.
fn read_skill(path: &Path, id: SkillId) -> Result<Option<Part<SourceSkill>>, Unserved> {
    let Some(document) = document::read(path)? else {
        return Ok(None);
    };
    let head = Head {
        triggers: document.front_matter.as_deref().and_then(triggers),
        ..Head::of(&document.body)
    };
    let print = print((&document.body, &document.changed_at, &head.triggers));
    let entry = SourceSkill {
        id,
        bytes: document.body.len(),
        registered_at: document.changed_at,
        origin: Origin::Fs,
        head,
    };
    Ok(Some(Part {
        entry,
        warning: None,
        print,
    }))
}

/// Reads a prompt file and its text. None if it is gone.
pub fn read_prompt(path: &Path) -> Result<Option<(Part<SourcePrompt>, PromptText)>, Unserved> {
    let Some(document) = document::read(path)? else {
        return Ok(None);
    };
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let front_matter = document.front_matter.as_deref();
    let PromptFrontMatter {
        name,
        description,
        warning,
    } = PromptFrontMatter::parse(front_matter, &document.body, &stem)?;
    let print = print((&document.body, &document.changed_at, &description));
    let prompt = SourcePrompt {
        name,
        description: description.into(),
        registered_at: document.changed_at,
        origin: Origin::Fs,
    };
    let text = PromptText {
        prompt: prompt.clone(),
        text: document.body,
    };
    let part = Part {
        entry: prompt,
        warning: warning.map(Arc::from),
        print,
    };
    Ok(Some((part, text)))
}

fn print(of: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    of.hash(&mut hasher);
    hasher.finish()
}

/// What a path below the root of its pattern says of the id.
fn id_text(relative: &Path) -> Cow<'_, str> {
    let text = relative.to_string_lossy();
    let text = match MAIN_SEPARATOR {
        '/' => text,
        other => text.replace(other, "/").into(),
    };
    match text {
        Cow::Borrowed(text) => text.strip_suffix(".md").unwrap_or(text).into(),
        Cow::Owned(text) => text.strip_suffix(".md").unwrap_or(&text).to_owned().into(),
    }
}

fn id_of(text: &str) -> Result<SkillId, String> {
    text.parse::<SkillId>()
        .map_err(|error| format!("cannot be a skill: {error}; rename it"))
}
