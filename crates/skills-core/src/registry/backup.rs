//! Every row that the registry keeps, for a backup.
//!
//! The scopes of a registry are those of the skills and the prompts, and all whose names begin with
//! one of these and a dot: leases, counts of use, versions. Their names may be configured, so a
//! backup has the names that they have by default.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::Registry;
use crate::history::{for_each_version, has_only_lengths};
use crate::{Error, Failure, Json, Skipped};

const SKILLS: &str = "skills";
const PROMPTS: &str = "prompts";

/// The configured names of the two scopes that all others belong to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScopeNames {
    /// Of the skills.
    pub skills: String,
    /// Of the prompts.
    pub prompts: String,
}

impl ScopeNames {
    /// The name in a backup; none if the scope is not one of a registry.
    pub fn in_backup(&self, scope: &str) -> Option<String> {
        rename(scope, [(&self.skills, SKILLS), (&self.prompts, PROMPTS)])
    }

    /// The name that a scope of a backup has here.
    pub fn here(&self, in_backup: &str) -> Option<String> {
        rename(
            in_backup,
            [(SKILLS, &self.skills), (PROMPTS, &self.prompts)],
        )
    }
}

/// The scope with the first name, or one below it, gets the second name.
fn rename(scope: &str, names: [(&str, &str); 2]) -> Option<String> {
    // The names themselves first: one may be below the other.
    let is_it = |(from, to): &(&str, &str)| (scope == *from).then(|| (*to).to_owned());
    let is_below = |(from, to): &(&str, &str)| {
        let rest = scope.strip_prefix(from)?.strip_prefix('.')?;
        Some(format!("{to}.{rest}"))
    };
    let found = names.iter().find_map(is_it);
    found.or_else(|| names.iter().find_map(is_below))
}

/// The rows of one scope.
#[derive(Debug, Default)]
pub struct BackupRows {
    /// Key and value, in the order of insertion.
    pub rows: Vec<(String, Json)>,
    /// Rows that cannot be copied.
    pub left_out: Vec<Skipped>,
}

impl Registry {
    /// The scopes of this registry that have been written to, by their names in a backup.
    pub async fn backup_scopes(&self) -> Result<Vec<String>, Error> {
        #[derive(Deserialize)]
        struct Groups {
            groups: Vec<String>,
        }
        let failed = || Error::state(|| "list the scopes");
        let input = RawValue::from_string("{}".into()).expect("an empty object is JSON");
        let groups = self.engine.call("state::list_groups", input, self.timeout);
        let groups = groups.await.map_err(failed())?;
        let groups = groups.as_deref().map_or("", RawValue::get);
        let Groups { groups } = serde_json::from_str(groups)
            .map_err(|error| failed()(unexpected("state::list_groups", &error)))?;
        let names = self.scope_names();
        let scopes = groups.iter().filter_map(|scope| names.in_backup(scope));
        Ok(scopes.collect())
    }

    /// The rows of a scope that [`Self::backup_scopes`] lists.
    pub async fn backup_rows(&self, in_backup: &str) -> Result<BackupRows, Error> {
        let Some(scope) = self.scope_names().here(in_backup) else {
            let reason = format!("`{in_backup}` is not a scope of a registry");
            return Err(Error::invalid("scope", reason));
        };
        let failed = || Error::state(|| format!("read the scope `{scope}`"));
        let mut copy = BackupRows::default();
        let place = |key: &str| format!("{scope}/{key}");
        let mut visit = |(key, text): (&str, Result<&str, String>)| {
            let json = |text: &str| RawValue::from_string(text.to_owned());
            match text.map(json) {
                // It is read as if it were not there.
                Ok(Ok(value)) if value.get() == "null" => {}
                Ok(Ok(value)) => copy.rows.push((key.to_owned(), value)),
                Ok(Err(error)) => copy.left_out.push(Skipped {
                    place: place(key),
                    reason: format!("it is not JSON: {error}"),
                }),
                Err(reason) => copy.left_out.push(Skipped {
                    place: place(key),
                    reason,
                }),
            }
        };
        if let Some(visited) = self.engine.for_each_row(&scope, &mut visit) {
            visited.map_err(failed())?;
            return Ok(copy);
        }
        let rows = self.state_list(&scope).await.map_err(failed())?;
        for value in rows {
            match own_key(&value) {
                OwnKey::Is(key) => copy.rows.push((key, value)),
                OwnKey::NotNeeded => {}
                OwnKey::Unknown => copy.left_out.push(Skipped {
                    place: scope.clone(),
                    reason: "the engine lists rows without their keys, and this one has none in \
                             itself"
                        .into(),
                }),
            }
        }
        Ok(copy)
    }

