//! The connection to Redis: one, shared, supervised by a task of its own. A caller never waits for a reconnection:
//! while Redis is away it gets the reason at once.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use redis::{Cmd, FromRedisValue, Pipeline, RedisError};
use tokio::{
    sync::{Notify, watch},
    task::JoinHandle,
    time::{sleep, timeout},
};

use super::{
    super::StoreError,
    connection::Connection,
    endpoint::{CONNECT_TIMEOUT, Endpoint},
    error::store_error,
    requirements::Requirements,
};

/// How long a ping may take, unless callers have even less time.
const PING_TIMEOUT: Duration = Duration::from_millis(250);
/// Redis counts as lost when this many pings in a row have failed. One late answer is no loss.
const PING_ATTEMPTS: u32 = 3;
/// How often one is asked for, besides whenever a command has failed.
const PING_INTERVAL: Duration = Duration::from_secs(1);
/// First and longest pause between attempts to reconnect; each is twice the last.
const RECONNECT_PAUSES: (Duration, Duration) = (Duration::from_millis(50), Duration::from_secs(2));

type State = Result<Connection, StoreError>;

/// The shared connection, or why there is none.
pub struct SupervisedConnection {
    state: watch::Receiver<State>,
    reachable: watch::Receiver<bool>,
    failures: Arc<Failures>,
    supervisor: JoinHandle<()>,
}

/// What callers have reported to the supervisor.
#[derive(Default)]
struct Failures {
    reported: Notify,
    /// A write was refused by a replica: the server is there but is the wrong one.
    by_replica: AtomicBool,
}

impl SupervisedConnection {
    /// Connects for the first time, and then looks after the connection until dropped. `budget` is what callers have.
    /// `store`: how the log names what is stored there.
    pub async fn open(
        store: &'static str,
        endpoint: Endpoint,
        requirements: Requirements,
        budget: Duration,
    ) -> Result<Self, StoreError> {
        let connection = connect(&endpoint, &requirements).await?;
        let (reachable_tx, reachable) = watch::channel(true);
        let (state_tx, state) = watch::channel(Ok(connection));
        let failures = Arc::<Failures>::default();
        let supervisor = Supervisor {
            store,
            endpoint,
            requirements,
            budget,
            state: state_tx,
            reachable: reachable_tx,
            failures: Arc::clone(&failures),
        };
        Ok(Self { state, reachable, failures, supervisor: tokio::spawn(supervisor.run()) })
    }

    /// The connection, if Redis was there when last looked at.
    pub fn current(&self) -> State {
        self.state.borrow().clone()
    }

    /// Asks, and waits for the reply for so long at most. A failure is reported.
    ///
    /// # Errors
    /// When there is no connection, no reply in time, or one that says what was wrong.
    pub async fn ask<T: FromRedisValue>(&self, command: &Cmd, within: Duration) -> Result<T, StoreError> {
        let mut connection = self.current()?;
        self.reply(command.query_async(&mut connection), within).await
    }

    /// Asks for several things at once.
    ///
    /// # Errors
    /// As [`Self::ask`].
    pub async fn ask_all<T: FromRedisValue>(
        &self,
        commands: &Pipeline,
        within: Duration,
    ) -> Result<T, StoreError> {
        let mut connection = self.current()?;
        self.reply(commands.query_async(&mut connection), within).await
    }

    async fn reply<T>(
        &self,
        reply: impl Future<Output = Result<T, RedisError>>,
        within: Duration,
    ) -> Result<T, StoreError> {
        let error = match timeout(within, reply).await {
            Ok(Ok(value)) => return Ok(value),
            Ok(Err(e)) => store_error(&e),
            Err(_) => StoreError::Slow(within),
        };
        self.report_failure(&error);
        Err(error)
    }

    /// Reports that a command has failed, so that what may be to blame for it is looked at.
    fn report_failure(&self, error: &StoreError) {
        match error {
            StoreError::Refused(_) | StoreError::Full => return,
            StoreError::Replica => self.failures.by_replica.store(true, Ordering::Relaxed),
            _ => {}
        }
        self.failures.reported.notify_one();
    }

    pub fn reachable(&self) -> watch::Receiver<bool> {
        self.reachable.clone()
    }
}

