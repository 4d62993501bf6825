//! The stylesheet, the script and the icon. Each has a hash of its content in its address, so
//! that a browser keeps it until it changes.

use std::sync::LazyLock;

use axum::body::{Body, Bytes};
use axum::extract::Path;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use flate2::Compression;
use skills_core::Digest;

use crate::compress::{accepts_gzip, bytes_gzip};
use crate::response::plain_not_found;

/// Where they are.
pub const FOLDER: &str = "/assets/";
/// The stylesheet.
pub static STYLE: LazyLock<Asset> = LazyLock::new(|| {
    Asset::new(
        "style",
        "css",
        "text/css; charset=utf-8",
        include_str!("../assets/style.css"),
    )
});
/// The script: one module of several files.
pub static SCRIPT: LazyLock<Asset> = LazyLock::new(|| {
    let text = concat!(
        include_str!("../assets/page.js"),
        include_str!("../assets/live.js"),
        include_str!("../assets/editor.js"),
        include_str!("../assets/search.js"),
        include_str!("../assets/forms.js"),
    );
    Asset::new("page", "js", "text/javascript; charset=utf-8", text)
});
/// The icon.
pub static ICON: LazyLock<Asset> = LazyLock::new(|| {
    Asset::new(
        "icon",
        "svg",
        "image/svg+xml",
        include_str!("../assets/icon.svg"),
    )
});

/// A file inside the binary.
pub struct Asset {
    name: String,
    kind: &'static str,
    text: &'static str,
    compressed: Bytes,
}

impl Asset {
    fn new(stem: &str, extension: &str, kind: &'static str, text: &'static str) -> Self {
        let digest = Digest::of(text.as_bytes()).to_string();
        let hash = digest.trim_start_matches("sha256:").get(..16);
        Self {
            name: format!("{stem}-{}.{extension}", hash.unwrap_or_default()),
            kind,
            text,
            compressed: bytes_gzip(text.as_bytes(), Compression::best()).into(),
        }
    }

    /// Its address.
    pub fn address(&self) -> String {
        format!("{FOLDER}{}", self.name)
    }
}

/// `GET /assets/{name}`.
pub async fn serve(Path(name): Path<String>, headers: HeaderMap) -> Response {
    let assets = [&*STYLE, &*SCRIPT, &*ICON];
    let Some(asset) = assets.into_iter().find(|asset| asset.name == name) else {
        return plain_not_found();
    };
    let mut response = if accepts_gzip(&headers) {
        let encoding = (header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        ([encoding], Body::from(asset.compressed.clone())).into_response()
    } else {
        asset.text.into_response()
    };
    let headers = response.headers_mut();
    for (name, value) in [
        (header::CONTENT_TYPE, asset.kind),
        (header::CACHE_CONTROL, "public, max-age=31536000, immutable"),
        (header::VARY, "accept-encoding"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}
