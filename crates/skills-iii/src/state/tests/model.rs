//! Any sequence of operations gives the same rows as a simple model.

use proptest::prelude::*;

use super::*;

#[derive(Clone, Debug)]
enum Step {
    Set(String, String, u8),
    Delete(String, String),
    Append(String, String, u8),
    Refuse(String, String),
    Reopen,
}

/// Few names, so that operations share keys; some with special characters.
fn name() -> impl Strategy<Value = String> {
    prop::sample::select(vec!["a", "b", "B", "", "a\0b", "a\0c", "%_'\"", "ü"])
        .prop_map(str::to_owned)
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        5 => (name(), name(), any::<u8>()).prop_map(|(s, k, v)| Step::Set(s, k, v)),
        3 => (name(), name()).prop_map(|(s, k)| Step::Delete(s, k)),
        3 => (name(), name(), any::<u8>()).prop_map(|(s, k, v)| Step::Append(s, k, v)),
        1 => (name(), name()).prop_map(|(s, k)| Step::Refuse(s, k)),
        1 => Just(Step::Reopen),
    ]
}

/// Rows in order, and every scope ever written.
#[derive(Default)]
struct Model {
    rows: Vec<(String, String, String)>,
    scopes: std::collections::BTreeSet<String>,
}

impl Model {
    fn put(&mut self, scope: &str, key: &str, value: Option<String>) -> Option<String> {
        let at = self
            .rows
            .iter()
            .position(|row| row.0 == scope && row.1 == key);
        match (at, value) {
            (Some(at), Some(value)) => Some(std::mem::replace(&mut self.rows[at].2, value)),
            (Some(at), None) => Some(self.rows.remove(at).2),
            (None, None) => None,
            (None, Some(value)) => {
                self.scopes.insert(scope.to_owned());
                self.rows.push((scope.to_owned(), key.to_owned(), value));
                None
            }
        }
    }
}

async fn compare_rows(steps: Vec<Step>) {
    let dir = tempfile::tempdir().unwrap();
    let mut store = open(dir.path());
    let mut model = Model::default();
    for step in steps {
        match step {
            Step::Set(scope, key, n) => {
                let value = format!("[{n}]");
                let old = store
                    .set(scope.clone(), key.clone(), json(&value))
                    .await
                    .unwrap();
                assert_eq!(text(old), model.put(&scope, &key, Some(value)));
            }
            Step::Delete(scope, key) => {
                let old = store.delete(scope.clone(), key.clone()).await.unwrap();
                assert_eq!(text(old), model.put(&scope, &key, None));
            }
            Step::Append(scope, key, n) => {
                let longer = move |old: Option<&RawValue>| {
                    Ok(json(&format!("[{},{n}]", old.map_or("0", RawValue::get))))
                };
                let done = store.update(scope.clone(), key.clone(), 0, Box::new(longer));
                let (old, new) = done.await.unwrap();
                assert_eq!(
                    text(old),
                    model.put(&scope, &key, Some(new.get().to_owned()))
                );
            }
            Step::Refuse(scope, key) => {
                let refuse = |_: Option<&RawValue>| {
                    Err(StateError::Rejected {
                        message: "no".to_owned(),
                    })
                };
                store
                    .update(scope, key, 0, Box::new(refuse))
                    .await
                    .unwrap_err();
            }
            Step::Reopen => {
                drop(store);
                store = open(dir.path());
            }
        }
    }
    assert_eq!(
        store.groups().unwrap(),
        Vec::from_iter(model.scopes.clone())
    );
    for scope in &model.scopes {
        let rows: Vec<_> = model.rows.iter().filter(|row| row.0 == *scope).collect();
        let values: Vec<_> = rows.iter().map(|row| row.2.clone()).collect();
        assert_eq!(list(&store, scope), values);
        for (_, key, value) in rows {
            assert_eq!(text(store.get(scope, key).unwrap()).as_ref(), Some(value));
        }
    }
}

/// Two stores write the same few keys at once; a third store subscribes.
async fn compare_events(here: Vec<Step>, there: Vec<Step>) {
    let dir = tempfile::tempdir().unwrap();
    let listener = open(dir.path());
    let mut changes = listener.changes();
    let stores = [open(dir.path()), open(dir.path())];
    for (store, steps) in stores.iter().zip([here, there]) {
        for step in steps {
            // Queued, not awaited: the two writers contend, and batches interleave.
            match step {
                Step::Set(scope, key, n) => drop(store.set(scope, key, json(&n.to_string()))),
                Step::Delete(scope, key) => drop(store.delete(scope, key)),
                _ => {}
            }
        }
    }
    for (n, store) in stores.iter().enumerate() {
        store
            .set("end".into(), n.to_string(), json("0"))
            .await
            .unwrap();
    }
    let mut model = Model::default();
    let mut writing = stores.len();
    while writing > 0 {
        let change = timeout(TIMEOUT, changes.recv()).await.unwrap().unwrap();
        let StateChange::Row {
            scope,
            key,
            old,
            new,
        } = change
        else {
            panic!("{change:?}")
        };
        assert_eq!(
            text(old),
            model.put(&scope, &key, text(new)),
            "{scope}/{key}"
        );
        writing -= usize::from(scope == "end");
    }
    for scope in listener.groups().unwrap() {
        let rows = model.rows.iter().filter(|row| row.0 == scope);
        let values: Vec<_> = rows.map(|row| row.2.clone()).collect();
        assert_eq!(list(&listener, &scope), values);
    }
    listener.close();
    assert!(
        changes.recv().await.is_none(),
        "no event is published twice"
    );
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_store_is_an_ordered_map(steps in prop::collection::vec(step(), 0..60)) {
        tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(compare_rows(steps));
    }

    #[test]
    fn the_events_of_other_stores_give_the_same_rows(
        here in prop::collection::vec(step(), 0..60),
        there in prop::collection::vec(step(), 0..60),
    ) {
        tokio::runtime::Builder::new_current_thread()
            .enable_time().build().unwrap().block_on(compare_events(here, there));
    }
}
