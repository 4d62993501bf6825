//! Ranking all documents for a request.

use std::cmp::Ordering;
use std::sync::Arc;

use crate::confidence::{Confidence, Evidence};
use crate::dictionary::Term;
use crate::document::Group;
use crate::documents::{Indexed, Lengths, REMOVED};
use crate::field::{FIELDS, Field, FieldSet};
use crate::index::Index;
use crate::postings::{Counts, Hit, Slot};
use crate::request::{Asked, Request, Terms, asked};
use crate::vectors::RequestVector;

/// A document without a word of the request is a match from this similarity on.
const SIMILARITY_MIN: f32 = 0.25;
/// A word counts by its meaning if it adds this share to the similarity.
const MEANING_SHARE: f32 = 0.15;
/// Candidates that are kept before the worst are dropped.
const TOP_MIN: usize = 64;
/// The highest score of a match that is not good enough to be an answer.
const IRRELEVANT_SCORE: f32 = 0.5;
/// The score of a match by one trigger; more triggers come closer to 1.
const TRIGGER_SCORE: f32 = 0.95;

/// The matches of a request.
#[derive(Clone, Debug, Default)]
pub struct Ranking {
    /// The best ones, best first; ties in byte order of ids, then groups.
    pub matches: Vec<Match>,
    /// How many there are.
    pub total: usize,
    /// Whether the best one is good enough to be an answer.
    pub is_relevant: bool,
    /// What is known about the best one.
    pub evidence: Evidence,
}

/// A document that a request matches.
#[derive(Clone, Debug, PartialEq)]
pub struct Match {
    /// Its group.
    pub group: Group,
    /// Its id.
    pub id: Arc<str>,
    /// How likely it is the right one, from 0 to 1.
    pub score: f32,
    /// The numbers of its triggers whose words are all in the request.
    pub triggers: Vec<usize>,
    /// The words that counted.
    pub why: Vec<Reason>,
}

/// A word that counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    /// The word, as the request has it, lowercase.
    pub word: String,
    /// The fields it is in.
    pub fields: FieldSet,
}

/// A document that may be among the best.
#[derive(Clone, Copy)]
struct Candidate {
    /// How many triggers match, or more than all if the request is the id.
    triggers: u32,
    sum: f32,
    slot: Slot,
}

impl Index {
    /// Ranks the documents that a request matches.
    pub fn rank(&self, request: &Request<'_>) -> Ranking {
        let text = request.read_text();
        let asked = self.asked(text);
        let words: Vec<String> = asked.iter().map(|asked| asked.word.clone()).collect();
        let vector = if words.is_empty() {
            // Stop words alone say nothing.
            None
        } else {
            RequestVector::of(text, &words)
        };
        let shares = self.shares(&asked);
        let mut similarities = vec![0.0_f32; self.documents.indexed.len()];
        if let Some(vector) = &vector {
            self.documents
                .vectors
                .for_each(vector, |slot, value| similarities[slot as usize] = value);
        }
        // The second is needed to know how sure the first is.
        let wanted = request.offset.saturating_add(request.limit).max(2);
        let hits = self.documents.triggers.matches(text);
        let mut top = Top::new(self, wanted);
        self.for_each_candidate(request, text, &hits, &shares, &similarities, |candidate| {
            top.push(candidate);
        });
        let (candidates, total) = top.finish();
        let Some(&best) = candidates.first() else {
            return Ranking::default();
        };
        let second = candidates.get(1).map_or(0.0, |second| second.sum);
        let evidence = Evidence {
            best: best.sum,
            margin: best.sum - second,
            similarity: similarities[best.slot as usize],
            share: shares[best.slot as usize],
            #[expect(clippy::cast_precision_loss, reason = "a small number")]
            words: asked.len() as f32,
        };
        let confidence = Confidence::shipped(vector.is_some());
        let is_relevant = best.triggers > 0 || confidence.is_relevant(&evidence);
        let most = if is_relevant { 1.0 } else { IRRELEVANT_SCORE };
        let sure = confidence.of(&evidence).min(most);
        let page = candidates.iter().skip(request.offset).take(request.limit);
        let matches = page.filter_map(|candidate| {
            let document = self.documents.indexed[candidate.slot as usize].as_ref()?;
            let similarity = similarities[candidate.slot as usize];
            let contributions = vector
                .as_ref()
                .filter(|_| similarity >= SIMILARITY_MIN)
                .map(|vector| self.documents.vectors.contributions(vector, document.row));
            let by_sum = sure * confidence.falloff((best.sum - candidate.sum).max(0.0));
            Some(Match {
                group: document.group,
                id: Arc::clone(&document.id),
                score: by_sum.max(trigger_score(candidate.triggers)),
                triggers: triggers_of(&hits, candidate.slot),
                why: reasons(document, &asked, contributions.as_deref(), similarity),
            })
        });
        Ranking {
            matches: matches.collect(),
            total,
            is_relevant,
            evidence,
        }
    }

