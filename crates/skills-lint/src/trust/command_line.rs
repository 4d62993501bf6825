//! The command that follows a program. Places are asked for in order, and what was found for one
//! is kept for the next, so that a text with a program at every place is still read once.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, Input};

/// How far a command is followed.
const REACH: usize = 600;

/// Pipes of a command that are followed.
const MAX_PIPES: usize = 6;

/// Words after the name of a saved file that are searched for a program that runs it.
const MAX_WORDS: usize = 48;

/// Programs that run what they read.
const SHELLS: &[&str] = &[
    "sh",
    "bash",
    "zsh",
    "dash",
    "ksh",
    "fish",
    "iex",
    "invoke-expression",
    "pwsh",
    "powershell",
    "osascript",
    "cmd",
];
const INTERPRETERS: &[&str] = &[
    "python", "python3", "perl", "ruby", "node", "php", "deno", "bun",
];

/// Words before the program of a pipe.
const PREFIXES: &[&str] = &["sudo", "-e", "env", "exec", "nohup", "doas", "-i"];

/// Options before the name of the file that a download is saved to.
const OUTPUTS: &[&str] = &["-o", "-O", "--output", "-outfile", "-OutFile", ">"];

/// What runs the output of the command after it.
const RUNNERS: &[&str] = &[
    "eval \"$(",
    "eval $(",
    "eval `",
    "-c \"$(",
    "-c $(",
    "bash <(",
    "sh <(",
    "source <(",
];

/// Programs that run an encoded option.
const POWERSHELL: [&str; 2] = ["powershell", "pwsh"];

static RUNNER: LazyLock<AhoCorasick> = LazyLock::new(|| {
    AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .build(RUNNERS.iter().chain(&POWERSHELL))
        .expect("the runners are an automaton")
});

pub fn is_shell(word: &str) -> bool {
    is_one_of(SHELLS, word)
}

pub fn is_interpreter(word: &str) -> bool {
    is_one_of(INTERPRETERS, word)
}

fn is_one_of(words: &[&str], word: &str) -> bool {
    words.iter().any(|known| known.eq_ignore_ascii_case(word))
}

/// The commands of a text.
pub struct CommandLines<'a> {
    text: &'a str,
    /// The ends of the command and of the paragraph that were found last, and the word.
    command_end: usize,
    paragraph_end: usize,
    word: Range<usize>,
    /// The pipes after the last place, and where each runs a shell up to.
    pipes: VecDeque<(usize, Option<usize>)>,
    pipes_to: usize,
    /// The program after words that may stand before it: from, its start, and its end if it runs
    /// what it reads.
    program: (usize, usize, Option<usize>),
    /// The next option of [`OUTPUTS`], and the end of a command that runs what it saves.
    output: usize,
    saved: Option<(usize, Option<usize>)>,
    /// The last runner and the last PowerShell, and how far they are searched.
    runner: Option<usize>,
    powershell: Option<usize>,
    runners_to: usize,
}

impl<'a> CommandLines<'a> {
    pub const fn new(text: &'a str) -> Self {
        Self {
            text,
            command_end: 0,
            paragraph_end: 0,
            word: 0..0,
            pipes: VecDeque::new(),
            pipes_to: 0,
            program: (0, 0, None),
            output: 0,
            saved: None,
            runner: None,
            powershell: None,
            runners_to: 0,
        }
    }

    /// The end of a command: of its line, and of the next ones while a backslash or a pipe ends
    /// them.
    fn command_end(&mut self, from: usize) -> usize {
        if self.command_end <= from {
            let mut end = from;
            for line in self.text[from..].split_inclusive('\n') {
                end += line.len();
                if !line.trim_end().ends_with(['\\', '|']) {
                    break;
                }
            }
            self.command_end = end;
        }
        self.command_end
    }

