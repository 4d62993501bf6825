//! Title and description of a document.

#![expect(
    clippy::needless_pass_by_value,
    reason = "cucumber hands steps owned strings"
)]

use cucumber::gherkin::Step;
use cucumber::{given, then};
use skills_core::{DESCRIPTION_MAX, Head};

use crate::world::World;
use crate::world::values::{block, visible_to_raw};

#[given("the document:")]
fn document(world: &mut World, step: &Step) {
    world.head = Some(Head::of(&block(step)));
}

#[given(expr = "the document {string}")]
fn short_document(world: &mut World, text: String) {
    world.head = Some(Head::of(&visible_to_raw(&text)));
}

#[given(expr = "a document titled {string} whose first paragraph is {int} {string}s")]
fn long_paragraph(world: &mut World, title: String, count: usize, letter: String) {
    world.head = Some(Head::of(&format!("# {title}\n\n{}", letter.repeat(count))));
}

#[given(expr = "a document of {int} {string}s")]
fn repeated(world: &mut World, count: usize, text: String) {
    world.head = Some(Head::of(&visible_to_raw(&text).repeat(count)));
}

#[given(expr = "a document with {int} list items before the title {string}")]
fn late_title(world: &mut World, count: usize, title: String) {
    let items = "- an item\n".repeat(count);
    world.head = Some(Head::of(&format!("{items}\n# {title}\n")));
}

#[then(expr = "its title is {string}")]
fn title(world: &mut World, expected: String) {
    assert_eq!(head(world).title.as_deref(), Some(&*expected));
}

#[then("it has no title")]
fn no_title(world: &mut World) {
    assert_eq!(head(world).title, None);
}

#[then(expr = "its description is {string}")]
fn description(world: &mut World, expected: String) {
    assert_eq!(head(world).description.as_deref(), Some(&*expected));
}

#[then(expr = "its description is {int} {string}s")]
fn whole(world: &mut World, count: usize, letter: String) {
    assert_eq!(
        head(world).description.as_deref(),
        Some(&*letter.repeat(count))
    );
}

#[then(expr = "its description is {int} {string}s and {string}")]
fn cut(world: &mut World, count: usize, letter: String, end: String) {
    assert_eq!(
        head(world).description.as_deref(),
        Some(&*(letter.repeat(count) + &end))
    );
}

#[then("it has no description")]
fn no_description(world: &mut World) {
    assert_eq!(head(world).description, None);
}

#[then("its description is short and on one line")]
fn tame(world: &mut World) {
    let description = head(world).description.as_deref().unwrap_or_default();
    let length = description.chars().count();
    assert!(
        length <= DESCRIPTION_MAX + "...".len(),
        "{length} characters"
    );
    assert!(!description.contains(char::is_control), "{description:?}");
}

fn head(world: &World) -> &Head {
    world.head.as_ref().expect("there is no document yet")
}
