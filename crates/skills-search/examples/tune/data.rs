//! Labelled requests, and the index of the tools that serve them.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use skills_search::{Document, Evidence, Index, Ranking, Request};

/// Tools are in so many parts; a part is measured with what was fitted on the others.
pub const FOLDS: usize = 5;

/// A tool, which is a skill here.
#[derive(Deserialize)]
pub struct Tool {
    name: String,
    description: String,
    #[serde(default)]
    body: Option<String>,
}

#[derive(Deserialize)]
struct Query {
    text: String,
    tool: String,
}

/// What is read from the directory.
pub struct Data {
    /// The tools.
    pub tools: Vec<Tool>,
    queries: Vec<Query>,
    /// By request: the number of its tool.
    right: Vec<usize>,
    /// Requests that no tool serves.
    pub unserved: Vec<String>,
}

/// How the tools become documents.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Id, title and description.
    Head,
    /// As a registry stores them: the body repeats title and description.
    Markdown,
    /// The same with the longer description.
    Body,
}

/// What the ranking made of one request.
pub struct Outcome {
    /// The fold of its tool.
    pub fold: usize,
    /// What is known about the best match.
    pub evidence: Evidence,
    /// Whether the best match is good enough, as shipped.
    pub is_relevant: bool,
    /// The place of the right tool, from 0.
    pub place: Option<usize>,
    /// By place: the score.
    pub scores: Vec<f32>,
}

impl Outcome {
    /// Whether the best match is the right one.
    pub fn is_right(&self) -> bool {
        self.place == Some(0)
    }

    fn new(ranking: &Ranking, right: usize, fold: usize) -> Self {
        let tools = ranking.matches.iter().map(|found| number(&found.id));
        Self {
            fold,
            evidence: ranking.evidence,
            is_relevant: ranking.is_relevant,
            place: tools.into_iter().position(|tool| tool == right),
            scores: ranking.matches.iter().map(|found| found.score).collect(),
        }
    }
}

impl Data {
    /// Reads `tools.jsonl` and `queries.jsonl` of a directory, and the file of unserved requests.
    pub fn read(folder: &Path, unserved: Option<&str>) -> Self {
        let tools: Vec<Tool> = lines(&folder.join("tools.jsonl"));
        let queries: Vec<Query> = lines(&folder.join("queries.jsonl"));
        let numbers = tools.iter().enumerate();
        let numbers: HashMap<&str, usize> = numbers.map(|(n, tool)| (&*tool.name, n)).collect();
        let right = queries.iter().map(|query| numbers[&*query.tool]).collect();
        let unserved = unserved.map_or_else(Vec::new, |path| {
            let text = fs::read_to_string(path).unwrap();
            text.lines().map(str::to_owned).collect()
        });
        Self {
            tools,
            queries,
            right,
            unserved,
        }
    }

    /// How many requests there are.
    pub fn len(&self) -> usize {
        self.queries.len()
    }

    /// The index of all tools.
    pub fn index(&self, form: Form) -> Index {
        let mut index = Index::default();
        for tool in 0..self.tools.len() {
            self.insert(&mut index, tool, form);
        }
        index
    }

    fn insert(&self, index: &mut Index, number: usize, form: Form) {
        let Tool {
            name,
            description,
            body,
        } = &self.tools[number];
        let more = body.as_deref().unwrap_or_default();
        let body = match form {
            Form::Head => String::new(),
            Form::Markdown => format!("# {name}\n\n{description}\n"),
            Form::Body => format!("# {name}\n\n{description}\n\n{more}\n"),
        };
        index.insert(&Document {
            id: &self.id(number),
            title: name,
            description,
            body: &body,
            ..Document::default()
        });
    }

    fn id(&self, number: usize) -> String {
        let lower = |c: char| match c {
            'a'..='z' | '0'..='9' => c,
            'A'..='Z' => c.to_ascii_lowercase(),
            _ => '-',
        };
        let slug: String = self.tools[number].name.chars().map(lower).collect();
        format!("{slug}/t{number}")
    }

    /// What the ranking makes of every request.
    pub fn run(&self, index: &Index) -> Vec<Outcome> {
        let outcome = |(query, right): (&Query, &usize)| {
            let mut request = Request::new(&query.text);
            request.limit = self.tools.len();
            Outcome::new(&index.rank(&request), *right, right % FOLDS)
        };
        self.queries.iter().zip(&self.right).map(outcome).collect()
    }

    /// What the ranking makes of requests that no tool serves.
    pub fn run_unserved(&self, index: &Index) -> Vec<Outcome> {
        let outcome = |(number, text): (usize, &String)| {
            let ranking = index.rank(&Request::new(text));
            Outcome::new(&ranking, usize::MAX, number % FOLDS)
        };
        self.unserved.iter().enumerate().map(outcome).collect()
    }

    /// What the ranking makes of each fifth request of a tool when the tool is removed, with the
    /// `others` that are most like it.
    pub fn run_removed(&self, form: Form, others: usize) -> Vec<Outcome> {
        let mut index = self.index(form);
        let mut outcomes = Vec::new();
        for tool in 0..self.tools.len() {
            let Tool {
                name, description, ..
            } = &self.tools[tool];
            let text = format!("{name}. {description}");
            let mut request = Request::new(&text);
            request.limit = others + 1;
            let alike = index.rank(&request).matches;
            let alike = alike.iter().map(|found| number(&found.id));
            let mut removed: Vec<usize> = alike.filter(|&found| found != tool).collect();
            removed.truncate(others);
            removed.push(tool);
            for &tool in &removed {
                index.remove(0, &self.id(tool));
            }
            let own = self.queries.iter().zip(&self.right);
            let own = own.filter(|(_, right)| **right == tool).step_by(5);
            outcomes.extend(own.map(|(query, _)| {
                let ranking = index.rank(&Request::new(&query.text));
                Outcome::new(&ranking, usize::MAX, tool % FOLDS)
            }));
            for &tool in &removed {
                self.insert(&mut index, tool, form);
            }
        }
        outcomes
    }
}

fn lines<T: DeserializeOwned>(path: &Path) -> Vec<T> {
    let text = fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// The number of the tool with an id.
fn number(id: &str) -> usize {
    id.rsplit_once("/t").unwrap().1.parse().unwrap()
}
