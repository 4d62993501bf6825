//! A list in tree order as markdown: every line is an item below its parent.
//!
//! A parent that has no line, because there is no such skill or because it is folded, is a plain
//! item. Without it, the lines below would be items of another parent, or a code block.

use super::lines::Line;

/// A list that is written line by line, parents first.
pub(super) struct Tree<'a> {
    pub(super) text: String,
    /// The path of the last item: it and all its parents have items.
    last: &'a str,
    /// The depth of the paths that are not indented.
    top: usize,
}

impl<'a> Tree<'a> {
    pub(super) const fn new(top: usize) -> Self {
        Self {
            text: String::new(),
            last: "",
            top,
        }
    }

    pub(super) fn push(&mut self, line: &Line<'a>) {
        let path = line.id.as_str();
        self.push_parents(path);
        self.text.push_str(line.text);
        self.last = path;
    }

    /// Adds the item of a subtree, below the item of its path if there is one, else in its place.
    pub(super) fn push_subtree(&mut self, path: &'a str, item: &str) {
        self.push_parents(path);
        let depth = path.matches('/').count() + usize::from(self.last == path);
        push_item(&mut self.text, depth - self.top, item);
        self.last = path;
    }

    fn push_parents(&mut self, path: &'a str) {
        for (depth, parent) in missing_parents(self.last, path, self.top) {
            push_item(&mut self.text, depth - self.top, &parent_item(parent));
        }
    }
}

/// The list of all lines, if it has at most `room` bytes.
pub(super) fn within(lines: &[Line<'_>], top: usize, room: usize) -> Option<String> {
    let mut tree = Tree::new(top);
    for line in lines {
        tree.push(line);
        if tree.text.len() > room {
            return None;
        }
    }
    Some(tree.text)
}

/// The parents of a path, from depth `top` on, that have no item if `last` and its parents have
/// one: their depths and their paths.
pub(super) fn missing_parents<'p>(
    last: &str,
    path: &'p str,
    top: usize,
) -> impl Iterator<Item = (usize, &'p str)> + use<'p> {
    let shared = shared_bytes(last, path);
    let is_parent = last.len() == shared;
    let has_item = move |end: usize| end < shared || (end == shared && is_parent);
    // Nearly always the nearest parent has an item, and then all of them have.
    let nearest = path.rfind('/').filter(|end| !has_item(*end));
    let parents = nearest.map_or("", |end| &path[..=end]);
    let slashes = parents.match_indices('/').map(|(end, _)| end);
    let missing = slashes.enumerate().skip(top);
    missing
        .filter(move |(_, end)| !has_item(*end))
        .map(move |(depth, end)| (depth, &path[..end]))
}

/// The bytes of the item of a parent without a line.
pub(super) fn parent_bytes(path: &str, indent: usize) -> usize {
    item_bytes(indent, parent_item(path).len())
}

/// The bytes of an item.
pub(super) const fn item_bytes(indent: usize, item: usize) -> usize {
    2 * indent + "- \n".len() + item
}

fn parent_item(path: &str) -> String {
    format!("`{path}/`")
}

fn push_item(out: &mut String, indent: usize, item: &str) {
    for _ in 0..indent {
        out.push_str("  ");
    }
    out.extend(["- ", item, "\n"]);
}

/// How many bytes two paths share at their beginning.
pub(super) fn shared_bytes(a: &str, b: &str) -> usize {
    a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count()
}

#[cfg(test)]
mod tests {
    use super::missing_parents;

    #[test]
    fn parents_without_an_item() {
        #[track_caller]
        fn check(last: &str, path: &str, expected: &[(usize, &str)]) {
            let got: Vec<_> = missing_parents(last, path, 0).collect();
            assert_eq!(got, expected, "{path} after {last}");
        }
        check("", "a", &[]);
        check("a", "b", &[]);
        check("a", "a/b", &[]);
        check("a/b", "a/c", &[]);
        check("", "a/b/c", &[(0, "a"), (1, "a/b")]);
        check("a", "a/b/c", &[(1, "a/b")]);
        check("a/b", "a/bc/d", &[(1, "a/bc")]);
        check("a/bc", "a/b/d", &[(1, "a/b")]);
        check("a/b/c", "a/b/d/e", &[(2, "a/b/d")]);
        check("a", "ab/c", &[(0, "ab")]);
        assert_eq!(missing_parents("", "a/b/c", 1).count(), 1);
    }
}
