//! Turns a panic in a request handler into an error response, so that the client does not wait
//! forever for one.

use std::panic::AssertUnwindSafe;

use futures_util::FutureExt;
use rmcp::ErrorData;

/// The output of `work`, or an internal error if `work` panicked.
pub async fn catch_panic<T>(
    work: impl Future<Output = Result<T, ErrorData>>,
) -> Result<T, ErrorData> {
    let result = AssertUnwindSafe(work).catch_unwind().await;
    // The panic hook has logged the message and the place.
    result.unwrap_or_else(|_| {
        let message = "the server panicked; its log on stderr shows where";
        Err(ErrorData::internal_error(message, None))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn broken() -> Result<(), ErrorData> {
        panic!("on purpose")
    }

    #[tokio::test]
    async fn a_panic_is_an_internal_error() {
        let work = async {
            tokio::task::yield_now().await;
            broken()
        };
        let error = catch_panic(work).await.unwrap_err();
        assert_eq!(error.code.0, -32603);
    }
}
