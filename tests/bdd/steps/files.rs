//! Markdown files as skills and prompts.

#![expect(
    clippy::needless_pass_by_value,
    reason = "cucumber hands steps owned strings"
)]

use std::fs::{self, File};
#[cfg(unix)]
use std::os::unix::fs::symlink;
#[cfg(windows)]
use std::os::windows::fs::symlink_file as symlink;

use cucumber::gherkin::Step;
use cucumber::{given, then, when};
use serde_json::value::to_raw_value;
use serde_json::{Map, Value};
use skills_core::{Error, Kind, RenderedPrompt, Source as _};
use skills_files::LoadedFile;

use crate::world::World;
use crate::world::values::{block, visible_to_raw};

#[given(expr = "the file {string} holds {string}")]
#[when(expr = "the file {string} is changed to {string}")]
fn short_file(world: &mut World, path: String, text: String) {
    world.files.write(&path, &visible_to_raw(&text));
}

#[given(expr = "the file {string} holds a byte order mark and {string}")]
fn marked_file(world: &mut World, path: String, text: String) {
    let text = format!("\u{feff}{}", visible_to_raw(&text));
    world.files.write(&path, &text);
}

#[given(expr = "the file {string} has a description of {int} characters")]
fn described_file(world: &mut World, path: String, length: usize) {
    let description = "x".repeat(length);
    let text = format!("---\nname: pdf\ndescription: {description}\n---\n# T\n");
    world.files.write(&path, &text);
}

#[given(expr = "the file {string} has {int} bytes")]
fn large_file(world: &mut World, path: String, bytes: u64) {
    let file = File::create(world.files.path(&path)).expect("it is created");
    file.set_len(bytes).expect("it grows");
}

#[given(expr = "the file {string} has {int} bytes that are not UTF-8")]
fn binary_file(world: &mut World, path: String, bytes: usize) {
    let written = fs::write(world.files.path(&path), vec![0xff; bytes]);
    written.expect("it is written");
}

#[given(expr = "the folder {string} has {int} files")]
fn many_files(world: &mut World, folder: String, count: usize) {
    for n in 0..count {
        world.files.write(&format!("{folder}/{n}"), "x");
    }
}

#[given(expr = "the file {string} is a link to {string}")]
fn link(world: &mut World, path: String, target: String) {
    let (path, target) = (world.files.path(&path), world.files.path(&target));
    symlink(target, path).expect("it is created");
}

#[given(expr = "the file {string} holds:")]
fn file(world: &mut World, path: String, step: &Step) {
    world.files.write(&path, &block(step));
}

#[when(expr = "the skills are {string}")]
async fn skills(world: &mut World, pattern: String) {
    world.files.load(&[pattern], &[]).await;
}

#[when(expr = "the skills are {string} and {string}")]
async fn skills_of_two(world: &mut World, first: String, second: String) {
    world.files.load(&[first, second], &[]).await;
}

#[when(expr = "the prompts are {string}")]
async fn prompts(world: &mut World, pattern: String) {
    world.files.load(&[], &[pattern]).await;
}

#[then(expr = "the skill {string} comes from {string}")]
fn skill_from(world: &mut World, id: String, path: String) {
    let path = world.files.path(&path);
    assert_eq!(named(&world.files.report.skills, &id).path, path);
}

#[then(expr = "the prompt {string} comes from {string}")]
fn prompt_from(world: &mut World, name: String, path: String) {
    let path = world.files.path(&path);
    assert_eq!(named(&world.files.report.prompts, &name).path, path);
}

#[then(expr = "there is {int} skill")]
fn how_many(world: &mut World, count: usize) {
    assert_eq!(world.files.report.skills.len(), count);
}

#[then(expr = "the skill {string} reads {string}")]
async fn reads(world: &mut World, id: String, text: String) {
    let id = id.parse().expect("an id");
    let body = world.files.sources().skill(&id).await.expect("it is read");
    assert_eq!(body.as_deref(), Some(&*text));
}

#[then(expr = "the prompt {string} says {string}")]
async fn says(world: &mut World, name: String, text: String) {
    let name = name.parse().expect("a name");
    let prompt = world
        .files
        .sources()
        .prompt(&name, &Map::new())
        .await
        .expect("it is read");
    assert_eq!(&*prompt.expect("it is there").text, text);
}

