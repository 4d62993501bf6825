//! The index of all skills and of a subtree, within a budget.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::Registry;
use super::collisions::{Hides, Unshadowed};
use crate::index::{Entry, Index, IndexPart, IndexView, Lines, TOKEN_BYTES};
use crate::nearest::nearest;
use crate::row_slot::Snapshot;
use crate::{Error, ResourceUri, Skill, SkillId, SourceSkill, Visibility};

/// A text of the index, and what it covers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexText {
    /// The text.
    pub text: Arc<str>,
    /// How many skills have a line.
    pub included: usize,
    /// How many skills are behind the lines of subtrees and pages.
    pub folded: usize,
}

/// What the lines of the index mark.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct IndexMarks {
    hides: Hides,
    /// Registered skills past their leases.
    stale: BTreeSet<SkillId>,
}

impl Registry {
    /// The index of all skills, rendered once per change if no source has skills.
    pub(super) async fn index(&self) -> Result<Arc<str>, Error> {
        let state = self.stored_skills("read the index").await?;
        let (custom, marks) = self.marked_source_skills(&state).await?;
        let custom = custom.listing.entries;
        let is_state_only = custom.is_empty() && marks == IndexMarks::default();
        if is_state_only && let Some(text) = state.index.get() {
            return Ok(Arc::clone(text));
        }
        let whole = IndexPart::default();
        let index = self.render_index(&state, (&custom, &marks), &whole, None)?;
        if is_state_only {
            return Ok(Arc::clone(state.index.get_or_init(|| index.text)));
        }
        Ok(index.text)
    }

    /// A text of the index with at most `budget_tokens`, or as long as the settings allow. The
    /// addresses in it lead to texts as long as the settings allow.
    pub async fn index_text(
        &self,
        part: &IndexPart,
        budget_tokens: Option<usize>,
    ) -> Result<IndexText, Error> {
        if budget_tokens == Some(0) {
            let hint = "leave it out for the budget of the configuration";
            return Err(Error::invalid_hint(
                "budget_tokens",
                "must be at least 1",
                hint,
            ));
        }
        let state = self.stored_skills("read the index").await?;
        let (custom, marks) = self.marked_source_skills(&state).await?;
        let custom = &custom.listing.entries[..];
        let budget = budget_tokens.map(|tokens| tokens.saturating_mul(TOKEN_BYTES));
        self.render_index(&state, (custom, &marks), part, budget)
    }

    /// The skills of the sources, and the marks of all skills.
    async fn marked_source_skills(
        &self,
        state: &Snapshot<Skill>,
    ) -> Result<(Unshadowed<SourceSkill>, IndexMarks), Error> {
        let (custom, hides) = self.source_skills_with_hidden(state).await?;
        let mut ended = BTreeSet::new();
        let leases = self.lease_marks().await?;
        if let Some(leases) = leases.filter(|leases| leases.has_stale_skills()) {
            let is_stale = |skill: &&Arc<Skill>| {
                let lease = leases.of_skill(&skill.id, &skill.registered_at);
                lease.is_some_and(|lease| lease.stale)
            };
            ended.extend(
                state
                    .rows
                    .iter()
                    .filter(is_stale)
                    .map(|skill| skill.id.clone()),
            );
        }
        Ok((
            custom,
            IndexMarks {
                hides,
                stale: ended,
            },
        ))
    }

    fn render_index(
        &self,
        state: &Snapshot<Skill>,
        (custom, marks): (&[SourceSkill], &IndexMarks),
        part: &IndexPart,
        budget: Option<usize>,
    ) -> Result<IndexText, Error> {
        let entry = |(id, head)| Entry {
            id,
            head,
            visibility: self.visibility(id, head),
            hides: marks.hides.get(id).map_or(&[], Vec::as_slice),
            stale: marks.stale.contains(id),
        };
        let registered = || state.rows.iter().map(|skill| (&skill.id, skill.head()));
        let custom = || custom.iter().map(|skill| (&skill.id, &skill.head));
        let index = Index {
            registered: &state.index_lines(marks, || Lines::new(registered().map(entry))),
            custom: &Lines::new(custom().map(entry)),
            max_bytes: self.index_max_bytes,
        };
        let Some(rendered) = index.render(part, budget.unwrap_or(self.index_max_bytes)) else {
            let skills = registered().chain(custom());
            let skills = skills.map(|(id, head)| (id, self.visibility(id, head)));
            return Err(no_subtree(part, skills));
        };
        Ok(IndexText {
            text: rendered.text.into(),
            included: rendered.included,
            folded: rendered.folded,
        })
    }
}

fn no_subtree<'a>(
    part: &IndexPart,
    skills: impl Iterator<Item = (&'a SkillId, Visibility)>,
) -> Error {
    let asked = part.below.as_ref().map_or("", SkillId::as_str);
    let (offered, others): (Vec<_>, Vec<_>) = skills.partition(|skill| skill.1.is_offered());
    let is_below = |id: &&SkillId| {
        part.below
            .as_ref()
            .is_some_and(|top| id.is_at_or_below(top))
    };
    // It is not in the index, but it can be read.
    let readable = others.into_iter().map(|(id, _)| id).filter(is_below).min();
    let parents = offered.iter().flat_map(|(id, _)| {
        let id = id.as_str();
        let slashes = id.match_indices('/').map(|(at, _)| at);
        slashes.chain([id.len()]).map(move |end| &id[..end])
    });
    let near = nearest(asked, parents).and_then(|id| id.parse().ok());
    let near = near.map(|id| IndexPart {
        below: Some(id),
        view: IndexView::Tree,
    });
    let readable = readable.map(|id| ResourceUri::Skill(id.clone()).to_string());
    Error::NoSuchSubtree {
        uri: part.to_string(),
        nearest: readable.or_else(|| near.map(|near| near.to_string())),
    }
}
