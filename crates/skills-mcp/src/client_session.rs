//! What belongs to one client: the log level it wants, what it subscribed to, and the
//! notices it gets.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::model::{
    LoggingLevel, LoggingMessageNotificationParam, ResourceUpdatedNotificationParam,
    SubscriptionFilter,
};
use rmcp::service::{Peer, RequestContext, SubscriptionContext};
use rmcp::{ErrorData, RoleServer};
use tokio::task::AbortHandle;

use super::change_log::{ChangeLog, ChangesSince, Cursor};
use super::{Shared, error_code};

/// What one client may subscribe to; nobody reads so many.
const SUBSCRIPTIONS_MAX: usize = 10_000;
/// The longest address one may subscribe to.
const URI_MAX: usize = 4096;

/// What one stream may be about. The SDK compares each address asked for with each one
/// accepted.
const STREAM_MAX: usize = 1000;

/// What a stream is accepted to be about; the client is told.
pub fn accepted(requested: &SubscriptionFilter) -> SubscriptionFilter {
    let mut accepted = requested.clone();
    if let Some(uris) = &mut accepted.resource_subscriptions {
        uris.truncate(STREAM_MAX);
    }
    accepted
}

/// One client's side.
#[derive(Default)]
pub struct ClientSession {
    /// None until the client asks for messages.
    level: Mutex<Option<LoggingLevel>>,
    subscribed: Arc<Mutex<HashSet<String>>>,
    /// Where the log of changes was when the client arrived.
    begun: Mutex<Option<Cursor>>,
    forwarding: Mutex<Option<AbortHandle>>,
    /// Where the log was before each acknowledgement that nobody listens for yet.
    acknowledged: Mutex<Vec<Cursor>>,
}

impl Drop for ClientSession {
    fn drop(&mut self) {
        if let Some(forwarding) = lock(&self.forwarding).take() {
            forwarding.abort();
        }
    }
}

impl ClientSession {
    /// The client is here: what changes from now on concerns it.
    pub fn begin(&self, shared: &Shared) {
        *lock(&self.begun) = Some(shared.changes.here());
    }

    /// Sends notices to a client of the old lifecycle, for as long as this lives.
    pub fn follow(&self, shared: &Shared, peer: &Peer<RoleServer>) {
        let mut forwarding = lock(&self.forwarding);
        if forwarding.is_none() {
            let begun = *lock(&self.begun);
            let place = begun.unwrap_or_else(|| shared.changes.here());
            let subscribed = Arc::clone(&self.subscribed);
            let task = forward(Arc::clone(&shared.changes), place, subscribed, peer.clone());
            *forwarding = Some(tokio::spawn(task).abort_handle());
        }
    }

    /// Wants to hear when `uri` changes. One that is not there yet may come.
    pub fn subscribe(&self, uri: String) -> Result<(), ErrorData> {
        if uri.is_empty() || uri.len() > URI_MAX {
            let message = format!("uri must have 1 to {URI_MAX} bytes, not {}", uri.len());
            return Err(error_code::invalid(message));
        }
        let mut subscribed = lock(&self.subscribed);
        if subscribed.len() >= SUBSCRIPTIONS_MAX && !subscribed.contains(&uri) {
            let message =
                format!("at most {SUBSCRIPTIONS_MAX} subscriptions; unsubscribe from some");
            return Err(error_code::invalid(message));
        }
        subscribed.insert(uri);
        Ok(())
    }

    /// Wants to hear of it no more.
    pub fn unsubscribe(&self, uri: &str) {
        lock(&self.subscribed).remove(uri);
    }

    /// A client of the new lifecycle is about to be told that it is listened for. The SDK
    /// says so before [`listen`](Self::listen) runs; what changes in between counts.
    pub fn before_listening(&self, shared: &Shared) {
        lock(&self.acknowledged).push(shared.changes.here());
    }

