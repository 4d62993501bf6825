//! One id or name in state and in sources, or in two sources: which entry is served, and what
//! the others are called.
//!
//! The rules: state comes before sources, and sources come in their order. An entry that loses
//! is in no list; the list and the index mark the winner. The body of a skill that loses is
//! read at an address with its origin, such as `iii://@files/id`. Two equal bodies are not a
//! collision.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::Registry;
use crate::row_slot::RowSlot;
use crate::source::{DOCUMENT_ORIGINS, body_hash};
use crate::{
    Error, FoundDocument, Listing, OnConflict, Origin, Pending, PromptName, ResourceUri, SkillId,
    Skipped, Source, SourceSkill,
};

/// The length of a registered body.
pub(super) fn stored_bytes(stored: &[(&SkillId, usize)], id: &SkillId) -> Option<usize> {
    let at = stored
        .binary_search_by(|(stored, _)| (*stored).cmp(id))
        .ok()?;
    Some(stored[at].1)
}

/// A method of [`Source`] that lists its skills or its prompts.
pub(super) type ListSource<T> =
    for<'a> fn(&'a dyn Source) -> Pending<'a, Result<Listing<T>, Error>>;

/// The entries of the sources.
pub(super) struct Unshadowed<T> {
    /// Those that are served.
    pub listing: Listing<T>,
    /// Those whose key state or an earlier source has.
    pub hidden: Vec<T>,
    /// The same for a list.
    pub shadowed: Vec<Skipped>,
}

/// The origins that each skill hides, if their bodies are not equal.
pub(crate) type Hides = BTreeMap<SkillId, Vec<Origin>>;

impl Registry {
    /// The entries of every source whose key neither state nor an earlier source has. The
    /// others are hidden.
    pub(super) async fn unshadowed<T>(
        &self,
        list: ListSource<T>,
        key: fn(&T) -> (Arc<str>, Origin),
        stored: impl Iterator<Item = Arc<str>>,
    ) -> Result<Unshadowed<T>, Error> {
        let mut listing = Listing::default();
        let (mut hidden, mut shadowed) = (Vec::new(), Vec::new());
        let mut taken = HashMap::new();
        if !self.sources.is_empty() {
            taken.extend(stored.map(|key| (key, Origin::State)));
        }
        for source in &self.sources {
            let listed = list(&**source).await?;
            listing.skipped.extend(listed.skipped);
            for entry in listed.entries {
                let (key, origin) = key(&entry);
                if let Some(by) = taken.get(&key) {
                    shadowed.push(Skipped {
                        place: format!("{origin}: {key}"),
                        reason: format!("shadowed by an entry of the same name from {by}"),
                    });
                    hidden.push(entry);
                } else {
                    taken.insert(key, origin);
                    listing.entries.push(entry);
                }
            }
        }
        Ok(Unshadowed {
            listing,
            hidden,
            shadowed,
        })
    }

    /// What the served skills hide. `stored` are the registered skills in the order of their ids,
    /// with the lengths of their bodies.
    pub(super) async fn hides(
        &self,
        skills: &Unshadowed<SourceSkill>,
        stored: &[(&SkillId, usize)],
    ) -> Result<Hides, Error> {
        let mut hides = self.hides_bundled(skills, stored).await?;
        if skills.hidden.is_empty() {
            return Ok(hides);
        }
        let served = skills.listing.entries.iter();
        let served: HashMap<_, _> = served.map(|skill| (&skill.id, skill)).collect();
        for hidden in &skills.hidden {
            let id = &hidden.id;
            if !self.visibility(id, &hidden.head).is_served() {
                continue;
            }
            let winner = match served.get(id) {
                Some(winner) => Winner::Document(winner),
                None => Winner::Stored(stored_bytes(stored, id)),
            };
            if !self.is_equal(&winner, hidden).await? {
                hides.entry(id.clone()).or_default().push(hidden.origin);
            }
        }
        Ok(hides)
    }

    /// Whether the bodies of a skill and of the document that it hides are equal. Reads bodies
    /// only if they are equally long and their hashes are not known.
    async fn is_equal(&self, winner: &Winner<'_>, hidden: &SourceSkill) -> Result<bool, Error> {
        let id = &hidden.id;
        let bytes = match winner {
            Winner::Document(document) => Some(document.bytes),
            Winner::Stored(bytes) => *bytes,
        };
        if bytes != Some(hidden.bytes) {
            return Ok(false);
        }
        let hash = match winner {
            Winner::Document(document) => self.document_hash(document).await?,
            Winner::Stored(_) => match self.stored_skill(id).await? {
                Some(RowSlot::Row(skill)) => Some(body_hash(&skill.body)),
                Some(RowSlot::Damaged(_)) | None => None,
            },
        };
        Ok(hash.is_some() && hash == self.document_hash(hidden).await?)
    }

