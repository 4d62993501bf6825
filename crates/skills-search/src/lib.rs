//! Ranked search over short documents, for a registry of skills: which document serves a request,
//! how sure that is, and which words decided it.
//!
//! Start at [`Index`]: documents are added, replaced and removed one at a time, and a
//! [`Request`] is ranked against all of them. Two measures are added: BM25F over the fields of a
//! document (`postings`, `ranking`), and the similarity of static word vectors (`vectors`, a cargo
//! feature). A trigger phrase whose words are all in the request wins over both (`triggers`).
//! `confidence` turns the sum into the probability that the best document is the right one.
//!
//! The result depends on the request and on the set of documents, never on the order of the
//! changes that led to it.
//!
//! Deliberately absent: I/O, a clock, and any knowledge of a registry. Many documents at once are
//! read on several threads ([`Index::insert_all`]), on which the result does not depend.
//!
//! ```
//! use skills_search::{Document, Index, Request};
//!
//! let mut index = Index::default();
//! let document = |id, description| Document { id, description, ..Document::default() };
//! index.insert(&document("mail/send", "Sends an e-mail to a customer."));
//! index.insert(&document("git/commit", "Commits staged files."));
//! let ranking = index.rank(&Request::new("e-mail the customers"));
//! assert_eq!(&*ranking.matches[0].id, "mail/send");
//! ```

mod completion;
mod confidence;
mod counter;
mod dictionary;
mod document;
mod documents;
mod field;
mod headings;
mod index;
mod key;
pub mod limits;
mod marks;
mod near;
mod new_words;
mod postings;
mod ranking;
mod reading;
mod request;
mod stem;
mod stop_words;
mod threads;
mod tokens;
mod triggers;
#[cfg(feature = "vectors")]
mod vectors;
#[cfg(not(feature = "vectors"))]
#[path = "no_vectors.rs"]
mod vectors;
mod weights;
#[cfg(feature = "vectors")]
mod word_rows;
mod words;

pub use confidence::{Confidence, Evidence};
pub use document::{Document, Group};
pub use field::{Field, FieldSet};
pub use index::Index;
pub use marks::marks;
pub use ranking::{Match, Ranking, Reason};
pub use request::Request;
pub use weights::{FieldWeight, Weights};
pub use words::content_words;
