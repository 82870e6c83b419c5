//! The connection to Redis: one, shared, looked after by a task of its own. A caller never waits for a reconnection:
//! while Redis is away it gets the reason at once.

use std::{sync::Arc, time::Duration};

use redis::{
    AsyncConnectionConfig, Client, IntoConnectionInfo, ProtocolVersion, RedisError,
    aio::MultiplexedConnection, cmd,
};
use tokio::{
    sync::{Notify, watch},
    task::JoinHandle,
    time::timeout,
};

use super::{super::HistoryError, index, reply};

/// Budget of a connection attempt, with the check of the index.
const CONNECT: Duration = Duration::from_secs(2);
/// How long a sign of life may take.
const PING: Duration = Duration::from_millis(250);
/// How often one is asked for, besides whenever a command went wrong.
const PING_EVERY: Duration = Duration::from_secs(1);
/// First and longest pause between attempts to reconnect; each is twice the last.
const BACK_OFF: (Duration, Duration) = (Duration::from_millis(50), Duration::from_secs(2));

/// Where to connect and what the index must be like.
pub struct Target {
    client: Client,
    dimension: usize,
}

impl Target {
    pub fn new(url: &str, dimension: usize) -> Result<Self, HistoryError> {
        // Neither the address nor the client's message about it is passed on: there may be a password in it.
        let wrong = |e: RedisError| HistoryError::Address(e.category().to_owned());
        let info = url.into_connection_info().map_err(wrong)?;
        // The search module's replies have another shape in RESP3.
        let resp2 = info.redis_settings().clone().set_protocol(ProtocolVersion::RESP2);
        let client = Client::open(info.set_redis_settings(resp2)).map_err(wrong)?;
        Ok(Self { client, dimension })
    }

    async fn connect(&self) -> Result<MultiplexedConnection, HistoryError> {
        let config = AsyncConnectionConfig::new()
            .set_connection_timeout(Some(CONNECT))
            // Every use has a budget of its own.
            .set_response_timeout(None);
        let ready = async {
            let mut connection = self
                .client
                .get_multiplexed_async_connection_with_config(&config)
                .await
                .map_err(|e| reply::error(&e))?;
            index::ensure(&mut connection, self.dimension).await?;
            Ok(connection)
        };
        timeout(CONNECT, ready)
            .await
            .unwrap_or_else(|_| Err(HistoryError::Unreachable("no answer in time".to_owned())))
    }
}

type State = Result<MultiplexedConnection, HistoryError>;

/// The shared connection, or why there is none.
pub struct Link {
    state: watch::Receiver<State>,
    reachable: watch::Receiver<bool>,
    doubt: Arc<Notify>,
    keeper: JoinHandle<()>,
}

impl Link {
    /// Connects for the first time, and then looks after the connection until dropped.
    pub async fn open(target: Target) -> Result<Self, HistoryError> {
        let connection = target.connect().await?;
        let (reachable_tx, reachable) = watch::channel(true);
        let (state_tx, state) = watch::channel(Ok(connection));
        let doubt = Arc::new(Notify::new());
        let keeper = Keeper { target, state: state_tx, reachable: reachable_tx, doubt: Arc::clone(&doubt) };
        Ok(Self { state, reachable, doubt, keeper: tokio::spawn(keeper.run()) })
    }

    /// The connection, if Redis was there when last looked at.
    pub fn connection(&self) -> State {
        self.state.borrow().clone()
    }

    /// Tells that a command went wrong in a way that the connection or the index may be to blame for.
    pub fn doubt(&self) {
        self.doubt.notify_one();
    }

    pub fn reachable(&self) -> watch::Receiver<bool> {
        self.reachable.clone()
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        self.keeper.abort();
    }
}

struct Keeper {
    target: Target,
    state: watch::Sender<State>,
    reachable: watch::Sender<bool>,
    doubt: Arc<Notify>,
}

impl Keeper {
    async fn run(self) {
        loop {
            let trouble = self.watch_over().await;
            tracing::warn!(error = %trouble, "the prompt history is not usable");
            let _ = self.state.send_replace(Err(trouble));
            self.reachable.send_replace(false);
            let connection = self.reconnect().await;
            let _ = self.state.send_replace(Ok(connection));
            self.reachable.send_replace(true);
            tracing::info!("the prompt history is usable again");
        }
    }

    /// Returns what is wrong, as soon as something is.
    async fn watch_over(&self) -> HistoryError {
        loop {
            let doubted = timeout(PING_EVERY, self.doubt.notified()).await.is_ok();
            let state = self.state.borrow().clone();
            let mut connection = match state {
                Ok(connection) => connection,
                Err(trouble) => return trouble,
            };
            let sign = async {
                cmd("PING").query_async::<()>(&mut connection).await.map_err(|e| reply::error(&e))?;
                if doubted {
                    // Mends a dropped index without a new connection.
                    index::ensure(&mut connection, self.target.dimension).await?;
                }
                Ok(())
            };
            match timeout(PING, sign).await {
                Ok(Ok(())) => {}
                Ok(Err(trouble)) => return trouble,
                Err(_) => return HistoryError::Unreachable("no sign of life".to_owned()),
            }
        }
    }

    async fn reconnect(&self) -> MultiplexedConnection {
        let (mut pause, longest) = BACK_OFF;
        loop {
            tokio::time::sleep(pause).await;
            match self.target.connect().await {
                Ok(connection) => return connection,
                Err(trouble) => {
                    let is_news = |state: &mut State| match std::mem::replace(state, Err(trouble.clone())) {
                        Err(before) => before != trouble,
                        Ok(_) => true,
                    };
                    if self.state.send_if_modified(is_news) {
                        tracing::warn!(error = %trouble, "the prompt history is still not usable");
                    }
                }
            }
            pause = pause.saturating_mul(2).min(longest);
        }
    }
}
