//! Parsing addresses.

#![expect(
    clippy::needless_pass_by_value,
    reason = "cucumber hands steps owned strings"
)]

use cucumber::{then, when};
use skills_core::{Error, ResourceUri};

use crate::world::World;
use crate::world::values::{id_of, visible_to_raw};

#[when(expr = "I parse {string}")]
fn parse(world: &mut World, uri: String) {
    world.address = Some(visible_to_raw(&uri).parse());
}

#[when(expr = "I parse the address of an id of {int} bytes")]
fn parse_long(world: &mut World, bytes: usize) {
    world.address = Some(format!("iii://{}", id_of(bytes)).parse());
}

#[when(expr = "I parse the address of a function path of {int} bytes")]
fn parse_long_function(world: &mut World, bytes: usize) {
    world.address = Some(format!("iii://fn/{}", id_of(bytes)).parse());
}

#[when(expr = "I parse the address of an id of {int} {string}s")]
fn parse_long_segment(world: &mut World, count: usize, letter: String) {
    world.address = Some(format!("iii://{}", letter.repeat(count)).parse());
}

#[when(expr = "I parse the address of a function path of {int} {string}s")]
fn parse_long_function_segment(world: &mut World, count: usize, letter: String) {
    world.address = Some(format!("iii://fn/{}", letter.repeat(count)).parse());
}

#[then("it means the index")]
fn index(world: &mut World) {
    assert_eq!(meaning(world), "the index");
}

#[then("it means a skill")]
fn some_skill(world: &mut World) {
    assert!(
        meaning(world).starts_with("the skill "),
        "it means {}",
        meaning(world)
    );
}

#[then("it means a call")]
fn some_call(world: &mut World) {
    assert!(
        meaning(world).starts_with("a call to "),
        "it means {}",
        meaning(world)
    );
}

#[then(regex = r"^it means (the skill \S+|a call to \S+|the (?:part|index) \S+)$")]
fn means(world: &mut World, expected: String) {
    assert_eq!(meaning(world), expected);
}

#[then(expr = "it is not an address, {word}: {string}")]
fn no_address(world: &mut World, kind: String, part: String) {
    let error = address(world).as_ref().expect_err("it is an address");
    let text = error.to_text();
    assert!(text.contains(&part), "{text:?} does not say {part:?}");
    assert_eq!(error.kind().name(), kind, "{text}");
}

#[then(expr = "it prints as {string}")]
fn prints(world: &mut World, expected: String) {
    let uri = address(world).as_ref().expect("an address");
    assert_eq!(uri.to_string(), expected);
}

fn address(world: &World) -> &Result<ResourceUri, Error> {
    world.address.as_ref().expect("nothing was parsed yet")
}

fn meaning(world: &World) -> String {
    match address(world) {
        Ok(ResourceUri::Index) => "the index".into(),
        Ok(ResourceUri::IndexPart(part)) => format!("the index {part}"),
        Ok(ResourceUri::Skill(id)) => format!("the skill {id}"),
        Ok(ResourceUri::Version(id, version)) => format!("version {version} of the skill {id}"),
        Ok(ResourceUri::SkillFrom(origin, id)) => format!("the skill {id} of {origin}"),
        Ok(ResourceUri::File(path)) => format!("the file {path}"),
        Ok(ResourceUri::Section(function)) => format!("a call to {function}"),
        Ok(part @ ResourceUri::Part { .. }) => format!("the part {part}"),
        Err(error) => panic!("no address: {}", error.to_text()),
    }
}