impl Drop for SupervisedConnection {
    fn drop(&mut self) {
        self.supervisor.abort();
    }
}

/// A connection to a Redis that meets the requirements.
async fn connect(endpoint: &Endpoint, requirements: &Requirements) -> State {
    let mut connection = endpoint.connect().await?;
    let checked = timeout(CONNECT_TIMEOUT, requirements.check(&mut connection)).await;
    checked.unwrap_or_else(|_| Err(endpoint.timed_out()))?;
    Ok(connection)
}

struct Supervisor {
    store: &'static str,
    endpoint: Endpoint,
    requirements: Requirements,
    budget: Duration,
    state: watch::Sender<State>,
    reachable: watch::Sender<bool>,
    failures: Arc<Failures>,
}

impl Supervisor {
    async fn run(self) {
        loop {
            let error = self.until_unusable().await;
            tracing::warn!(error = %error, "the {} is not usable", self.store);
            let _ = self.state.send_replace(Err(error));
            self.reachable.send_replace(false);
            let connection = self.reconnect().await;
            let _ = self.state.send_replace(Ok(connection));
            self.reachable.send_replace(true);
            tracing::info!("the {} is usable again", self.store);
        }
    }

    /// Returns what is wrong, as soon as something is.
    async fn until_unusable(&self) -> StoreError {
        let mut was_replica = false;
        loop {
            let reported = timeout(PING_INTERVAL, self.failures.reported.notified()).await.is_ok();
            let replica = self.failures.by_replica.swap(false, Ordering::Relaxed);
            if replica {
                if !was_replica {
                    tracing::warn!(error = %StoreError::Replica, "the {} takes nothing", self.store);
                }
                self.look_for_primary().await;
            }
            was_replica = replica;
            let mut connection = match self.state.borrow().clone() {
                Ok(connection) => connection,
                Err(error) => return error,
            };
            if let Err(error) = self.ping(&mut connection).await {
                return error;
            }
            if !reported {
                continue;
            }
            // Mends a dropped index without a new connection. Other errors of it come and go; pings tell
            // whether Redis is there.
            if let Ok(Err(error @ StoreError::IndexUnfit { .. })) =
                timeout(CONNECT_TIMEOUT, self.requirements.ensure_index(&mut connection)).await
            {
                return error;
            }
        }
    }

    async fn ping(&self, connection: &mut Connection) -> Result<(), StoreError> {
        let budget = self.budget.min(PING_TIMEOUT);
        let mut error = StoreError::Slow(budget);
        for _ in 0..PING_ATTEMPTS {
            match timeout(budget, connection.ping()).await {
                Ok(Ok(())) => return Ok(()),
                Ok(Err(e)) => error = store_error(&e),
                Err(_) => error = StoreError::Slow(budget),
            }
        }
        Err(error)
    }

    /// Replaces the connection by one to whatever the address leads to now. Until then, and if that fails, what the
    /// replica has is read.
    async fn look_for_primary(&self) {
        if let Ok(connection) = connect(&self.endpoint, &self.requirements).await {
            let _ = self.state.send_replace(Ok(connection));
        }
        // If the new connection leads to a replica again, the next write shows it. The pause keeps that from becoming a storm.
        sleep(PING_INTERVAL).await;
    }

    async fn reconnect(&self) -> Connection {
        let (mut pause, longest) = RECONNECT_PAUSES;
        loop {
            sleep(pause).await;
            let attempt = async {
                let mut connection = connect(&self.endpoint, &self.requirements).await?;
                // One that takes connections and then answers too late is of no use.
                self.ping(&mut connection).await?;
                Ok(connection)
            };
            match attempt.await {
                Ok(connection) => return connection,
                Err(error) => self.log_once(error),
            }
            pause = pause.saturating_mul(2).min(longest);
        }
    }

    fn log_once(&self, error: StoreError) {
        let is_news = |state: &mut State| match std::mem::replace(state, Err(error.clone())) {
            Err(before) => before != error,
            Ok(_) => true,
        };
        if self.state.send_if_modified(is_news) {
            tracing::warn!(error = %error, "the {} is still not usable", self.store);
        }
    }
}