    async fn document_hash(&self, skill: &SourceSkill) -> Result<Option<u64>, Error> {
        if skill.body_hash.is_some() {
            return Ok(skill.body_hash);
        }
        let found = self.find_document(&skill.id, skill.origin).await?;
        Ok(found.map(|found| body_hash(&found.body)))
    }

    /// The document of one origin, although another may hide it.
    pub(super) async fn find_document(
        &self,
        id: &SkillId,
        origin: Origin,
    ) -> Result<Option<FoundDocument>, Error> {
        for source in &self.sources {
            if let Some(found) = source.document(id, origin).await? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    /// The body of a skill of one origin.
    pub(super) async fn body_from(&self, origin: Origin, id: &SkillId) -> Result<Arc<str>, Error> {
        let found = if self.visibility.turns_off(id) {
            None
        } else {
            match origin {
                Origin::State => self.registered_body(id).await?,
                Origin::Fs | Origin::Agent3md => {
                    let found = self.find_document(id, origin).await?;
                    found.map(|found| found.body)
                }
            }
        };
        let found = match found {
            None if origin == Origin::Fs => {
                let file = self.hidden_markdown(id).await?;
                file.map(|file| file.body)
            }
            found => found,
        };
        if let Some(body) = found {
            return Ok(body);
        }
        let instead = self.find_body(id).await?;
        Err(Error::NoSuchDocument {
            uri: ResourceUri::SkillFrom(origin, id.clone()).to_string(),
            instead: instead.map(|_| ResourceUri::Skill(id.clone()).to_string()),
        })
    }

    /// What a registration of this body hides: documents with another body.
    async fn conflicts(
        &self,
        id: &SkillId,
        body: &str,
    ) -> Result<Vec<(Origin, FoundDocument)>, Error> {
        let mut found = Vec::new();
        for origin in DOCUMENT_ORIGINS {
            let document = match self.find_document(id, origin).await? {
                None if origin == Origin::Fs => self.hidden_bundled(id).await?,
                document => document,
            };
            let document = document.filter(|document| *document.body != *body);
            found.extend(document.map(|document| (origin, document)));
        }
        Ok(found)
    }

    /// Refuses or reports the registration of a skill whose id a document has, if the
    /// configuration says so.
    pub(super) async fn check_skill_conflict(&self, id: &SkillId, body: &str) -> Result<(), Error> {
        if self.on_conflict == OnConflict::Hide || self.sources.is_empty() {
            return Ok(());
        }
        let found = self.conflicts(id, body).await;
        let places = found.map(|found| found.into_iter().map(|(_, document)| document.place));
        self.decide_conflict(format!("skill `{id}`"), places.map(Iterator::collect))
    }

    /// The same for a prompt.
    pub(super) async fn check_prompt_conflict(&self, name: &PromptName) -> Result<(), Error> {
        if self.on_conflict == OnConflict::Hide {
            return Ok(());
        }
        let places = async {
            let mut places = Vec::new();
            for source in &self.sources {
                places.extend(source.prompt_place(name).await?);
            }
            Ok(places)
        };
        self.decide_conflict(format!("prompt `{name}`"), places.await)
    }

    fn decide_conflict(
        &self,
        what: String,
        places: Result<Vec<String>, Error>,
    ) -> Result<(), Error> {
        if self.on_conflict == OnConflict::Refuse {
            let place = places?.into_iter().next();
            return place.map_or(Ok(()), |place| Err(Error::DocumentConflict { what, place }));
        }
        match places {
            Ok(places) => {
                for place in places {
                    tracing::warn!(place, "the registration of {what} hides a file");
                }
            }
            Err(error) => {
                tracing::warn!("does {what} hide a file? {}", error.to_text());
            }
        }
        Ok(())
    }

    /// A document with this id appeared or changed: reports it if a registered skill hides it,
    /// unless the configuration says to hide it in silence.
    pub async fn report_hidden_document(&self, id: &SkillId) -> Result<(), Error> {
        if self.on_conflict == OnConflict::Hide {
            return Ok(());
        }
        let Some(RowSlot::Row(skill)) = self.stored_skill(id).await? else {
            return Ok(());
        };
        for (origin, FoundDocument { place, .. }) in self.conflicts(id, &skill.body).await? {
            let uri = ResourceUri::SkillFrom(origin, id.clone());
            tracing::warn!(place, %uri, "a registered skill with this id hides the file");
        }
        Ok(())
    }
}

/// The entry that is served.
enum Winner<'a> {
    Document(&'a SourceSkill),
    /// A registered skill and the length of its body.
    Stored(Option<usize>),
}