    /// The rest of a command, as far as it is followed.
    pub fn rest(&mut self, from: usize) -> &'a str {
        let end = self.command_end(from).min(from + REACH);
        &self.text[from..self.text.floor_char_boundary(end).max(from)]
    }

    /// The end of the word with a place.
    fn word_end(&mut self, from: usize) -> usize {
        if from < self.word.start || self.word.end <= from {
            self.word = from..from + word_length(&self.text[from..]);
        }
        self.word.end
    }

    /// The word at a place, as far as it is followed, and its end.
    fn word(&mut self, from: usize) -> (&'a str, usize) {
        let end = self.word_end(from);
        let cut = self.text.floor_char_boundary(end.min(from + REACH));
        (&self.text[from..cut], end)
    }

    /// The place after white space.
    fn skip_blanks(&self, from: usize, end: usize) -> usize {
        let rest = &self.text[from..end.max(from)];
        end.max(from) - rest.trim_start().len()
    }

    /// Where a pipe into a program ends that runs what it reads.
    pub fn piped(&mut self, from: usize) -> Option<usize> {
        let limit = self.command_end(from).min(from + REACH);
        while self.pipes.front().is_some_and(|(at, _)| *at < from) {
            self.pipes.pop_front();
        }
        for nth in 0..MAX_PIPES {
            if nth == self.pipes.len() {
                let start = self.pipes_to.max(from);
                let rest = self.text.as_bytes().get(start..limit)?;
                let Some(found) = rest.iter().position(|b| *b == b'|') else {
                    self.pipes_to = self.pipes_to.max(limit);
                    return None;
                };
                let at = start + found;
                self.pipes_to = at + 1;
                let end = self.shell_after(at);
                self.pipes.push_back((at, end));
            }
            match self.pipes[nth] {
                (at, _) if at >= limit => return None,
                (_, None) => {}
                (_, end) => return end,
            }
        }
        None
    }

    /// The end of the program after a pipe, if it runs what it reads.
    fn shell_after(&mut self, pipe: usize) -> Option<usize> {
        let bytes = self.text.as_bytes();
        if bytes.get(pipe + 1) == Some(&b'|') || pipe > 0 && bytes[pipe - 1] == b'|' {
            return None;
        }
        let limit = self.command_end(pipe);
        let at = self.skip_blanks(pipe + 1, limit);
        let (word, end) = self.word(at);
        if !is_before_program(word) {
            return self.run_by(at, word, limit);
        }
        let (from, start, _) = self.program;
        if !(from <= end && end <= start) {
            self.program = self.next_program(end, limit);
        }
        let (_, start, found) = self.program;
        found.filter(|_| start - pipe <= REACH)
    }

    fn next_program(&mut self, from: usize, limit: usize) -> (usize, usize, Option<usize>) {
        let mut at = self.skip_blanks(from, limit);
        while at < limit {
            let (word, end) = self.word(at);
            if !is_before_program(word) {
                return (from, at, self.run_by(at, word, limit));
            }
            at = self.skip_blanks(end, limit);
        }
        (from, limit, None)
    }

    /// The end of a program, if it runs what it reads.
    fn run_by(&self, at: usize, word: &str, limit: usize) -> Option<usize> {
        let trimmed = word.trim_end_matches(['`', '"', '\'', ')', ';', '.', ',']);
        let name = trimmed.rsplit('/').next().unwrap_or(trimmed);
        let (is_shell, is_interpreter) = (is_shell(name), is_interpreter(name));
        if !is_shell && !is_interpreter {
            return None;
        }
        let next = self.skip_blanks(at + word.len(), limit);
        let next = &self.text[next..limit.max(next)];
        let next = &next[..word_length(next)];
        let is_last = trimmed.len() < word.len() || matches!(next, "" | "-" | "&&" | ";" | "||");
        let is_run = is_shell && !next.starts_with("-c") || is_interpreter && is_last;
        is_run.then_some(at + trimmed.len())
    }

    /// Where a download ends that is saved under a name and run under it.
    pub fn saved_and_run(&mut self, from: usize) -> Option<usize> {
        let (word, _) = self.word(from);
        let option = if OUTPUTS.contains(&word) {
            from
        } else {
            self.next_output(from)?
        };
        let between = self.text.get(from..option)?;
        if between.len() > REACH || between.contains('\n') {
            return None;
        }
        if self.saved.is_none_or(|(at, _)| at != option) {
            self.saved = Some((option, self.run_after(option)));
        }
        self.saved.and_then(|(_, end)| end)
    }

    /// The place of the next option that names a file.
    fn next_output(&mut self, from: usize) -> Option<usize> {
        if self.output < from {
            let mut at = from;
            self.output = loop {
                at = self.skip_blanks(at, self.text.len());
                if at == self.text.len() {
                    break at;
                }
                let end = at + word_length(&self.text[at..]);
                if OUTPUTS.contains(&&self.text[at..end]) {
                    break at;
                }
                at = end;
            };
        }
        (self.output < self.text.len()).then_some(self.output)
    }

    /// The end of the command that runs the file which an option names.
    fn run_after(&mut self, option: usize) -> Option<usize> {
        if self.paragraph_end <= option {
            let rest = &self.text[option..];
            self.paragraph_end = option + rest.find("\n\n").unwrap_or(rest.len());
        }
        let end = self.paragraph_end.min(option + REACH);
        let rest = &self.text[option..self.text.floor_char_boundary(end)];
        let mut words = words(rest).skip(1);
        let (at, name) = words.next()?;
        let name = name.trim_matches(['"', '\'', '`', ';']);
        let base = name.rsplit('/').next().unwrap_or(name);
        let is_elsewhere = rest[..at].contains('\n') || name.contains("://");
        if base.len() < 2 || base.starts_with('-') || is_elsewhere {
            return None;
        }
        let mut last = "";
        words.take(MAX_WORDS).find_map(|(start, word)| {
            let before = std::mem::replace(&mut last, word);
            let plain = unquoted(word);
            let is_name = plain.ends_with(base) && plain.rsplit('/').next() == Some(base);
            if !is_name {
                return None;
            }
            let before = unquoted(before);
            let is_run = is_shell(before) || matches!(before, "source" | ".");
            (is_run || plain.starts_with("./")).then_some(option + start + word.len())
        })
    }

    /// Whether something before a place, on its line, runs the output of a command.
    pub fn has_runner(&mut self, at: usize) -> bool {
        self.search_runners(at);
        self.is_near(self.runner, at)
    }

    /// Whether PowerShell is named before a place, on its line.
    pub fn has_powershell(&mut self, at: usize) -> bool {
        self.search_runners(at);
        self.is_near(self.powershell, at)
    }

    fn search_runners(&mut self, at: usize) {
        let longest = POWERSHELL[0].len();
        while self.runners_to < at {
            let input = Input::new(self.text).range(self.runners_to..at);
            let Some(found) = RUNNER.find(input) else {
                self.runners_to = self.runners_to.max(at.saturating_sub(longest));
                return;
            };
            self.runners_to = found.end();
            let last = if found.pattern().as_usize() < RUNNERS.len() {
                &mut self.runner
            } else {
                &mut self.powershell
            };
            *last = Some(found.start());
        }
    }

    fn is_near(&self, found: Option<usize>, at: usize) -> bool {
        const NEAR: usize = 200;
        found.is_some_and(|found| at - found <= NEAR && !self.text[found..at].contains('\n'))
    }
}

/// Whether a word may stand between a pipe and a program.
fn is_before_program(word: &str) -> bool {
    word == "\\" || word.contains('=') || is_one_of(PREFIXES, word)
}

fn word_length(text: &str) -> usize {
    text.find(char::is_whitespace).unwrap_or(text.len())
}

/// A word without the quotes and brackets around it.
fn unquoted(word: &str) -> &str {
    word.trim_matches(['"', '\'', '`', ';', ')'])
}

/// The words of a text with their places, as a shell splits them: at ASCII white space only.
fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    text.split(|c: char| c.is_ascii_whitespace())
        .filter_map(move |word| {
            let start = at;
            at += word.len() + 1;
            (!word.is_empty()).then_some((start, word))
        })
}
