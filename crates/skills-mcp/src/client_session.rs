//! The state of one client's session: its log level, its subscriptions, and the notifications that
//! it is sent.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::model::{
    Implementation, LoggingLevel, LoggingMessageNotificationParam,
    ResourceUpdatedNotificationParam, SubscriptionFilter,
};
use rmcp::service::{Peer, RequestContext, SubscriptionContext};
use rmcp::{ErrorData, RoleServer};
use tokio::task::AbortHandle;

use super::change_log::{ChangeLog, ChangesSince, Cursor};
use super::clients::ConnectedClient;
use super::limits::{MAX_LISTEN_URIS, MAX_SUBSCRIPTIONS, MAX_URI_BYTES};
use super::{Shared, error_code};

/// The part of a requested filter that is accepted; the SDK sends it to the client.
pub fn accepted_filter(requested: &SubscriptionFilter) -> SubscriptionFilter {
    let mut accepted = requested.clone();
    if let Some(uris) = &mut accepted.resource_subscriptions {
        uris.truncate(MAX_LISTEN_URIS);
    }
    accepted
}

/// The state of one client's session.
#[derive(Default)]
pub struct ClientSession {
    /// `None` until the client sets a level: it gets no log messages.
    level: Mutex<Option<LoggingLevel>>,
    subscribed: Arc<Mutex<HashSet<String>>>,
    /// The end of the change log when the client initialized the session.
    started: Mutex<Option<Cursor>>,
    forwarding: Mutex<Option<AbortHandle>>,
    /// The end of the change log at each accepted `subscriptions/listen` that does not run yet.
    accepted: Mutex<Vec<Cursor>>,
    /// The client, from `initialize` until the session is dropped.
    client: Mutex<Option<ConnectedClient>>,
}

impl Drop for ClientSession {
    fn drop(&mut self) {
        if let Some(forwarding) = lock(&self.forwarding).take() {
            forwarding.abort();
        }
    }
}

impl ClientSession {
    /// Starts the session: the client is notified of changes from now on.
    pub fn start(&self, shared: &Shared, client: &Implementation) {
        *lock(&self.started) = Some(shared.changes.end());
        let mut connected = lock(&self.client);
        // The first one leaves before the second comes.
        *connected = None;
        *connected = Some(shared.clients.connected(client));
    }

    /// Records a request: since 2026-07-28 each one names its client.
    pub fn request(&self, shared: &Shared, context: &RequestContext<RoleServer>) {
        if lock(&self.client).is_none()
            && let Some(client) = context.meta.client_info()
        {
            shared.clients.seen(&client);
        }
    }

    /// Sends changes to a client of a version before 2026-07-28 until the session is dropped.
    pub fn forward_changes(&self, shared: &Shared, peer: &Peer<RoleServer>) {
        let mut forwarding = lock(&self.forwarding);
        if forwarding.is_none() {
            let started = *lock(&self.started);
            let cursor = started.unwrap_or_else(|| shared.changes.end());
            let subscribed = Arc::clone(&self.subscribed);
            let task = forward(
                Arc::clone(&shared.changes),
                cursor,
                subscribed,
                peer.clone(),
            );
            *forwarding = Some(tokio::spawn(task).abort_handle());
        }
    }

    /// Subscribes to changes of `uri`, which need not exist yet.
    pub fn subscribe(&self, uri: String) -> Result<(), ErrorData> {
        if uri.is_empty() || uri.len() > MAX_URI_BYTES {
            let message = format!(
                "uri must have 1 to {MAX_URI_BYTES} bytes, not {}",
                uri.len()
            );
            return Err(error_code::invalid(message));
        }
        let mut subscribed = lock(&self.subscribed);
        if subscribed.len() >= MAX_SUBSCRIPTIONS && !subscribed.contains(&uri) {
            let message =
                format!("at most {MAX_SUBSCRIPTIONS} subscriptions; unsubscribe from some");
            return Err(error_code::invalid(message));
        }
        subscribed.insert(uri);
        Ok(())
    }

    /// Ends a subscription.
    pub fn unsubscribe(&self, uri: &str) {
        lock(&self.subscribed).remove(uri);
    }

    /// Records that a `subscriptions/listen` was accepted. The SDK acknowledges it before
    /// [`listen`](Self::listen) runs, and changes in between must not be lost.
    pub fn listen_accepted(&self, shared: &Shared) {
        lock(&self.accepted).push(shared.changes.end());
    }

