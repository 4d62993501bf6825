//! What comes first, and the reasons for it.

use skills_search::{Document, Request};

use crate::{document, ids, index};

#[test]
fn a_trigger_wins_over_words_and_more_triggers_over_fewer() {
    let one = ["grep"];
    let two = ["find code", "grep"];
    let index = index(&[
        document("plain", "Grep grep", "Grep the code, find the code."),
        Document {
            triggers: &one,
            ..document("one", "Dance", "")
        },
        Document {
            triggers: &two,
            ..document("two", "Song", "")
        },
    ]);
    let ranking = index.rank(&Request::new("grep and find the code"));
    let found: Vec<_> = ranking
        .matches
        .iter()
        .map(|m| (&*m.id, m.triggers.len()))
        .collect();
    assert_eq!(found, [("two", 2), ("one", 1), ("plain", 0)]);
    assert!(ranking.matches[1].score >= 0.9 && ranking.is_relevant);
}

#[test]
fn an_id_finds_its_document() {
    let index = index(&[
        document("mail/send", "Send mail", "Send mail."),
        document("mail", "Overview", "Everything else."),
    ]);
    assert_eq!(ids(&index, " mail ")[0], "mail");
    assert_eq!(ids(&index, "mail/send")[0], "mail/send");
}

#[test]
fn the_reasons_are_words_with_their_fields() {
    let index = index(&[
        Document {
            body: "# Deploying\n\nShip it.\n\n## Rollback\n\nUndo a release.\n",
            ..document("ops/deploy", "Deploying", "Ship it.")
        },
        document("other", "Other", "Nothing of it."),
    ]);
    let ranking = index.rank(&Request::new(
        "how to roll back: deployments, rollback, release?",
    ));
    let why = ranking.matches[0].why.iter();
    let why: Vec<_> = why
        .map(|reason| format!("{}: {}", reason.word, reason.fields))
        .collect();
    for expected in [
        "deployments: id, title",
        "rollback: headings",
        "release: body",
    ] {
        assert!(why.iter().any(|reason| reason == expected), "{why:?}");
    }
}

#[test]
fn names_of_functions_match_their_words() {
    let index = index(&[
        document("a", "state::setValue", "Writes a row."),
        document("b", "list_all-things", "Reads rows."),
        document("c", "GitHub", "Pull requests."),
    ]);
    assert_eq!(ids(&index, "set a value in the state")[0], "a");
    assert_eq!(ids(&index, "listing")[0], "b");
    assert_eq!(ids(&index, "github")[0], "c");
    assert_eq!(ids(&index, "SetValue")[0], "a");
}

#[test]
fn a_misspelled_word_is_found() {
    let index = index(&[
        document("k", "Kubernetes", "Runs containers."),
        document("p", "Postgres", "Stores rows."),
    ]);
    assert_eq!(ids(&index, "kubernets"), ["k"]);
    assert_eq!(ids(&index, "potsgres")[0], "p");
}

#[test]
fn groups_and_prefixes_select() {
    let mut index = index(&[
        document("mail/send", "Mail", ""),
        document("mail/read", "Mail", ""),
    ]);
    index.insert(&Document {
        group: 3,
        ..document("mail/send", "Mail", "")
    });
    let found = |request: Request<'_>| {
        let ranking = index.rank(&request);
        let found = ranking.matches.iter().map(|m| (m.group, m.id.to_string()));
        (ranking.total, found.collect::<Vec<_>>())
    };
    let all = Request::new("mail");
    let entry = |group, id: &str| (group, id.to_owned());
    let (read, send, other) = (
        entry(0, "mail/read"),
        entry(0, "mail/send"),
        entry(3, "mail/send"),
    );
    assert_eq!(
        found(all),
        (3, vec![read.clone(), send.clone(), other.clone()])
    );
    assert_eq!(
        found(Request {
            groups: 1 << 3,
            ..all
        }),
        (1, vec![other.clone()])
    );
    assert_eq!(
        found(Request {
            prefix: "mail/s",
            ..all
        }),
        (2, vec![send.clone(), other])
    );
    assert_eq!(
        found(Request {
            offset: 1,
            limit: 1,
            ..all
        }),
        (3, vec![send])
    );
}

#[cfg(feature = "vectors")]
#[test]
fn a_paraphrase_is_found_by_its_meaning() {
    let index = index(&[
        document(
            "weather",
            "Forecast",
            "Rain and temperature for the next days.",
        ),
        document("money", "Invoices", "Bill a customer."),
        document("code", "Review", "Comment on a pull request."),
    ]);
    let ranking = index.rank(&Request::new("will it be sunny tomorrow"));
    let best = &ranking.matches[0];
    assert_eq!(&*best.id, "weather");
    assert!(
        best.why
            .iter()
            .any(|reason| reason.fields.to_string() == "meaning")
    );
}

#[test]
fn a_request_about_something_else_is_not_relevant() {
    let index = index(&[
        document(
            "git/commit",
            "Commit",
            "Commits staged files with a message.",
        ),
        document("git/rebase", "Rebase", "Moves commits onto another branch."),
    ]);
    let relevant = |text: &str| index.rank(&Request::new(text)).is_relevant;
    assert!(relevant("commit the staged files"));
    assert!(!relevant("book a table for two in a quiet restaurant"));
    assert!(!relevant("the of and"));
}
