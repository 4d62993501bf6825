//! A document as it is given to the index.

/// A number that the caller gives to documents of one kind, from 0 to 31. A request selects
/// groups. The same id may be in several groups.
pub type Group = u8;

/// A document to index. Absent parts are empty.
#[derive(Clone, Copy, Debug, Default)]
pub struct Document<'a> {
    /// Its group.
    pub group: Group,
    /// Its id, unique in its group.
    pub id: &'a str,
    /// Its title.
    pub title: &'a str,
    /// Its description, on one line or several.
    pub description: &'a str,
    /// Its trigger phrases.
    pub triggers: &'a [&'a str],
    /// Its markdown. Words that title and description take from it count once.
    pub body: &'a str,
}
