//! A markdown file as a prompt: its front matter has a description and may have a name.

use std::path::Path;
use std::sync::Arc;

use skills_core::{Origin, PromptName, SourcePrompt, check_description, undeclared_names};

use super::content::{MarkdownContent, Needs};
use super::prompt_arguments;
use crate::file_set::FileEntry;
use crate::limits::MAX_UNDECLARED_NAMES;
use crate::scan::FoundFile;
use crate::snapshot::fingerprint;
use crate::text_file::Unserved;

/// A prompt without its text.
#[derive(Clone, Debug)]
pub struct PromptFile {
    /// The entry of a listing.
    pub prompt: SourcePrompt,
    /// What its author should correct, and how.
    pub warnings: Arc<[String]>,
    /// Changes with everything that is served of the file.
    pub fingerprint: u64,
}

impl PromptFile {
    /// Reads a prompt and its text at `real_path`, which `path` leads to; `None` if the file
    /// does not exist.
    pub fn read_with_text(
        path: &Path,
        real_path: &Path,
    ) -> Result<Option<(Self, Arc<str>)>, Unserved> {
        let Some(content) = MarkdownContent::read(real_path, Needs::Text)? else {
            return Ok(None);
        };
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        Ok(Some((Self::parse(&content, &stem)?, content.body)))
    }

    /// `stem`, the file name without `.md`, is the name unless the front matter has one.
    /// Fails with the reason why the file cannot be served.
    fn parse(content: &MarkdownContent, stem: &str) -> Result<Self, String> {
        if let Some(problem) = &content.problem {
            return Err(problem.clone());
        }
        let Some(front_matter) = &content.front_matter else {
            let mut lines = content.body.lines();
            return Err(
                if lines.next().is_some_and(|line| line.trim_end() == "---") {
                    "has front matter that is not closed; end it with a line `---`".into()
                } else {
                    "has no front matter; begin with `---`, `description: ...`, `---`".into()
                },
            );
        };
        let Some(description) = front_matter.text("description")? else {
            return Err("has no `description` in its front matter; add one".into());
        };
        check_description(description).map_err(|error| {
            if description.trim().is_empty() {
                "has an empty `description` in its front matter; fill it in".to_owned()
            } else {
                format!("has front matter whose {error}; shorten it")
            }
        })?;
        let name = front_matter.text("name")?.unwrap_or(stem);
        let name = name.parse::<PromptName>().map_err(|error| {
            let fix = "rename the file or set `name` in the front matter";
            format!("cannot be a prompt: {error}; {fix}")
        })?;
        let (arguments, mut warnings) = prompt_arguments::parse(front_matter)?;
        warnings.extend(front_matter.warning.clone());
        if !arguments.is_empty() {
            let undeclared = undeclared_names(&content.body, &arguments);
            let reported = undeclared.len().min(MAX_UNDECLARED_NAMES);
            warnings.extend(undeclared[..reported].iter().map(|name| {
                format!("uses `{{{{{name}}}}}`, which stays as it is; add `{name}` to `arguments`")
            }));
            let more = undeclared.len() - reported;
            if more > 0 {
                warnings.push(format!(
                    "uses more names in `{{{{...}}}}` that stay as they are ({more}); add them to \
                     `arguments`"
                ));
            }
        }
        let declared = front_matter.get("arguments").map(ToString::to_string);
        let served = (&content.body, &content.modified_at, description, declared);
        Ok(Self {
            fingerprint: fingerprint(served),
            prompt: SourcePrompt {
                name,
                description: description.into(),
                arguments: arguments.into(),
                registered_at: Arc::clone(&content.modified_at),
                origin: Origin::Fs,
            },
            warnings: warnings.into(),
        })
    }
}

impl FileEntry for PromptFile {
    const SUFFIX: &'static str = ".md";
    const LISTING: &'static str = "list the prompt files";
    type Name = PromptName;

    fn read(found: &FoundFile, _: Option<&Self>) -> Result<Option<Self>, Unserved> {
        let file = Self::read_with_text(&found.path, found.real_path())?;
        Ok(file.map(|(file, _)| file))
    }

    fn name(&self) -> &PromptName {
        &self.prompt.name
    }

    fn duplicate_reason(&self, first: &str) -> String {
        let name = &self.prompt.name;
        format!("has the name `{name}` that {first} has already; rename one")
    }
}

#[cfg(test)]
mod tests {
    use skills_core::Document;

    use super::*;

    fn parse(yaml: Option<&str>, body: &str, stem: &str) -> Result<PromptFile, String> {
        let text = match yaml {
            Some(yaml) => format!("---\n{yaml}---\n{body}"),
            None => body.to_owned(),
        };
        let content = MarkdownContent::new(Document::parse(&text), "".into());
        PromptFile::parse(&content, stem)
    }

    #[track_caller]
    fn good(yaml: &str, name: &str, description: &str, warned: bool) {
        let PromptFile {
            prompt, warnings, ..
        } = parse(Some(yaml), "", "stem").unwrap();
        assert_eq!(prompt.name.as_str(), name, "for {yaml:?}");
        assert_eq!(&*prompt.description, description, "for {yaml:?}");
        assert_eq!(!warnings.is_empty(), warned, "{warnings:?}");
    }

