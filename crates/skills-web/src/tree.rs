//! The folders of skills, made once per change of the registry.

use std::collections::{BTreeMap, HashMap};
use std::ops::Bound;
use std::sync::{Arc, Mutex, PoisonError};

use skills_core::{Error, SkillCard, SkillId, nearest};

use crate::Web;

/// How many entries of a folder are on a page.
pub const PAGE: usize = 100;
/// How many ids are suggested for an unknown one.
const SUGGESTIONS: usize = 5;

/// Every skill by its folder.
#[derive(Debug, Default)]
pub struct Tree {
    cards: Vec<SkillCard>,
    /// By the id of the folder with a slash at its end; the root is empty.
    folders: HashMap<String, BTreeMap<String, Child>>,
}

/// An entry of a folder: a skill, a folder, or both.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Child {
    card: Option<usize>,
    /// How many skills are below it.
    pub below: usize,
}

/// Some entries of a folder.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Entries<'a> {
    /// Name and entry, by name.
    pub children: Vec<(&'a str, Child)>,
    /// Whether there are entries before these.
    pub is_later_page: bool,
    /// The name after which the next page begins.
    pub next: Option<&'a str>,
}

impl Tree {
    fn new(cards: Vec<SkillCard>) -> Self {
        let mut folders: HashMap<String, BTreeMap<String, Child>> = HashMap::new();
        folders.entry(String::new()).or_default();
        for (at, card) in cards.iter().enumerate() {
            let id = card.id.as_str();
            let mut start = 0;
            loop {
                let end = id[start..].find('/').map(|slash| start + slash);
                let name = &id[start..end.unwrap_or(id.len())];
                let folder = folders.entry(id[..start].to_owned()).or_default();
                let child = folder.entry(name.to_owned()).or_default();
                let Some(end) = end else {
                    child.card = Some(at);
                    break;
                };
                child.below += 1;
                start = end + 1;
            }
        }
        Self { cards, folders }
    }

    /// How many skills there are.
    pub fn len(&self) -> usize {
        self.cards.len()
    }

    /// The skill of an entry.
    pub fn card(&self, child: Child) -> Option<&SkillCard> {
        self.cards.get(child.card?)
    }

    /// The skill with an id.
    pub fn find(&self, id: &str) -> Option<&SkillCard> {
        let found = self.cards.binary_search_by(|card| card.id.as_str().cmp(id));
        found.ok().map(|at| &self.cards[at])
    }

    /// Whether there is a skill below this folder, whose name ends in a slash.
    pub fn has_folder(&self, folder: &str) -> bool {
        self.folders.contains_key(folder)
    }

    /// How many skills are below a folder.
    pub fn below(&self, folder: &str) -> usize {
        let children = self
            .folders
            .get(folder)
            .into_iter()
            .flat_map(BTreeMap::values);
        children
            .map(|child| child.below + usize::from(child.card.is_some()))
            .sum()
    }

    /// One page of a folder: the entries after a name, or the page that has `shown`.
    pub fn entries(&self, folder: &str, after: Option<&str>, shown: Option<&str>) -> Entries<'_> {
        let Some(all) = self.folders.get(folder) else {
            return Entries::default();
        };
        let first = match (after, shown) {
            (Some(after), _) => (Bound::Excluded(after), Bound::Unbounded),
            (None, Some(shown)) => {
                let before = all.range::<str, _>((Bound::Unbounded, Bound::Excluded(shown)));
                let whole_pages = before.count() / PAGE * PAGE;
                let start = all.keys().nth(whole_pages);
                let start = start.map_or(Bound::Unbounded, |name| Bound::Included(name.as_str()));
                (start, Bound::Unbounded)
            }
            (None, None) => (Bound::Unbounded, Bound::Unbounded),
        };
        let mut rest = all.range::<str, _>(first);
        let children: Vec<(&str, Child)> = rest
            .by_ref()
            .take(PAGE)
            .map(|(name, child)| (name.as_str(), *child))
            .collect();
        let last = children.last().map(|(name, _)| *name);
        let first_name = all.keys().next().map(String::as_str);
        Entries {
            is_later_page: children.first().map(|(name, _)| *name) != first_name,
            next: last.filter(|_| rest.next().is_some()),
            children,
        }
    }

    /// The ids that are nearest to an unknown one, nearest first.
    pub fn nearest(&self, asked: &str) -> Vec<String> {
        let mut found: Vec<String> = Vec::new();
        while found.len() < SUGGESTIONS {
            let others = self.cards.iter().map(|card| card.id.as_str());
            let others = others.filter(|id| !found.iter().any(|known| known == id));
            let Some(id) = nearest(asked, others) else {
                break;
            };
            found.push(id.to_owned());
        }
        found
    }

    /// Whether a link to this skill leads anywhere.
    pub fn has(&self, id: &SkillId) -> bool {
        self.find(id.as_str()).is_some()
    }
}

