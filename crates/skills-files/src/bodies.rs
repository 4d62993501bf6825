//! The bodies of many skills at once: a search reads those of all files that changed.

use std::collections::HashMap;
use std::sync::Arc;

use skills_core::{Error, SkillId};

use crate::blocking::run_blocking;
use crate::markdown::{BodyResult, read_body};
use crate::sources::{Sources, agent_skills};

/// From this number of skills on a walk is faster than to find out for each where it must be.
const WALK_FROM: usize = 64;

const DOING: &str = "read the skills to search";

impl Sources {
    /// The bodies of skills, in the order of their ids. Walks at most once: for many, and for those
    /// whose place the patterns do not determine. Markdown hides documents.
    pub(crate) async fn read_bodies(
        &self,
        ids: &[SkillId],
    ) -> Result<Vec<Option<Arc<str>>>, Error> {
        let mut bodies = vec![None; ids.len()];
        let failed = |problem| Error::Source {
            doing: DOING.into(),
            problem,
        };
        if !self.skills.patterns.is_empty() {
            let mut unknown: Vec<usize> = (0..ids.len()).collect();
            if ids.len() < WALK_FROM {
                let (wanted, rules) = (ids.to_vec(), Arc::clone(&self.visibility));
                let lookup = run_blocking(&self.skills, DOING, move |skills| {
                    let lookup = |id| skills.lookup(id, &rules);
                    wanted.iter().map(lookup).collect::<Vec<_>>()
                });
                unknown.clear();
                for (at, found) in lookup.await?.into_iter().enumerate() {
                    match found {
                        Some(found) => bodies[at] = found.map_err(failed)?.map(|(_, body)| body),
                        None => unknown.push(at),
                    }
                }
            }
            for (at, body) in self.read_listed(ids, &unknown).await? {
                bodies[at] = body.map_err(failed)?;
            }
        }
        if bodies.iter().any(Option::is_none) {
            let agents = self.agents.list().await?;
            let skills = agent_skills(&agents).map(|entry| (&entry.skill.id, &entry.body));
            let mut documents = HashMap::new();
            // Of two with the same id, the first is served.
            skills.for_each(|(id, body)| {
                documents.entry(id).or_insert(body);
            });
            for (body, id) in bodies.iter_mut().zip(ids) {
                if body.is_none() {
                    *body = documents.get(id).map(|body| Arc::clone(body));
                }
            }
        }
        Ok(bodies)
    }

    /// The bodies of some of these skills, by the paths that a walk finds.
    async fn read_listed(
        &self,
        ids: &[SkillId],
        some: &[usize],
    ) -> Result<Vec<(usize, BodyResult)>, Error> {
        if some.is_empty() {
            return Ok(Vec::new());
        }
        let listed = self.skill_files().await?;
        let files = listed.files.iter();
        let files: HashMap<_, _> = files.map(|file| (&file.entry.skill.id, file)).collect();
        let places = some.iter().filter_map(|&at| {
            let file = files.get(&ids[at])?;
            Some((at, file.real_path().to_owned(), file.entry.folder.is_some()))
        });
        let places: Vec<_> = places.collect();
        run_blocking(&self.skills, DOING, move |_| {
            let places = places.iter();
            let bodies = places.map(|(at, path, is_folder)| (*at, read_body(path, *is_folder)));
            bodies.collect()
        })
        .await
    }
}
