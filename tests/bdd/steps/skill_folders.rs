//! Folders with a `SKILL.md` as skills.

#![expect(
    clippy::needless_pass_by_value,
    reason = "cucumber hands steps owned strings"
)]

use cucumber::{then, when};
use skills_core::{Content, Error, Kind, SkillFolder, Source as _};
use skills_files::{Folders, places};

use crate::world::World;
use crate::world::values::visible_to_raw;

#[when(expr = "the folder {string} is served")]
async fn folder_served(world: &mut World, folder: String) {
    serve(world, &[folder]).await;
}

#[when(expr = "the folders {string} and {string} are served")]
async fn folders_served(world: &mut World, first: String, second: String) {
    serve(world, &[first, second]).await;
}

async fn serve(world: &mut World, named: &[String]) {
    let named = named
        .iter()
        .map(|folder| world.files.path(folder))
        .collect();
    let folders = Folders {
        named,
        places: Vec::new(),
    };
    world.files.load_folders(&folders).await;
}

#[when(expr = "the skills of the project {string} and of the user {string} are discovered")]
async fn discovered(world: &mut World, project: String, home: String) {
    let (project, home) = (world.files.path(&project), world.files.path(&home));
    let folders = Folders {
        named: Vec::new(),
        places: places(&project, Some(&home)),
    };
    world.files.load_folders(&folders).await;
}

#[then(expr = "the skill {string} has the files {string}")]
fn has_files(world: &mut World, id: String, paths: String) {
    let folder = folder(world, &id);
    let files = folder.files.iter().map(|file| file.path.as_str());
    assert_eq!(files.collect::<Vec<_>>().join(", "), paths);
}

#[then(expr = "the skill {string} is an Agent Skill")]
fn accepted(world: &mut World, id: String) {
    assert_eq!(*folder(world, &id).rejections, [""; 0]);
}

#[then(expr = "the skill {string} is no Agent Skill because it {string}")]
fn rejected(world: &mut World, id: String, reason: String) {
    let rejections = &folder(world, &id).rejections;
    assert!(
        rejections.iter().any(|found| found.contains(&reason)),
        "{rejections:?}"
    );
}

#[then(expr = "the body of {string} is {string}")]
async fn body(world: &mut World, id: String, text: String) {
    let id = id.parse().expect("an id");
    let body = world.files.sources().skill(&id).await.expect("it is read");
    assert_eq!(body.as_deref(), Some(&*visible_to_raw(&text)));
}

#[then(expr = "the address {string} has {string}")]
async fn address_has(world: &mut World, uri: String, text: String) {
    let content = read(world, &uri).await;
    let found = content.text().expect("it is text");
    assert!(found.contains(&text), "{found}");
}

#[then(expr = "the address {string} is text of the type {string}")]
async fn is_text(world: &mut World, uri: String, mime: String) {
    let content = read(world, &uri).await;
    assert!(content.text().is_ok(), "{content:?}");
    assert_eq!(content.mime.as_str(), mime);
}

#[then(expr = "the address {string} is a blob of the type {string}")]
async fn is_blob(world: &mut World, uri: String, mime: String) {
    let content = read(world, &uri).await;
    assert!(content.text().is_err(), "{content:?}");
    assert_eq!(content.mime.as_str(), mime);
}

async fn read(world: &World, uri: &str) -> Content {
    let uri = uri.parse().expect("an address");
    world.files.registry().read(&uri).await.expect("it is read")
}

#[then(expr = "the address {string} is not found: {string}")]
async fn not_found(world: &mut World, uri: String, text: String) {
    let uri = uri.parse().expect("an address");
    let read = world.files.registry().read(&uri).await;
    let error: Error = read.expect_err("there is no such file");
    assert_eq!(error.kind(), Kind::NotFound);
    assert!(error.to_text().contains(&text), "{}", error.to_text());
}

#[then(expr = "{string} resolves to {string}")]
async fn resolves(world: &mut World, id: String, ids: String) {
    let id = id.parse().expect("an id");
    let resolved = world.files.registry().resolve(&id).await;
    let skills = resolved.expect("it is read").skills;
    let found: Vec<&str> = skills.iter().map(|skill| &*skill.id).collect();
    assert_eq!(found.join(", "), ids);
}

#[then(expr = "the link {string} is dead: {string}")]
async fn dead(world: &mut World, uri: String, reason: String) {
    let id = "pdf".parse().expect("an id");
    let resolved = world.files.registry().resolve(&id).await;
    let missing = resolved.expect("it is read").missing;
    let found: Vec<_> = missing
        .iter()
        .map(|link| (&*link.uri, &*link.reason))
        .collect();
    assert_eq!(found, [(&*uri, &*reason)]);
}

#[when(expr = "the skill {string} is registered as well")]
async fn registered(world: &mut World, id: String) {
    register(world, &id, "# Registered").await;
}

#[when(expr = "the skill {string} is registered as well, with {string}")]
async fn registered_with(world: &mut World, id: String, text: String) {
    register(world, &id, &visible_to_raw(&text)).await;
}

#[then(expr = "there is a warning about the registered skill {string} that says {string}")]
async fn warned_of_registered(world: &mut World, id: String, words: String) {
    let findings = world.files.registry().registered_findings().await;
    let warnings = findings.expect("they are listed").warnings;
    let mut of_skill = warnings.iter().filter(|found| found.place.ends_with(&id));
    assert!(
        of_skill.any(|found| found.reason.contains(&words)),
        "{warnings:?}"
    );
}

async fn register(world: &World, id: &str, body: &str) {
    let id = id.parse().expect("an id");
    let registry = world.files.registry();
    let body = body.to_owned();
    registry
        .register_skill(id, body)
        .await
        .expect("it is registered");
}

#[track_caller]
fn folder<'a>(world: &'a World, id: &str) -> &'a SkillFolder {
    let mut skills = world.files.report.skills.iter();
    let skill = skills.find(|skill| skill.name == id);
    let folder = skill.and_then(|skill| skill.folder.as_deref());
    folder.expect("a folder with this id")
}
