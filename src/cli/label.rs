//! The words before messages on stderr, in colour on a terminal.

use console::{Style, Term};
use skills_core::escape_control_in_lines;

/// What a message is.
#[derive(Clone, Copy, Debug)]
pub enum Label {
    /// The command failed.
    Error,
    /// A problem that does not stop the command.
    Warning,
    /// What to do about an error.
    Hint,
    /// What a person should know.
    Note,
}

impl Label {
    /// The message with its label, safe to print. `is_coloured` says whether the label has a colour.
    pub fn before(self, text: &str, is_coloured: bool) -> String {
        let style = Style::new().force_styling(is_coloured).bold();
        let (word, style) = match self {
            Self::Error => ("error:", style.red()),
            Self::Warning => ("warning:", style.yellow()),
            Self::Hint => ("hint:", style.green()),
            Self::Note => ("note:", style.cyan()),
        };
        let text = escape_control_in_lines(text);
        if is_coloured {
            format!("{} {text}", style.apply_to(word))
        } else {
            format!("{word} {text}")
        }
    }
}

/// Whether stderr shows colours: it is a terminal, and neither `NO_COLOR` nor `TERM=dumb` is set.
pub fn stderr_has_colours() -> bool {
    Term::stderr().features().colors_supported()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_label_has_its_colour() {
        let check = |label: Label, code: &str, word: &str| {
            let coloured = label.before("x\u{7}", true);
            assert!(coloured.contains(&format!("\x1b[{code}m")), "{coloured:?}");
            assert!(coloured.ends_with("\x1b[0m x\\u{7}"), "{coloured:?}");
            assert_eq!(label.before("x", false), format!("{word}: x"));
        };
        check(Label::Error, "31", "error");
        check(Label::Warning, "33", "warning");
        check(Label::Hint, "32", "hint");
        check(Label::Note, "36", "note");
    }
}