    #[track_caller]
    fn bad(yaml: &str, expected: &str) {
        let reason = parse(Some(yaml), "", "stem").unwrap_err();
        assert!(reason.contains(expected), "for {yaml:?}: {reason}");
    }

    #[test]
    fn front_matter() {
        good("description: Opens a PR.\n", "stem", "Opens a PR.", false);
        good("name: open-pr\ndescription: x\n", "open-pr", "x", false);
        good("name: open-pr\r\ndescription: x\r\n", "open-pr", "x", false);
        good(
            "description: x\ntags: [a, b]\nmodel: y\n",
            "stem",
            "x",
            false,
        );
        good("description: \"a: b\"\n", "stem", "a: b", false);
        good("description: |\n  a: b\n", "stem", "a: b\n", false);
        good("description: >-\n  a\n  b\n", "stem", "a b", false);
        good("# a comment\ndescription: x # more\n", "stem", "x", false);
    }

    #[test]
    fn an_unquoted_colon_is_repaired_with_a_warning() {
        good(
            "description: Use this: now\n",
            "stem",
            "Use this: now",
            true,
        );
        good("description: It's: so\n", "stem", "It's: so", true);
        good(
            "description: Use: this\n  and that\nname: next\n",
            "next",
            "Use: this and that",
            true,
        );
        good("description: Uses: x # why\n", "stem", "Uses: x", true);
        good("description: `x` does y\n", "stem", "`x` does y", true);
        good("description: @me does y\r\n", "stem", "@me does y", true);
        let warned = parse(Some("description: a: b\n"), "", "s")
            .unwrap()
            .warnings;
        assert!(warned[0].contains("`description` in the front matter"));
    }

    #[test]
    fn invalid_front_matter_has_a_reason() {
        bad("", "has no `description`");
        bad("just words\n", "is not a map");
        bad("- a\n- b\n", "is not a map");
        bad("name: x\n", "has no `description`");
        bad("description:\n", "has no `description`");
        bad("description: ''\n", "has an empty `description`");
        bad("description: '  '\n", "has an empty `description`");
        bad(
            "description: 5\n",
            "`description` in its front matter that is a number",
        );
        bad("description: true\n", "that is true or false");
        bad("description: [a]\n", "that is a list");
        bad("description: {a: b}\n", "that is a map");
        bad(
            "description: x\nname: 7\n",
            "`name` in its front matter that is a number",
        );
        bad(
            "description: x\nname: Open PR\n",
            "cannot be a prompt: name `Open PR` has 'O'",
        );
        bad("description: x\nname: ''\n", "name must be non-empty");
        bad(
            "description: x\ndescription: y\n",
            "cannot be read: line 2 column 1: duplicate mapping key: description",
        );
        let reason = parse(Some("name: x\nname: y\n"), "", "stem").unwrap_err();
        assert!(reason.ends_with("key: name"), "{reason}");
        bad("description: a: b\ndescription: y\n", "cannot be read");
        bad("description: [a\n", "cannot be read");
        bad("description: 'x\n", "cannot be read");
    }

    #[test]
    fn names_that_are_not_declared_are_a_warning() {
        let warnings = |yaml, body| parse(Some(yaml), body, "stem").unwrap().warnings;
        let declared = "description: x\narguments: [to]\n";
        assert_eq!(*warnings(declared, "{{to}} $1"), [""; 0]);
        assert_eq!(
            *warnings(declared, "{{too}}"),
            ["uses `{{too}}`, which stays as it is; add `too` to `arguments`"]
        );
        assert_eq!(*warnings("description: x\n", "{{too}}"), [""; 0]);
    }

    #[test]
    fn many_names_that_are_not_declared_are_counted() {
        let yaml = "description: x\narguments: [to]\n";
        let warnings = |names: usize| {
            let body: Vec<_> = (0..names).map(|name| format!("{{{{a{name}}}}}")).collect();
            parse(Some(yaml), &body.concat(), "stem").unwrap().warnings
        };
        assert_eq!(warnings(MAX_UNDECLARED_NAMES).len(), MAX_UNDECLARED_NAMES);
        let many = warnings(25_000);
        assert_eq!(many.len(), MAX_UNDECLARED_NAMES + 1);
        assert!(many[0].contains("add `a0` to"), "{}", many[0]);
        let last =
            "uses more names in `{{...}}` that stay as they are (24980); add them to `arguments`";
        assert_eq!(many[MAX_UNDECLARED_NAMES], last);
    }

    #[test]
    fn front_matter_must_be_present_and_closed() {
        let missing = |body: &str| parse(None, body, "stem").unwrap_err();
        assert!(missing("# Hi\n").contains("has no front matter"));
        assert!(missing("---\ndescription: x\n").contains("is not closed"));
        let reason = parse(Some("description: x\n"), "", "Open PR").unwrap_err();
        assert!(reason.contains("rename the file or set `name`"), "{reason}");
    }
}
