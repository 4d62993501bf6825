//! `skills agent new`: creates a document to start from.

use std::io;
use std::path::PathBuf;

use clap::Args;
use serde_json::json;
use skills_files::agents::file::is_document;

use super::{CliError, Output};
use crate::cli::write_file::{cannot_write, write_file};

#[derive(Args)]
pub struct NewArgs {
    /// The file to create; its name ends in `.3md`.
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// The agent's name [default: the file's].
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
}

pub fn run(args: &NewArgs, output: &Output) -> Result<(), CliError> {
    let path = args.file.display().to_string();
    if !is_document(&args.file) {
        let message = format!("{path} does not end in `.3md`");
        return Err(CliError::invalid(message, format!("name it {path}.3md")));
    }
    let stem = args.file.file_stem().unwrap_or_default().to_string_lossy();
    let name = args.name.as_deref().unwrap_or(&stem).trim();
    if name.is_empty() || name.contains(char::is_control) {
        return Err(CliError::invalid(
            format!("{name:?} cannot be an agent's name"),
            "use a name on one line, as in --name dev",
        ));
    }
    write_file(&args.file, scaffold(name), false).map_err(|error| {
        if error.kind() == io::ErrorKind::AlreadyExists {
            let message = format!("{path} already exists");
            return CliError::invalid(message, "choose another name; files are never overwritten");
        }
        cannot_write(&args.file, &error)
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
persona: Reports what it found, and where.
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
    fn the_document_is_valid_for_every_name() {
        for name in ["dev", "a \"b\" \\ c", "'", "日本", "- x: y"] {
            let text = scaffold(name);
            assert_eq!(agent3md::validate(&text).findings, [], "for {name:?}");
            assert_eq!(agent3md::Agent::parse(&text).unwrap().name, name);
        }
    }
}
