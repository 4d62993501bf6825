//! Skills as clients of Agent Skills see them.

use cucumber::gherkin::Step;
use cucumber::then;
use skills_core::{
    FilePath, FolderEntry, FolderUri, Kind, PublishedFile, PublishedSkills, SkillId,
};

use crate::world::World;
use crate::world::values::{block, parsed};

async fn published(world: &World) -> PublishedSkills {
    let published = world.files.registry().published().await;
    published.expect("they are listed")
}

#[then(expr = "the published skills are {string}")]
async fn are(world: &mut World, ids: String) {
    let published = published(world).await;
    let found: Vec<_> = published
        .listed()
        .map(|skill| skill.id().as_str())
        .collect();
    assert_eq!(found.join(", "), ids);
}

#[then(expr = "the skills to install by name are {string}")]
async fn installed(world: &mut World, ids: String) {
    let published = published(world).await;
    let first = published.by_name().filter(|(_, first)| first.is_none());
    let found: Vec<_> = first.map(|(skill, _)| skill.id().as_str()).collect();
    assert_eq!(found.join(", "), ids);
}

#[then(expr = "{string} has the name of {string}")]
async fn has_name_of(world: &mut World, id: String, first: String) {
    let published = published(world).await;
    let mut skills = published.by_name();
    let found = skills.find(|(skill, _)| skill.id().as_str() == id);
    let (_, found) = found.expect("it is published");
    assert_eq!(found.map(SkillId::as_str), Some(&*first));
}

#[then(expr = "the published front matter of {string} has {string} {string}")]
async fn front_matter(world: &mut World, id: String, key: String, value: String) {
    let published = published(world).await;
    let skill = published.get(&id.parse().expect("an id"));
    let fields = parsed(skill.expect("it is published").front_matter());
    assert_eq!(fields[key], value);
}

#[then(expr = "{string} is published with {string}")]
async fn with_files(world: &mut World, id: String, uris: String) {
    let published = published(world).await;
    let skill = published.get(&id.parse().expect("an id"));
    let files = skill.expect("it is published").files();
    let found: Vec<_> = files.iter().map(PublishedFile::uri).collect();
    assert_eq!(found.join(", "), uris);
}

#[then(expr = "{string} is not published because {string}")]
async fn refused(world: &mut World, id: String, reason: String) {
    let published = published(world).await;
    let error = published.get(&id.parse().expect("an id"));
    let error = error.expect_err("it is not published");
    assert_eq!(error.kind(), Kind::NotFound);
    assert!(error.to_text().contains(&reason), "{}", error.to_text());
}

#[then("every published file has its digest")]
async fn digests(world: &mut World) {
    let published = published(world).await;
    for skill in published.listed() {
        for file in skill.files() {
            let path = FilePath::in_skill(file.skill, file.path).expect("a path");
            let content = world.files.registry().read_file(&path).await;
            let content = content.expect("it is read");
            assert_eq!(content.digest, file.digest, "{path}");
            assert_eq!(content.bytes.len() as u64, file.bytes, "{path}");
        }
    }
}

#[then(expr = "the address {string} is:")]
async fn address_is(world: &mut World, uri: String, step: &Step) {
    let uri = uri.parse().expect("an address");
    let content = world.files.registry().read(&uri).await.expect("it is read");
    let text = content.text().expect("it is text");
    assert_eq!(text.trim_end(), block(step).trim_end());
}

#[then(expr = "the folder {string} has {string}")]
async fn folder(world: &mut World, uri: String, names: String) {
    let published = published(world).await;
    let uri: FolderUri = uri.parse().expect("an address");
    let entries = published.folder(&uri).expect("it is a folder");
    let shown = entries.iter().map(|(name, entry)| match entry {
        FolderEntry::Folder => format!("{name}/"),
        FolderEntry::File(..) => (*name).to_owned(),
    });
    assert_eq!(shown.collect::<Vec<_>>().join(", "), names);
}

#[then(expr = "{string} is no folder")]
async fn no_folder(world: &mut World, uri: String) {
    let published = published(world).await;
    let uri: FolderUri = uri.parse().expect("an address");
    let error = published.folder(&uri).expect_err("it is a file");
    assert_eq!(error.kind(), Kind::Invalid);
}