    /// Sends notices until the client or the server has had enough.
    pub async fn listen(
        &self,
        shared: &Shared,
        context: &SubscriptionContext,
    ) -> Result<(), ErrorData> {
        let mut place = self.place_before_acknowledgement(shared);
        let wanted = context.accepted();
        let uris = wanted.resource_subscriptions.clone().unwrap_or_default();
        let sink = context.sink();
        loop {
            let (heard, end) = tokio::select! {
                () = context.cancelled() => return Ok(()),
                () = shared.stop.cancelled() => return Ok(()),
                heard = shared.changes.after(place) => heard,
            };
            place = end;
            let sent = async {
                if heard.tools && wanted.tools_list_changed == Some(true) {
                    sink.notify_tool_list_changed().await?;
                }
                if heard.prompts && wanted.prompts_list_changed == Some(true) {
                    sink.notify_prompt_list_changed().await?;
                }
                if heard.resources && wanted.resources_list_changed == Some(true) {
                    sink.notify_resource_list_changed().await?;
                }
                for uri in uris.iter().filter(|uri| heard.concerns(uri)) {
                    sink.notify_resource_updated(uri).await?;
                }
                Ok::<(), rmcp::service::SubscriptionSendError>(())
            };
            if sent.await.is_err() {
                // The client is gone.
                return Ok(());
            }
        }
    }

    /// A place that is no later than the acknowledgement of whoever asks. Listeners that
    /// start at the same time may come in another order than they were acknowledged, so
    /// the oldest place is used while the newest is crossed out.
    fn place_before_acknowledgement(&self, shared: &Shared) -> Cursor {
        let mut acknowledged = lock(&self.acknowledged);
        let oldest = acknowledged.iter().min().copied();
        acknowledged.sort_unstable();
        acknowledged.pop();
        oldest.unwrap_or_else(|| shared.changes.here())
    }

    /// The client wants messages of this level and above.
    pub fn set_level(&self, level: LoggingLevel) {
        *lock(&self.level) = Some(level);
    }

    /// Whether the client wants messages of this level about its request.
    pub fn wants(&self, context: &RequestContext<RoleServer>, level: LoggingLevel) -> bool {
        // A client of the new lifecycle says it with each request.
        let wanted = match context.meta.protocol_version() {
            Some(_) => context.meta.log_level(),
            None => *lock(&self.level),
        };
        wanted.is_some_and(|wanted| severity(level) >= severity(wanted))
    }

    /// Tells the client something about its request, if it wants to know.
    pub async fn say(
        &self,
        context: &RequestContext<RoleServer>,
        level: LoggingLevel,
        message: String,
    ) {
        if self.wants(context, level) {
            let message = LoggingMessageNotificationParam::new(level, message.into());
            // A client that is gone need not hear it.
            let _ = context
                .peer
                .notify_logging_message(message.with_logger("skills"))
                .await;
        }
    }
}

async fn forward(
    changes: Arc<ChangeLog>,
    mut place: Cursor,
    subscribed: Arc<Mutex<HashSet<String>>>,
    peer: Peer<RoleServer>,
) {
    loop {
        let (heard, end) = changes.after(place).await;
        place = end;
        if tell(&heard, &subscribed, &peer).await.is_err() {
            return;
        }
    }
}

async fn tell(
    heard: &ChangesSince,
    subscribed: &Mutex<HashSet<String>>,
    peer: &Peer<RoleServer>,
) -> Result<(), rmcp::ServiceError> {
    if heard.tools {
        peer.notify_tool_list_changed().await?;
    }
    if heard.prompts {
        peer.notify_prompt_list_changed().await?;
    }
    if heard.resources {
        peer.notify_resource_list_changed().await?;
    }
    let mut uris: Vec<String> = {
        let subscribed = lock(subscribed);
        subscribed
            .iter()
            .filter(|uri| heard.concerns(uri))
            .cloned()
            .collect()
    };
    uris.sort_unstable();
    for uri in uris {
        let notice = ResourceUpdatedNotificationParam::new(uri);
        peer.notify_resource_updated(notice).await?;
    }
    Ok(())
}

const fn severity(level: LoggingLevel) -> u8 {
    match level {
        LoggingLevel::Debug => 0,
        LoggingLevel::Info => 1,
        LoggingLevel::Notice => 2,
        LoggingLevel::Warning => 3,
        LoggingLevel::Error => 4,
        LoggingLevel::Critical => 5,
        LoggingLevel::Alert => 6,
        LoggingLevel::Emergency => 7,
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A panic elsewhere does not make these values wrong.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
