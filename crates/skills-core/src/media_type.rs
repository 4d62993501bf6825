//! The media type of a file, by the extension of its name.

/// The type of files with an unknown extension, if they are text.
pub const PLAIN: &str = "text/plain";

/// The type of files with an unknown extension, if they are not text.
pub const BINARY: &str = "application/octet-stream";

/// The types of the files that skills bundle, in order of their extensions.
const TYPES: &[(&str, &str)] = &[
    ("bash", "application/x-sh"),
    ("c", "text/x-c"),
    ("cjs", "text/javascript"),
    ("cpp", "text/x-c"),
    ("css", "text/css"),
    ("csv", "text/csv"),
    (
        "docx",
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    ),
    ("gif", "image/gif"),
    ("go", "text/x-go"),
    ("gz", "application/gzip"),
    ("html", "text/html"),
    ("ico", "image/vnd.microsoft.icon"),
    ("java", "text/x-java"),
    ("jpeg", "image/jpeg"),
    ("jpg", "image/jpeg"),
    ("js", "text/javascript"),
    ("json", "application/json"),
    ("jsonl", "application/jsonl"),
    ("jsx", "text/javascript"),
    ("markdown", "text/markdown"),
    ("md", "text/markdown"),
    ("mdx", "text/markdown"),
    ("mjs", "text/javascript"),
    ("mp3", "audio/mpeg"),
    ("mp4", "video/mp4"),
    ("otf", "font/otf"),
    ("pdf", "application/pdf"),
    ("png", "image/png"),
    (
        "pptx",
        "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    ),
    ("py", "text/x-python"),
    ("rb", "text/x-ruby"),
    ("rs", "text/x-rust"),
    ("sh", "application/x-sh"),
    ("sql", "application/sql"),
    ("svg", "image/svg+xml"),
    ("tar", "application/x-tar"),
    ("toml", "application/toml"),
    ("ts", "text/x-typescript"),
    ("tsv", "text/tab-separated-values"),
    ("tsx", "text/x-typescript"),
    ("ttf", "font/ttf"),
    ("txt", "text/plain"),
    ("wasm", "application/wasm"),
    ("wav", "audio/wav"),
    ("webp", "image/webp"),
    ("woff", "font/woff"),
    ("woff2", "font/woff2"),
    (
        "xlsx",
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    ),
    ("xml", "application/xml"),
    ("xsd", "application/xml"),
    ("yaml", "application/yaml"),
    ("yml", "application/yaml"),
    ("zip", "application/zip"),
];

/// The media type of a file with this name; `None` if its extension is not known.
pub fn of_name(name: &str) -> Option<&'static str> {
    let (_, extension) = name.rsplit_once('.')?;
    let extension = extension.to_ascii_lowercase();
    let found = TYPES.binary_search_by(|(known, _)| (*known).cmp(&extension));
    found.ok().map(|at| TYPES[at].1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types() {
        assert!(TYPES.is_sorted_by(|a, b| a.0 < b.0));
        assert_eq!(of_name("a/SKILL.md"), Some("text/markdown"));
        assert_eq!(of_name("run.PY"), Some("text/x-python"));
        assert_eq!(of_name("logo.png"), Some("image/png"));
        assert_eq!(of_name("a.b/LICENSE"), None);
        assert_eq!(of_name("LICENSE"), None);
    }
}
