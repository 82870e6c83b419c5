//! The connection to Redis: one, shared, looked after by a task of its own. A caller never waits for a reconnection:
//! while Redis is away it gets the reason at once.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use tokio::{
    sync::{Notify, watch},
    task::JoinHandle,
    time::{sleep, timeout},
};

use super::{
    super::HistoryError,
    connection::Connection,
    fit::Fit,
    reply,
    target::{CONNECT, Target},
};

/// How long a sign of life may take, unless callers have even less time.
const PING: Duration = Duration::from_millis(250);
/// So many in a row must fail before Redis counts as lost: one late answer is nothing.
const PINGS: u32 = 3;
/// How often one is asked for, besides whenever a command went wrong.
const PING_EVERY: Duration = Duration::from_secs(1);
/// First and longest pause between attempts to reconnect; each is twice the last.
const BACK_OFF: (Duration, Duration) = (Duration::from_millis(50), Duration::from_secs(2));

type State = Result<Connection, HistoryError>;

/// The shared connection, or why there is none.
pub struct Link {
    state: watch::Receiver<State>,
    reachable: watch::Receiver<bool>,
    doubts: Arc<Doubts>,
    keeper: JoinHandle<()>,
}

/// What callers have told the keeper.
#[derive(Default)]
struct Doubts {
    told: Notify,
    /// The server is there but is the wrong one.
    replica: AtomicBool,
}

impl Link {
    /// Connects for the first time, and then looks after the connection until dropped. `budget` is what callers have.
    pub async fn open(target: Target, fit: Fit, budget: Duration) -> Result<Self, HistoryError> {
        let connection = connect(&target, &fit).await?;
        let (reachable_tx, reachable) = watch::channel(true);
        let (state_tx, state) = watch::channel(Ok(connection));
        let doubts = Arc::<Doubts>::default();
        let keeper = Keeper {
            target,
            fit,
            budget,
            state: state_tx,
            reachable: reachable_tx,
            doubts: Arc::clone(&doubts),
        };
        Ok(Self { state, reachable, doubts, keeper: tokio::spawn(keeper.run()) })
    }

    /// The connection, if Redis was there when last looked at.
    pub fn connection(&self) -> State {
        self.state.borrow().clone()
    }

    /// Tells that a command went wrong, so that what may be to blame for it is looked at.
    pub fn doubt(&self, error: &HistoryError) {
        match error {
            HistoryError::Refused(_) | HistoryError::Full => return,
            HistoryError::Replica => self.doubts.replica.store(true, Ordering::Relaxed),
            _ => {}
        }
        self.doubts.told.notify_one();
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

/// A connection to a Redis that fits.
async fn connect(target: &Target, fit: &Fit) -> State {
    let mut connection = target.connect().await?;
    timeout(CONNECT, fit.check(&mut connection)).await.unwrap_or_else(|_| Err(target.late()))?;
    Ok(connection)
}

struct Keeper {
    target: Target,
    fit: Fit,
    budget: Duration,
    state: watch::Sender<State>,
    reachable: watch::Sender<bool>,
    doubts: Arc<Doubts>,
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
        let mut was_replica = false;
        loop {
            let doubted = timeout(PING_EVERY, self.doubts.told.notified()).await.is_ok();
            let replica = self.doubts.replica.swap(false, Ordering::Relaxed);
            if replica {
                if !was_replica {
                    tracing::warn!(error = %HistoryError::Replica, "prompts are not stored");
                }
                self.look_for_primary().await;
            }
            was_replica = replica;
            let mut connection = match self.state.borrow().clone() {
                Ok(connection) => connection,
                Err(trouble) => return trouble,
            };
            if let Err(trouble) = self.sign_of_life(&mut connection).await {
                return trouble;
            }
            if !doubted {
                continue;
            }
            // Mends a dropped index without a new connection. Other trouble with it comes and goes; signs of life tell
            // whether Redis is there.
            if let Ok(Err(trouble @ HistoryError::IndexUnfit { .. })) =
                timeout(CONNECT, self.fit.index(&mut connection)).await
            {
                return trouble;
            }
        }
    }

    async fn sign_of_life(&self, connection: &mut Connection) -> Result<(), HistoryError> {
        let budget = self.budget.min(PING);
        let mut trouble = HistoryError::Slow(budget);
        for _ in 0..PINGS {
            match timeout(budget, connection.ping()).await {
                Ok(Ok(())) => return Ok(()),
                Ok(Err(e)) => trouble = reply::error(&e),
                Err(_) => trouble = HistoryError::Slow(budget),
            }
        }
        Err(trouble)
    }

    /// Replaces the connection by one to whatever the address leads to now. Until then, and if that fails, what the
    /// replica has is read.
    async fn look_for_primary(&self) {
        if let Ok(connection) = connect(&self.target, &self.fit).await {
            let _ = self.state.send_replace(Ok(connection));
        }
        // Should it still be a replica, the next write says so; that must not become a storm.
        sleep(PING_EVERY).await;
    }

    async fn reconnect(&self) -> Connection {
        let (mut pause, longest) = BACK_OFF;
        loop {
            sleep(pause).await;
            let attempt = async {
                let mut connection = connect(&self.target, &self.fit).await?;
                // One that takes connections and then answers too late is of no use.
                self.sign_of_life(&mut connection).await?;
                Ok(connection)
            };
            match attempt.await {
                Ok(connection) => return connection,
                Err(trouble) => self.tell(trouble),
            }
            pause = pause.saturating_mul(2).min(longest);
        }
    }

    fn tell(&self, trouble: HistoryError) {
        let is_news = |state: &mut State| match std::mem::replace(state, Err(trouble.clone())) {
            Err(before) => before != trouble,
            Ok(_) => true,
        };
        if self.state.send_if_modified(is_news) {
            tracing::warn!(error = %trouble, "the prompt history is still not usable");
        }
    }
}