/// The tree of the last change.
#[derive(Default)]
pub struct TreeCache(Mutex<Option<(u64, Arc<Tree>)>>);

impl Web {
    /// The tree as it is now. An outage is an error, although an older tree is at hand.
    pub async fn tree(&self) -> Result<Arc<Tree>, Error> {
        self.registry().registered_skill_counts().await?;
        let changes = self.changes();
        let kept = |cache: &TreeCache| {
            let kept = cache.0.lock().unwrap_or_else(PoisonError::into_inner);
            let kept = kept.as_ref().filter(|(of, _)| *of == changes);
            kept.map(|(_, tree)| Arc::clone(tree))
        };
        if let Some(tree) = kept(&self.tree) {
            return Ok(tree);
        }
        let tree = Arc::new(Tree::new(self.registry().cards().await?));
        let mut cache = self.tree.0.lock().unwrap_or_else(PoisonError::into_inner);
        *cache = Some((changes, Arc::clone(&tree)));
        Ok(tree)
    }
}

#[cfg(test)]
mod tests {
    use skills_core::{Origin, Visibility};

    use super::*;

    fn tree(ids: impl IntoIterator<Item = String>) -> Tree {
        let card = |id: String| SkillCard {
            id: id.parse().unwrap(),
            title: "T".into(),
            description: None,
            bytes: 1,
            modified: "".into(),
            origin: Origin::State,
            files: None,
            visibility: Visibility::Auto,
            lease: None,
            hides: Vec::new(),
        };
        let mut cards: Vec<_> = ids.into_iter().map(card).collect();
        cards.sort_by(|a, b| a.id.cmp(&b.id));
        Tree::new(cards)
    }

    fn names<'a>(entries: &Entries<'a>) -> Vec<&'a str> {
        entries.children.iter().map(|(name, _)| *name).collect()
    }

    #[test]
    fn an_entry_may_be_a_skill_and_a_folder() {
        let tree = tree(["a", "a-b", "a/x", "a/y/z", "b/c"].map(str::to_owned));
        let root = tree.entries("", None, None);
        assert_eq!(names(&root), ["a", "a-b", "b"]);
        let below: Vec<_> = root.children.iter().map(|(_, child)| child.below).collect();
        assert_eq!(below, [2, 0, 1]);
        let cards: Vec<_> = root
            .children
            .iter()
            .map(|(_, child)| tree.card(*child))
            .collect();
        assert_eq!(cards[0].unwrap().id.as_str(), "a");
        assert!(cards[2].is_none());
        assert_eq!(names(&tree.entries("a/", None, None)), ["x", "y"]);
        assert_eq!((tree.below("a/"), tree.below(""), tree.len()), (2, 5, 5));
        assert!(tree.has_folder("a/y/") && !tree.has_folder("a/x/"));
        assert_eq!(tree.entries("none/", None, None), Entries::default());
    }

    #[test]
    fn long_folders_have_pages() {
        let tree = tree((0..250).map(|n| format!("s{n:03}")));
        let first = tree.entries("", None, None);
        assert_eq!((first.children.len(), first.next), (PAGE, Some("s099")));
        assert!(!first.is_later_page);
        let second = tree.entries("", first.next, None);
        assert_eq!((names(&second)[0], second.next), ("s100", Some("s199")));
        let last = tree.entries("", second.next, None);
        assert_eq!((last.children.len(), last.next), (50, None));
        assert!(last.is_later_page);
        assert_eq!(tree.entries("", None, Some("s120")), second);
    }

    #[test]
    fn the_nearest_ids_come_in_order() {
        let tree = tree(["resend", "resend/email", "brain"].map(str::to_owned));
        assert_eq!(tree.nearest("resnd"), ["resend"]);
        assert_eq!(tree.nearest("email"), ["resend/email"]);
        assert!(tree.nearest("zzzzzz").is_empty());
    }
}
