//! The rules about the form of a skill.

use skills_core::Severity::{Error, Note, Warning};

use crate::rule::{Group::Format, Rule};

macro_rules! rules {
    ($($name:ident = $rule:expr;)*) => {
        $(pub const $name: &Rule = &$rule;)*
        pub const RULES: &[&Rule] = &[$($name),*];
    };
}
pub(super) use rules;

rules! {
FRONT_MATTER = Rule::new("F001", Format, Error, [
    "a SKILL.md without front matter that can be read",
    "Agents find a skill by the `name` and the `description` in the front matter of its SKILL.md. \
     Without them, or with YAML that cannot be read, most agents drop the skill without a word.",
], [
    "# PDF\n\nReads PDF files.",
    "---\nname: pdf\ndescription: Reads PDF files. Use when a request names a PDF.\n---\n# PDF",
]);
NAME = Rule::new("F002", Format, Error, [
    "a name that the specification does not allow",
    "The `name` has 1 to 64 lowercase letters, digits and single hyphens between them, and is the \
     name of the folder. Clients build addresses from it and refuse others.",
], ["name: PDF_Tools", "name: pdf-tools"]);
DESCRIPTION = Rule::new("F003", Format, Error, [
    "no description, or one that the specification does not allow",
    "The `description` is all that an agent sees before it loads a skill. It is a text of 1 to \
     1,024 characters.",
], ["description: \"\"", "description: Fills PDF forms. Use when a form is a PDF."]);
FIELD = Rule::new("F004", Format, Error, [
    "a field of the wrong type or length",
    "`license`, `compatibility` (at most 500 characters) and `allowed-tools` are texts, `metadata` \
     maps keys to texts. Strict clients refuse the whole skill otherwise; put numbers in quotes.",
], ["metadata:\n  version: 1.0", "metadata:\n  version: \"1.0\""]);
UNKNOWN_KEY = Rule::new("F005", Format, Error, [
    "an unknown or misspelt key in the front matter",
    "The specification has `name`, `description`, `license`, `compatibility`, `metadata` and \
     `allowed-tools`; its validator rejects every other key. Keys that agents are known to read \
     (`version`, `triggers`, `model` and others) are accepted here. Keep your own keys in \
     `metadata`.",
], ["descripton: Fills PDF forms.", "description: Fills PDF forms."]).fixable();
REPAIRED = Rule::new("F006", Format, Error, [
    "front matter that had to be repaired",
    "A colon, a backtick or an `@` in a text without quotes is not YAML, and front matter ends \
     with a line `---`. This registry repairs it; agents with a strict parser drop the skill.",
], ["description: Use this: now", "description: 'Use this: now'"]).fixable();
TABS = Rule::new("F007", Format, Error, [
    "tabs that indent front matter",
    "YAML does not allow tabs before a key. This registry reads them as two spaces; agents with \
     a strict parser drop the skill.",
], ["metadata:\n\tauthor: me", "metadata:\n  author: me"]).fixable();
BOM = Rule::new("F008", Format, Warning, [
    "a byte order mark",
    "Agents that compare the first three characters with `---` see another character before them \
     and find no front matter; a script with one has no interpreter line.",
], ["\u{feff}---\nname: pdf", "---\nname: pdf"]).fixable();
LINE_ENDS = Rule::new("F009", Format, Warning, [
    "line ends of Windows",
    "Some agents find no front matter in a file whose lines end in CR and LF, and a shell does not \
     run such a script. Markdown, YAML, shell and Python files need LF alone.",
], ["---\r\nname: pdf\r\n---\r\n", "---\nname: pdf\n---\n"]).fixable();
NO_TITLE = Rule::new("F010", Format, Warning, [
    "a document without a title",
    "Lists show the title of a skill: the `title` of its front matter, its first level-1 heading or \
     its `name`. Without one they show its id.",
], ["Sends mail.", "# Mail\n\nSends mail."]);
NO_DESCRIPTION = Rule::new("F011", Format, Warning, [
    "a document without a description",
    "Lists and searches use the `description` of the front matter or the first paragraph. Without \
     one an agent cannot know what a skill is for.",
], ["# Mail\n\n- one\n- two", "# Mail\n\nSends mail.\n\n- one\n- two"]);
NO_WHEN = Rule::new("F012", Format, Note, [
    "a description that does not say when to use the skill",
    "An agent decides by the description alone. Say what the skill does and when to use it, with \
     the words that a request would have.",
], ["description: PDF tools.", "description: Fills PDF forms. Use when a form is a PDF."]);
LONG_BODY = Rule::new("F013", Format, Warning, [
    "a body of more than 500 lines",
    "The whole body enters the context of a model. The specification recommends at most 500 lines; \
     move details to files that the body links to.",
], ["a SKILL.md of 900 lines", "a SKILL.md of 200 lines that links to `references/api.md`"]);
LARGE_BODY = Rule::new("F014", Format, Warning, [
    "a body of more than 5,000 estimated tokens",
    "The whole body enters the context of a model. The specification recommends at most 5,000 \
     tokens (estimated here as one for each four characters); move details to files that the body \
     links to.",
], ["a SKILL.md of 60,000 characters", "a SKILL.md of 8,000 characters"]);
DEEP_REFERENCE = Rule::new("F015", Format, Note, [
    "a reference deeper than one level",
    "Agents often read only the beginning of a file that another reference names. Link every \
     document from SKILL.md itself.",
], ["SKILL.md links to `a.md`, and only `a.md` links to `b.md`", "SKILL.md links to `a.md` and `b.md`"]);
UNLINKED_FILE = Rule::new("F016", Format, Note, [
    "a bundled file that no text of the skill names",
    "An agent reads a bundled file when a text names it. A file that nothing names is dead weight, \
     or its link is missing.",
], ["a file `scripts/old.py` that no text names", "Run `scripts/fill.py`."]);
NO_INTERPRETER = Rule::new("F017", Format, Note, [
    "a script without an interpreter line",
    "A shell script, or a script whose name has no extension, is run by its first line. Begin it \
     with `#!`, such as `#!/usr/bin/env bash`.",
], ["scripts/run.sh: `set -e`", "scripts/run.sh: `#!/usr/bin/env bash`"]);
SECRET_FILE = Rule::new("F018", Format, Warning, [
    "a file that holds secrets by its name",
    "`.env`, private keys and key stores are copied with the folder to everyone who installs the \
     skill. Remove the file; name a template `.env.example`.",
], ["pdf/.env", "pdf/.env.example"]);
UNSERVED = Rule::new("F019", Format, Error, [
    "a file that is not served",
    "The registry leaves this file out. The message has the reason and the remedy.",
], ["skills/My Notes.md", "skills/my-notes.md"]);
NOT_UTF8 = Rule::new("F020", Format, Error, [
    "text that is not UTF-8",
    "Agents read UTF-8. Save the file as UTF-8.",
], ["SKILL.md in Latin-1", "SKILL.md in UTF-8"]);
ALLOW = Rule::new("F021", Format, Warning, [
    "an allow comment without a reason or with an unknown code",
    "`<!-- skills-lint-allow CODE: reason -->` silences a code on its own line and the next one. \
     It needs the code of a rule and a reason, so that a reader can judge it; without them it \
     silences nothing.",
], ["<!-- skills-lint-allow T008 -->", "<!-- skills-lint-allow T008: quotes an attack to explain it -->"]);
DOCUMENT_ERROR = Rule::new("F022", Format, Error, [
    "a 3md document that breaks a rule of its format",
    "The findings of `skills agent validate`: the document is not served. The message begins with \
     the rule in brackets.",
], ["a `[[z=9]]` without a plane at z=9", "a `[[z=1]]` with one at z=1"]);
DOCUMENT_WARNING = Rule::new("F023", Format, Warning, [
    "a 3md document that is probably not what its author intended",
    "The warnings of `skills agent validate`. The message begins with the rule in brackets.",
], ["@plane z=1 label=a", "@plane z=1 label=a triggers=\"find code\""]);
}