    /// Sends changes to a client of 2026-07-28 or newer until the client or the server ends it.
    pub async fn listen(
        &self,
        shared: &Shared,
        context: &SubscriptionContext,
    ) -> Result<(), ErrorData> {
        let mut cursor = self.cursor_before_acknowledgement(shared);
        let filter = context.accepted();
        let uris = filter.resource_subscriptions.clone().unwrap_or_default();
        let sink = context.sink();
        loop {
            let (changes, end) = tokio::select! {
                () = context.cancelled() => return Ok(()),
                () = shared.stop.cancelled() => return Ok(()),
                changes = shared.changes.after(cursor) => changes,
            };
            cursor = end;
            let sent = async {
                if changes.tools && filter.tools_list_changed == Some(true) {
                    sink.notify_tool_list_changed().await?;
                }
                if changes.prompts && filter.prompts_list_changed == Some(true) {
                    sink.notify_prompt_list_changed().await?;
                }
                if changes.resources && filter.resources_list_changed == Some(true) {
                    sink.notify_resource_list_changed().await?;
                }
                for uri in uris.iter().filter(|uri| changes.includes(uri)) {
                    sink.notify_resource_updated(uri).await?;
                }
                Ok::<(), rmcp::service::SubscriptionSendError>(())
            };
            if sent.await.is_err() {
                // The client has disconnected.
                return Ok(());
            }
        }
    }

    /// A cursor no later than the acknowledgement of the `subscriptions/listen` that calls this.
    /// Concurrent ones may run in another order than they were accepted, so this returns the oldest
    /// cursor and removes the newest.
    fn cursor_before_acknowledgement(&self, shared: &Shared) -> Cursor {
        let mut accepted = lock(&self.accepted);
        accepted.sort_unstable();
        let oldest = accepted.first().copied();
        accepted.pop();
        oldest.unwrap_or_else(|| shared.changes.end())
    }

    /// Sets the lowest level of log messages that the client gets.
    pub fn set_level(&self, level: LoggingLevel) {
        *lock(&self.level) = Some(level);
    }

    /// Whether the client gets log messages of this level about its request.
    pub fn logs(&self, context: &RequestContext<RoleServer>, level: LoggingLevel) -> bool {
        // Since 2026-07-28 each request carries the level.
        let lowest = match context.meta.protocol_version() {
            Some(_) => context.meta.log_level(),
            None => *lock(&self.level),
        };
        lowest.is_some_and(|lowest| severity(level) >= severity(lowest))
    }

    /// Sends a log message about the client's request, if its level allows.
    pub async fn log(
        &self,
        context: &RequestContext<RoleServer>,
        level: LoggingLevel,
        message: String,
    ) {
        if self.logs(context, level) {
            let message = LoggingMessageNotificationParam::new(level, message.into());
            let message = message.with_logger("skills");
            // Fails only if the client has disconnected.
            let _ = context.peer.notify_logging_message(message).await;
        }
    }
}

async fn forward(
    log: Arc<ChangeLog>,
    mut cursor: Cursor,
    subscribed: Arc<Mutex<HashSet<String>>>,
    peer: Peer<RoleServer>,
) {
    loop {
        let (changes, end) = log.after(cursor).await;
        cursor = end;
        if notify(&changes, &subscribed, &peer).await.is_err() {
            return;
        }
    }
}

async fn notify(
    changes: &ChangesSince,
    subscribed: &Mutex<HashSet<String>>,
    peer: &Peer<RoleServer>,
) -> Result<(), rmcp::ServiceError> {
    if changes.tools {
        peer.notify_tool_list_changed().await?;
    }
    if changes.prompts {
        peer.notify_prompt_list_changed().await?;
    }
    if changes.resources {
        peer.notify_resource_list_changed().await?;
    }
    let mut uris: Vec<String> = {
        let subscribed = lock(subscribed);
        let updated = subscribed.iter().filter(|uri| changes.includes(uri));
        updated.cloned().collect()
    };
    uris.sort_unstable();
    for uri in uris {
        let updated = ResourceUpdatedNotificationParam::new(uri);
        peer.notify_resource_updated(updated).await?;
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
    // No value is left half-written by a panic.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