#[then(expr = "the prompt {string} takes:")]
async fn takes(world: &mut World, name: String, step: &Step) {
    let menu = world.files.registry().prompt_menu().await;
    let menu = menu.expect("it is listed");
    let prompt = menu.iter().find(|prompt| prompt.name.as_str() == name);
    let arguments = &prompt.expect("it is there").arguments;
    let shown: Vec<_> = arguments
        .iter()
        .map(|argument| {
            let required = if argument.required { "yes" } else { "no" };
            let description = argument.description.as_deref().unwrap_or_default();
            [&argument.name, required, description]
                .map(str::to_owned)
                .to_vec()
        })
        .collect();
    let table = step.table.as_ref().expect("a table");
    assert_eq!(shown, table.rows[1..]);
}

#[then(expr = "the prompt {string} with {string} says {string}")]
async fn renders(world: &mut World, name: String, arguments: String, text: String) {
    let rendered = render(world, &name, &arguments).await;
    let message = &rendered.expect("it is rendered").messages[0];
    let message: Value = serde_json::from_str(message.get()).expect("JSON");
    assert_eq!(message["content"]["text"], text);
}

#[then(expr = "the prompt {string} with {string} fails: {string}")]
async fn fails(world: &mut World, name: String, arguments: String, message: String) {
    let error = render(world, &name, &arguments)
        .await
        .expect_err("it fails");
    assert_eq!(error.kind(), Kind::Invalid);
    assert_eq!(error.to_text(), message);
}

/// Renders with arguments such as `to=Ada cc=Bo`.
async fn render(world: &World, name: &str, arguments: &str) -> Result<RenderedPrompt, Error> {
    let pairs = arguments.split(' ').filter_map(|pair| pair.split_once('='));
    let arguments: Map<String, Value> = pairs
        .map(|(name, value)| (name.to_owned(), value.into()))
        .collect();
    let arguments = to_raw_value(&arguments).expect("JSON");
    let name = name.parse().expect("a name");
    let registry = world.files.registry();
    registry.render_prompt(&name, Some(arguments)).await
}

#[then(expr = "there is a warning about {string} that says {string}")]
fn warned(world: &mut World, path: String, words: String) {
    let path = world.files.path(&path);
    let report = &world.files.report;
    let mut files = report.skills.iter().chain(&report.prompts);
    let warnings = files
        .find(|file| file.path == path)
        .map(|file| &file.warnings);
    let says = warnings.is_some_and(|all| all.iter().any(|one| one.contains(&words)));
    assert!(says, "{warnings:?}");
}

#[then("there is no warning")]
fn not_warned(world: &mut World) {
    let skills = world.files.report.skills.iter();
    let warnings: Vec<_> = skills.flat_map(|file| &file.warnings).collect();
    assert!(warnings.is_empty(), "{warnings:?}");
}

#[then("nothing is skipped")]
fn nothing_skipped(world: &mut World) {
    assert_eq!(world.files.report.skipped, []);
}

#[then(expr = "{int} reports say what is skipped")]
fn skipped_count(world: &mut World, count: usize) {
    let skipped = &world.files.report.skipped;
    assert_eq!(skipped.len(), count, "{skipped:?}");
}

#[then(expr = "{string} is skipped because it {string}")]
fn skipped(world: &mut World, path: String, reason: String) {
    let place = world.files.path(&path).display().to_string();
    reported(world, &place, &reason);
}

#[then(expr = "the pattern {string} is reported because it {string}")]
fn pattern_reported(world: &mut World, pattern: String, reason: String) {
    reported(world, &format!("pattern `{pattern}`"), &reason);
}

#[track_caller]
fn reported(world: &World, place: &str, reason: &str) {
    let skipped = &world.files.report.skipped;
    let found = skipped.iter().find(|skipped| skipped.place == place);
    assert!(
        found.is_some_and(|skipped| skipped.reason.contains(reason)),
        "{skipped:?}"
    );
}

#[track_caller]
fn named<'a>(files: &'a [LoadedFile], name: &str) -> &'a LoadedFile {
    let found = files.iter().find(|file| file.name == name);
    found.unwrap_or_else(|| panic!("no `{name}` in {files:?}"))
}