    fn asked(&self, text: &str) -> Vec<Asked> {
        let documents = |term: Term| self.documents.postings[term as usize].live();
        let terms = Terms {
            dictionary: &self.dictionary,
            documents: &documents,
            near: &self.near,
            near_weight: self.weights.near,
        };
        asked(text, &terms)
    }

    /// By slot: the BM25F score as a share of the best score that the request could have. Slots of
    /// removed documents may have one.
    fn shares(&self, asked: &[Asked]) -> Vec<f32> {
        let mut shares = vec![0.0_f32; self.documents.indexed.len()];
        let norms = Norms::new(self);
        let largest = self.idf(1);
        let mut reachable = 0.0;
        for asked in asked {
            let Some(term) = asked.term else {
                reachable += largest / 2.0;
                continue;
            };
            let postings = &self.documents.postings[term as usize];
            let idf = self.idf(postings.live());
            reachable += idf;
            let factor = idf * asked.weight;
            let saturation = self.weights.saturation;
            postings.for_each(|slot, hit| {
                let frequency = match hit {
                    Hit::Body(count) => f32::from(count) * norms.bodies[slot as usize],
                    Hit::Fields(counts) => {
                        norms.frequency(counts, &self.documents.lengths[slot as usize])
                    }
                };
                shares[slot as usize] += factor * frequency / (saturation + frequency);
            });
        }
        if reachable > 0.0 {
            for share in &mut shares {
                *share /= reachable;
            }
        }
        shares
    }

    /// How much a term tells that so many documents have.
    #[expect(clippy::cast_precision_loss, reason = "numbers of documents")]
    fn idf(&self, documents: u32) -> f32 {
        let (all, with) = (self.len() as f32, documents as f32);
        (1.0 + (all - with + 0.5) / (with + 0.5)).ln()
    }

    fn for_each_candidate(
        &self,
        request: &Request<'_>,
        text: &str,
        hits: &[(Slot, u32)],
        shares: &[f32],
        similarities: &[f32],
        mut visit: impl FnMut(Candidate),
    ) {
        let mut triggers: Vec<u32> = vec![0; self.documents.indexed.len()];
        for (slot, _) in hits {
            triggers[*slot as usize] += 1;
        }
        for slot in self.documents.slots_of(text.trim()) {
            triggers[slot as usize] = u32::MAX;
        }
        let words = self.weights.words;
        let has_prefix = |at: usize| {
            let document = self.documents.indexed[at].as_ref();
            document.is_some_and(|document| document.id.starts_with(request.prefix))
        };
        let is_selected = |at: usize| {
            let group = self.documents.groups[at];
            group != REMOVED
                && request.selects_group(group)
                && (request.prefix.is_empty() || has_prefix(at))
        };
        for (slot, (&share, &similarity)) in (0..).zip(shares.iter().zip(similarities)) {
            let at = slot as usize;
            let is_match = share > 0.0 || triggers[at] > 0 || similarity >= SIMILARITY_MIN;
            if is_match && is_selected(at) {
                visit(Candidate {
                    triggers: triggers[at],
                    sum: similarity + words * share,
                    slot,
                });
            }
        }
    }

    fn order(&self, a: &Candidate, b: &Candidate) -> Ordering {
        let by_score = || b.triggers.cmp(&a.triggers).then(b.sum.total_cmp(&a.sum));
        let name = |slot: Slot| {
            let document = self.documents.indexed[slot as usize].as_ref();
            document.map(|document| (&*document.id, document.group))
        };
        by_score().then_with(|| name(a.slot).cmp(&name(b.slot)))
    }
}

/// The best of many candidates, without keeping them all: most are worse than the worst of them.
struct Top<'a> {
    index: &'a Index,
    wanted: usize,
    best: Vec<Candidate>,
    worst: Option<Candidate>,
    total: usize,
}

impl<'a> Top<'a> {
    fn new(index: &'a Index, wanted: usize) -> Self {
        Self {
            index,
            wanted,
            best: Vec::new(),
            worst: None,
            total: 0,
        }
    }

