//! Skills as a person browses them: every skill with its title and origin, and all that is known
//! of one.

use std::sync::Arc;

use super::Registry;
use crate::index::{Entry, line};
use crate::row_slot::RowSlot;
use crate::{
    Digest, Error, FolderFile, Head, LeaseHead, Origin, Skill, SkillFolder, SkillId, SourceSkill,
    Visibility,
};

/// A skill in a list for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkillCard {
    /// Its id.
    pub id: SkillId,
    /// Its title, or its id.
    pub title: Arc<str>,
    /// What it is about.
    pub description: Option<Arc<str>>,
    /// The length of its body.
    pub bytes: usize,
    /// When it was registered or last changed, RFC 3339 in UTC.
    pub modified: Arc<str>,
    /// Where it is stored.
    pub origin: Origin,
    /// The number of files in its folder, if it is one.
    pub files: Option<usize>,
    /// How visible it is.
    pub visibility: Visibility,
    /// Its owner and its lease, if it has one of them.
    pub lease: Option<LeaseHead>,
    /// The origins of documents with the same id, which it hides.
    pub hides: Vec<Origin>,
}

/// What is known of one skill.
#[derive(Clone, Debug)]
pub struct SkillDetails {
    /// Its entry in the list.
    pub card: SkillCard,
    /// Title, description and triggers.
    pub head: Head,
    /// Its body.
    pub body: Arc<str>,
    /// The digest of the body of a registered skill.
    pub digest: Option<Digest>,
    /// The path of its file, if it has one.
    pub place: Option<String>,
    /// The files of its folder, in byte order of their paths.
    pub files: Arc<[FolderFile]>,
    /// Why the files of its folder are not served.
    pub files_problem: Option<Arc<str>>,
    /// Its line of the index; none if the index leaves it out.
    pub index_line: Option<String>,
}

impl Registry {
    /// Every skill of every origin, in byte order of their ids.
    pub async fn cards(&self) -> Result<Vec<SkillCard>, Error> {
        let state = self.stored_skills("list the skills").await?;
        let (custom, mut hides) = self.source_skills_with_hidden(&state).await?;
        let custom = custom.listing.entries;
        let leases = self.lease_marks().await?;
        let lease = |skill: &Skill| {
            let lease = leases.as_ref()?.of_skill(&skill.id, &skill.registered_at);
            lease.cloned()
        };
        let stored = state.rows.iter().map(|skill| SkillCard {
            lease: lease(skill),
            id: skill.id.clone(),
            title: skill.head().title_or(&skill.id),
            description: skill.head().description.clone(),
            bytes: skill.body.len(),
            modified: Arc::clone(&skill.registered_at),
            origin: Origin::State,
            files: None,
            visibility: self.visibility(&skill.id, skill.head()),
            hides: Vec::new(),
        });
        let mut cards: Vec<_> = stored
            .chain(custom.iter().map(|skill| self.card(skill)))
            .collect();
        for card in &mut cards {
            card.hides = hides.remove(&card.id).unwrap_or_default();
        }
        cards.sort_by(|a, b| a.id.cmp(&b.id));
        Ok(cards)
    }

    fn card(&self, skill: &SourceSkill) -> SkillCard {
        SkillCard {
            id: skill.id.clone(),
            title: skill.head.title_or(&skill.id),
            description: skill.head.description.clone(),
            bytes: skill.bytes,
            modified: Arc::clone(&skill.registered_at),
            origin: skill.origin,
            files: skill.folder.as_ref().map(|folder| folder.files.len()),
            visibility: self.visibility(&skill.id, &skill.head),
            lease: None,
            hides: Vec::new(),
        }
    }

    /// One skill; an error with the nearest id if there is none.
    pub async fn skill_details(&self, id: &SkillId) -> Result<SkillDetails, Error> {
        let state = self.stored_skills("read a skill").await?;
        let (custom, mut hides) = self.source_skills_with_hidden(&state).await?;
        let hides = hides.remove(id).unwrap_or_default();
        let (_, body) = self.body(id).await?;
        let source = custom.listing.entries.iter().find(|skill| skill.id == *id);
        let (mut card, head, digest, place) = match (self.stored_skill(id).await?, source) {
            (Some(RowSlot::Row(skill)), _) => {
                let head = skill.head().clone();
                let leases = self.lease_marks().await?;
                let lease = leases.as_ref();
                let lease = lease.and_then(|leases| leases.of_skill(id, &skill.registered_at));
                let card = SkillCard {
                    lease: lease.cloned(),
                    id: id.clone(),
                    title: head.title_or(id),
                    description: head.description.clone(),
                    bytes: body.len(),
                    modified: Arc::clone(&skill.registered_at),
                    origin: Origin::State,
                    files: None,
                    visibility: self.visibility(id, &head),
                    hides: Vec::new(),
                };
                (card, head, Some(Digest::of(body.as_bytes())), None)
            }
            (_, Some(skill)) => {
                let found = self.find_document(id, skill.origin).await?;
                let place = found.map(|found| found.place);
                (self.card(skill), skill.head.clone(), None, place)
            }
            // A markdown file in the folder of a skill: it has a body, and is in no list.
            (_, None) => {
                let head = Head::of(&body);
                let card = SkillCard {
                    id: id.clone(),
                    title: head.title_or(id),
                    description: head.description.clone(),
                    bytes: body.len(),
                    modified: "".into(),
                    origin: Origin::Fs,
                    files: None,
                    visibility: self.visibility(id, &head),
                    lease: None,
                    hides: Vec::new(),
                };
                (card, head, None, None)
            }
        };
        card.hides = hides;
        let folder = source.filter(|_| digest.is_none());
        let folder: Option<&SkillFolder> = folder.and_then(|skill| skill.folder.as_deref());
        let index_line = card.visibility.is_offered().then(|| {
            line(&Entry {
                id,
                head: &head,
                visibility: card.visibility,
                hides: &card.hides,
                stale: card.lease.as_ref().is_some_and(|lease| lease.stale),
            })
        });
        Ok(SkillDetails {
            files: folder.map_or_else(Arc::default, |folder| Arc::clone(&folder.files)),
            files_problem: folder.and_then(|folder| folder.files_problem.clone()),
            index_line: index_line.filter(|_| !card.modified.is_empty()),
            card,
            head,
            body,
            digest,
            place,
        })
    }
}
