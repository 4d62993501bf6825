//! `skills agent new`: a document to start from.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use serde_json::json;
use skills_core::Kind;

use super::{CliError, Output};
use skills_files::agents::file::is_document;

#[derive(Args)]
pub struct NewArgs {
    /// Where to write it; the name ends in `.3md`.
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// The agent's name [default: the file's].
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
}

pub fn run(args: &NewArgs, output: &Output) -> Result<(), CliError> {
    let path = args.file.display().to_string();
    if !is_document(&args.file) {
        let hint = format!("call it {path}.3md");
        return Err(CliError::invalid(
            format!("{path} does not end in `.3md`"),
            hint,
        ));
    }
    let stem = args.file.file_stem().unwrap_or_default().to_string_lossy();
    let name = args.name.as_deref().unwrap_or(&stem).trim();
    if name.is_empty() || name.contains(char::is_control) {
        return Err(CliError::invalid(
            format!("{name:?} cannot be an agent's name"),
            "give it a name on one line, as in --name dev",
        ));
    }
    let created = std::fs::File::create_new(&args.file)
        .and_then(|mut file| file.write_all(scaffold(name).as_bytes()));
    created.map_err(|error| {
        if error.kind() == std::io::ErrorKind::AlreadyExists {
            let hint = "choose another name; nothing is ever overwritten";
            return CliError::invalid(format!("{path} is there already"), hint);
        }
        CliError {
            kind: Kind::Broken,
            message: format!("cannot write {path}: {error}"),
            hint: Some("is the folder there, and may this user write to it?".into()),
        }
    })?;
    let data = json!({ "file": path, "agent": name });
    output.data("agent new", &data, |_| format!("{path}\n"))
}

fn scaffold(name: &str) -> String {
    let quoted = name.replace('\\', "\\\\").replace('"', "\\\"");
    format!(
        r#"---
3md: 1.0
agent: "{quoted}"
model: any
tools: rg, cat
persona: Says what it found, and where.
---

@plane z=0 kind=identity label=identity
You answer questions about the code in this folder. Look before you answer.

@plane z=1 label=search triggers="find code, search the code, where is" cost=low tool="rg --line-number {{pattern}}" inputs="pattern:string"
# Search the code

Look for the narrowest word that must occur. Read what you find with [[z=2|read]].

@plane z=2 label=read triggers="open file, show file" cost=low tool="cat {{path}}" inputs="path:string"
# Read a file

Read the whole file if it is short, else only the part around the match.
"#
    )
}

#[cfg(test)]
mod tests {
    use super::scaffold;

    #[test]
    fn what_it_writes_is_sound_whatever_the_name() {
        for name in ["dev", "a \"b\" \\ c", "'", "日本", "- x: y"] {
            let text = scaffold(name);
            assert_eq!(agent3md::validate(&text).findings, [], "for {name:?}");
            assert_eq!(agent3md::Agent::parse(&text).unwrap().name, name);
        }
    }
}