    fn push(&mut self, candidate: Candidate) {
        self.total += 1;
        let is_worse = |worst: &Candidate| self.index.order(worst, &candidate).is_lt();
        if self.worst.as_ref().is_some_and(is_worse) {
            return;
        }
        self.best.push(candidate);
        if self.best.len() >= self.wanted.saturating_mul(2).max(TOP_MIN) {
            self.cut();
        }
    }

    /// Drops what is not wanted.
    fn cut(&mut self) {
        if self.wanted < self.best.len() {
            let order = |a: &Candidate, b: &Candidate| self.index.order(a, b);
            self.best.select_nth_unstable_by(self.wanted - 1, order);
            self.best.truncate(self.wanted);
            self.worst = self.best.last().copied();
        }
    }

    /// The best, in order, and how many there were.
    fn finish(mut self) -> (Vec<Candidate>, usize) {
        self.cut();
        self.best.sort_unstable_by(|a, b| self.index.order(a, b));
        (self.best, self.total)
    }
}

fn trigger_score(triggers: u32) -> f32 {
    #[expect(clippy::cast_precision_loss, reason = "a small number")]
    let triggers = triggers as f32;
    if triggers > 0.0 {
        1.0 - (1.0 - TRIGGER_SCORE) / triggers
    } else {
        0.0
    }
}

/// What one occurrence of a word counts in a field of some length.
struct Norms<'a> {
    index: &'a Index,
    /// By field: the inverse of the average length.
    averages: [f32; FIELDS],
    /// By slot: what one occurrence in the body counts. Most hits are in the body.
    bodies: Vec<f32>,
}

impl<'a> Norms<'a> {
    #[expect(clippy::cast_precision_loss, reason = "an average")]
    fn new(index: &'a Index) -> Self {
        let documents = index.len() as f32;
        let mut averages = [0.0; FIELDS];
        for (average, &length) in averages.iter_mut().zip(&index.documents.total_lengths) {
            *average = documents / length.max(1) as f32;
        }
        let mut norms = Self {
            index,
            averages,
            bodies: Vec::new(),
        };
        let lengths = index.documents.lengths.iter();
        norms.bodies = lengths
            .map(|lengths| norms.of(Field::Body as usize, lengths))
            .collect();
        norms
    }

    #[inline]
    fn of(&self, field: usize, lengths: &Lengths) -> f32 {
        let weight = &self.index.weights.fields[field];
        #[expect(clippy::cast_precision_loss, reason = "a number of words")]
        let relative = lengths[field] as f32 * self.averages[field];
        weight.boost / (1.0 + weight.length * (relative - 1.0))
    }

    /// How often a document has a term, weighted by fields and their lengths.
    fn frequency(&self, counts: Counts, lengths: &Lengths) -> f32 {
        let fields = counts.iter().enumerate().filter(|&(_, &count)| count > 0);
        let of_field = |(field, &count): (usize, &u8)| f32::from(count) * self.of(field, lengths);
        fields.map(of_field).sum()
    }
}

fn triggers_of(hits: &[(Slot, u32)], slot: Slot) -> Vec<usize> {
    let start = hits.partition_point(|&(hit, _)| hit < slot);
    let own = hits[start..].iter().take_while(|&&(hit, _)| hit == slot);
    own.map(|&(_, trigger)| trigger as usize).collect()
}

fn reasons(
    document: &Indexed,
    asked: &[Asked],
    contributions: Option<&[f32]>,
    similarity: f32,
) -> Vec<Reason> {
    let mut fields = vec![FieldSet::default(); asked.len()];
    document.for_each_term(|term, found| {
        for (fields, asked) in fields.iter_mut().zip(asked) {
            if asked.term == Some(term) {
                *fields = fields.union(found);
            }
        }
    });
    for (fields, share) in fields.iter_mut().zip(contributions.unwrap_or_default()) {
        if fields.is_empty() && *share >= MEANING_SHARE * similarity {
            *fields = FieldSet::MEANING;
        }
    }
    let reasons = asked.iter().zip(fields);
    let reasons = reasons.filter(|(_, fields)| !fields.is_empty());
    let reason = |(asked, fields): (&Asked, FieldSet)| Reason {
        word: asked.word.clone(),
        fields,
    };
    let mut reasons: Vec<Reason> = reasons.map(reason).collect();
    reasons.dedup_by(|a, b| a.word == b.word);
    reasons
}
