//! Skills that link to each other in a cycle.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

use crate::check::CheckedSkill;
use crate::rules::links as rules;

/// The links between skills by their ids, each once.
#[derive(Default)]
pub struct Graph {
    links: HashMap<String, Vec<String>>,
    /// The skill that has a link, and the place of the first that leads there.
    places: HashMap<(String, String), (usize, Range<usize>)>,
}

impl Graph {
    /// Adds a link at a place of a skill, unless there is one to the same skill.
    pub fn add(&mut self, from: &str, to: String, at: usize, bytes: Range<usize>) {
        if let Entry::Vacant(place) = self.places.entry((from.to_owned(), to.clone())) {
            place.insert((at, bytes));
            self.links.entry(from.to_owned()).or_default().push(to);
        }
    }

    /// Reports one link of each cycle.
    pub fn report_cycles(&self, skills: &mut [CheckedSkill<'_>]) {
        let mut starts: Vec<_> = self.links.keys().collect();
        starts.sort();
        let mut done: HashSet<&str> = HashSet::new();
        for start in starts {
            // A path of its own, because a chain may be too long for recursion.
            let mut path: Vec<(&str, usize)> = vec![(start, 0)];
            let mut on_path: HashMap<&str, usize> = HashMap::from([(start.as_str(), 0)]);
            while let Some((id, next)) = path.last_mut() {
                let id = *id;
                let to = self.links.get(id).and_then(|links| links.get(*next));
                *next += 1;
                let Some(to) = to.filter(|_| !done.contains(id)) else {
                    done.insert(id);
                    on_path.remove(id);
                    path.pop();
                    continue;
                };
                if to == id || done.contains(to.as_str()) {
                    continue;
                }
                if let Some(&from) = on_path.get(to.as_str()) {
                    let link = (id.to_owned(), to.clone());
                    if let Some((at, bytes)) = self.places.get(&link) {
                        let sink = &mut skills[*at].document.sink;
                        sink.add(rules::CYCLE, bytes.clone(), || {
                            let steps = shorten(&path[from..], to);
                            format!("skills link to each other in a cycle: {steps}")
                        });
                    }
                    continue;
                }
                on_path.insert(to, path.len());
                path.push((to, 0));
            }
        }
    }
}

/// The steps of a path and the one after them.
fn shorten(path: &[(&str, usize)], last: &str) -> String {
    const MAX_STEPS: usize = 8;
    let ids = path.iter().map(|(id, _)| *id).take(MAX_STEPS);
    let gap = (path.len() >= MAX_STEPS).then_some("…");
    let steps: Vec<_> = ids.chain(gap).chain([last]).collect();
    steps.join(" → ")
}
