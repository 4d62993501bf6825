//! Checking names, bodies and arguments without a registry.

#![expect(
    clippy::needless_pass_by_value,
    reason = "cucumber hands steps owned strings"
)]

use cucumber::gherkin::Step;
use cucumber::{then, when};
use skills_core::{
    Error, FunctionId, PromptArgument, PromptName, SkillId, check_arguments, check_body,
    check_description,
};

use crate::world::World;
use crate::world::values::{column, id_of, visible_to_raw};

fn check_id(world: &mut World, id: &str) {
    world.verdict = Some(id.parse::<SkillId>().map(drop));
}

fn check_name(world: &mut World, name: &str) {
    world.verdict = Some(name.parse::<PromptName>().map(drop));
}

#[when(expr = "I check the id {string}")]
fn skill_id(world: &mut World, id: String) {
    check_id(world, &visible_to_raw(&id));
}

#[when(expr = "I check an id of {int} {string}s")]
fn id_of_letters(world: &mut World, count: usize, letter: String) {
    check_id(world, &letter.repeat(count));
}

#[when(expr = "I check an id whose last segment is {int} {string}s")]
fn id_with_long_segment(world: &mut World, count: usize, letter: String) {
    check_id(world, &format!("docs/{}", letter.repeat(count)));
}

#[when(expr = "I check an id of {int} bytes in short segments")]
fn id_of_bytes(world: &mut World, bytes: usize) {
    check_id(world, &id_of(bytes));
}

#[when(expr = "I check the prompt name {string}")]
fn prompt_name(world: &mut World, name: String) {
    check_name(world, &visible_to_raw(&name));
}

#[when(expr = "I check a prompt name of {int} {string}s")]
fn name_of_letters(world: &mut World, count: usize, letter: String) {
    check_name(world, &letter.repeat(count));
}

#[when(expr = "I check the body {string}")]
fn any_body(world: &mut World, body: String) {
    world.verdict = Some(check_body(&visible_to_raw(&body)));
}

#[when(expr = "I check a body of {int} {string}s")]
fn body_of_letters(world: &mut World, count: usize, letter: String) {
    world.verdict = Some(check_body(&letter.repeat(count)));
}

#[when(expr = "I check a body of {int} {string}s and one {string}")]
fn body_with_end(world: &mut World, count: usize, letter: String, end: String) {
    world.verdict = Some(check_body(&(letter.repeat(count) + &end)));
}

#[when(expr = "I check the description {string}")]
fn any_description(world: &mut World, description: String) {
    world.verdict = Some(check_description(&visible_to_raw(&description)));
}

#[when(expr = "I check the function id {string}")]
fn function(world: &mut World, id: String) {
    world.verdict = Some(visible_to_raw(&id).parse::<FunctionId>().map(drop));
}

#[when("I check arguments with the names:")]
fn arguments(world: &mut World, step: &Step) {
    let argument = |name: String| PromptArgument {
        name: visible_to_raw(&name).into(),
        description: None,
        required: false,
    };
    let arguments: Vec<_> = column(step).into_iter().map(argument).collect();
    world.verdict = Some(check_arguments(&arguments));
}

#[then("it keeps the rules")]
fn good(world: &mut World) {
    if let Err(error) = verdict(world) {
        panic!("refused: {error}");
    }
}

#[then(expr = "it is refused: {string}")]
fn refused(world: &mut World, part: String) {
    let message = verdict(world)
        .as_ref()
        .expect_err("it keeps the rules")
        .to_text();
    assert!(message.contains(&part), "{message:?} does not say {part:?}");
}

#[then(expr = "the verdict is: {word}")]
fn verdict_is(world: &mut World, expected: String) {
    let verdict = verdict(world);
    let got = verdict
        .as_ref()
        .map_or_else(|e| e.kind().name(), |()| "fine");
    assert_eq!(got, expected, "{verdict:?}");
}

fn verdict(world: &World) -> &Result<(), Error> {
    world.verdict.as_ref().expect("nothing was checked yet")
}