    fn scope_names(&self) -> ScopeNames {
        ScopeNames {
            skills: self.skills.scope().to_owned(),
            prompts: self.prompts.scope().to_owned(),
        }
    }

    async fn state_list(&self, scope: &str) -> Result<Vec<Json>, Failure> {
        let input = serde_json::json!({ "scope": scope });
        let input = serde_json::value::to_raw_value(&input).expect("a scope is JSON");
        let list = self.engine.call("state::list", input, self.timeout).await?;
        let list = list.as_deref().map_or("[]", RawValue::get);
        serde_json::from_str(list).map_err(|error| unexpected("state::list", &error))
    }
}

/// The key that a row has in itself, because lists of state have none.
#[derive(Debug, PartialEq, Eq)]
enum OwnKey {
    Is(String),
    /// The row has nothing, or nothing but the length of a ring of versions, which a writer adds
    /// again.
    NotNeeded,
    Unknown,
}

fn own_key(value: &RawValue) -> OwnKey {
    #[derive(Deserialize)]
    struct Keyed {
        #[serde(alias = "name")]
        id: String,
    }
    if let Ok(row) = serde_json::from_str::<Keyed>(value.get()) {
        return OwnKey::Is(row.id);
    }
    // A row of a ring: each of its versions names the entry and the place.
    let mut key = None;
    for_each_version(value.get(), &mut |version| key = Some(version.key()));
    match key {
        Some(key) => OwnKey::Is(key),
        None if value.get() == "null" || has_only_lengths(value.get()) => OwnKey::NotNeeded,
        None => OwnKey::Unknown,
    }
}

fn unexpected(function: &str, error: &serde_json::Error) -> Failure {
    Failure::Failed {
        code: "unexpected_answer".into(),
        message: format!("`{function}` returned an unexpected result: {error}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_names_its_key() {
        #[track_caller]
        fn check(row: &str, expected: &OwnKey) {
            let row = RawValue::from_string(row.into()).unwrap();
            assert_eq!(&own_key(&row), expected, "{row}");
        }
        let is = |key: &str| OwnKey::Is(key.into());
        check(r#"{"id":"a/b","skill":"x"}"#, &is("a/b"));
        check(r#"{"name":"greet"}"#, &is("greet"));
        check(r#"{"id":"skill:a/b"}"#, &is("skill:a/b"));
        let version = |number, of| {
            format!(r#"[{{"id":"a/b","version":{number},"of":{of},"at":"t","op":"register"}}]"#)
        };
        let row = format!(r#"{{"ring20":true,"v21":{}}}"#, version(21, 20));
        check(&row, &is("a/b@0"));
        let row = format!(r#"{{"v23":{}}}"#, version(23, 20));
        check(&row, &is("a/b@2"));
        // The number of the last version, after the texts were given back.
        let row = format!(r#"{{"ring20":true,"v7":{}}}"#, version(7, 1));
        check(&row, &is("a/b@0"));
        check(r#"{"ring20":true}"#, &OwnKey::NotNeeded);
        check("null", &OwnKey::NotNeeded);
        check("{}", &OwnKey::Unknown);
        check(r#"{"v1":[{}]}"#, &OwnKey::Unknown);
        check("7", &OwnKey::Unknown);
    }

    #[test]
    fn scopes_keep_their_meaning_under_other_names() {
        let names = ScopeNames {
            skills: "team".into(),
            prompts: "team.prompts".into(),
        };
        for (here, in_backup) in [
            ("team", Some("skills")),
            ("team.leases", Some("skills.leases")),
            ("team.prompts", Some("prompts")),
            ("team.prompts.versions", Some("skills.prompts.versions")),
            ("teams", None),
            ("skills", None),
            ("other", None),
        ] {
            assert_eq!(names.in_backup(here).as_deref(), in_backup, "{here}");
        }
        assert_eq!(names.here("skills.usage").as_deref(), Some("team.usage"));
        assert_eq!(names.here("prompts").as_deref(), Some("team.prompts"));
        assert_eq!(names.here("other"), None);
        assert_eq!(names.here("skills2"), None);
    }
}
