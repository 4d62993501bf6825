//! Rendering the index from titles and descriptions.

#![expect(
    clippy::needless_pass_by_value,
    reason = "cucumber hands steps owned strings"
)]

use cucumber::gherkin::Step;
use cucumber::{given, then, when};
use skills_core::index::{Entry, Index, Lines};
use skills_core::{Head, IndexPart, ResourceUri, SkillId, Visibility};

use crate::world::World;
use crate::world::values::{block, table};

/// The first lines of every index.
const OPENING: &str = "# Skills\n\n";

fn entries(step: &Step) -> Vec<(SkillId, Head)> {
    let entry = |[id, body]: [String; 2]| (id.parse().expect("a valid id"), Head::of(&body));
    table(step, ["id", "body"]).into_iter().map(entry).collect()
}

#[given("registered skills:")]
fn registered(world: &mut World, step: &Step) {
    world.registered = entries(step);
}

#[given("skill files:")]
fn files(world: &mut World, step: &Step) {
    world.custom = entries(step);
}

#[given(expr = "a registered skill {string} whose first paragraph is {int} {string}s")]
fn long(world: &mut World, id: String, count: usize, letter: String) {
    let head = Head::of(&format!("# Long\n\n{}", letter.repeat(count)));
    world
        .registered
        .push((id.parse().expect("a valid id"), head));
}

#[given(expr = "{int} registered skills, `s00` and so on")]
fn numbered(world: &mut World, count: usize) {
    let entry = |number| {
        (
            format!("s{number:02}").parse().expect("a valid id"),
            Head::default(),
        )
    };
    world.registered = (0..count).map(entry).collect();
}

#[when("the index is rendered")]
fn render(world: &mut World) {
    render_within(world, 32_768);
}

#[when(expr = "the index is rendered within {int} bytes")]
fn render_within(world: &mut World, bytes: usize) {
    render_part(world, IndexPart::default(), bytes);
}

#[when(expr = "{string} is rendered within {int} bytes")]
fn render_address(world: &mut World, address: String, bytes: usize) {
    let Ok(ResourceUri::IndexPart(part)) = address.parse() else {
        panic!("`{address}` is not a part of the index");
    };
    render_part(world, part, bytes);
}

fn render_part(world: &mut World, part: IndexPart, bytes: usize) {
    let lines = |list: &[(SkillId, Head)]| {
        let entry = |(id, head)| Entry {
            id,
            head,
            visibility: Visibility::Auto,
            hides: &[],
            stale: false,
        };
        Lines::new(list.iter().map(|(id, head)| (id, head)).map(entry))
    };
    let index = Index {
        registered: &lines(&world.registered),
        custom: &lines(&world.custom),
        max_bytes: bytes,
    };
    let rendered = index.render(&part, bytes).expect("skills at this address");
    assert!(rendered.text.len() <= bytes, "{}", rendered.text);
    world.index = Some(rendered.text.into());
}

#[then("after its introduction it reads:")]
fn reads(world: &mut World, step: &Step) {
    let index = world.index.as_deref().expect("no index was rendered yet");
    assert_eq!(
        after_opening(index),
        block(step),
        "the index is:\n{index}\n"
    );
}

#[then(expr = "its line about {string} ends with {int} {string}s and {string}")]
fn line_ends(world: &mut World, id: String, count: usize, letter: String, end: String) {
    let index = world.index.as_deref().expect("no index was rendered yet");
    let line = index
        .lines()
        .find(|line| line.contains(&format!("[`{id}`]")));
    let line = line.unwrap_or_else(|| panic!("no line about `{id}`:\n{index}"));
    let expected = format!(" \u{2014} {}{end}", letter.repeat(count));
    assert!(
        line.ends_with(&expected),
        "{line:?} does not end with {expected:?}"
    );
}

/// The index after its introduction.
#[track_caller]
pub fn after_opening(index: &str) -> &str {
    let words = index
        .strip_prefix(OPENING)
        .expect("an index opens with `# Skills`");
    let (words, rest) = words
        .split_once("\n\n")
        .expect("an empty line ends the introduction");
    let sentences = words.split_terminator(". ").count();
    assert!(
        !words.trim().is_empty() && sentences <= 2,
        "the opening words are {words:?}"
    );
    rest.strip_suffix('\n')
        .expect("an index ends with a line break")
}
