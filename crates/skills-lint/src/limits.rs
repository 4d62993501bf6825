//! The limits of this crate. `docs/limits.md` lists them.

/// Findings of one rule in one file that are reported one by one. The rest is counted.
pub const MAX_FINDINGS_PER_RULE: usize = 50;
/// Characters that one check compares for suggestions: about a second. Many dead links in a folder of
/// many files would take minutes.
pub const MAX_COMPARED_CHARS: usize = 128_000_000;
/// Lines of a body. More is a warning.
pub const MAX_BODY_LINES: usize = 500;
/// Estimated tokens of a body. More is a warning.
pub const MAX_BODY_TOKENS: usize = 5_000;
/// Blank lines between two lines of text. More is an error: a reader does not scroll that far.
pub const MAX_BLANK_LINES: usize = 200;
/// Blanks between two words of a line. More is an error: a reader does not scroll that far.
pub const MAX_BLANKS: usize = 400;
/// Skills that are ranked for each other's words. With more, the rules about that are not
/// applied: their cost grows with the square.
pub const MAX_RANKED_SKILLS: usize = 2_000;
/// Characters of an unbroken base64 text that needs no explanation.
pub const MAX_BASE64_CHARS: usize = 400;
