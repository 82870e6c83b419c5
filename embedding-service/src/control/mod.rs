//! Control: every run of every agent, as Envoy's workers report them; stops, budgets and live settings, which operators set and all
//! workers obey; and the HTTP interface for all of it.
//!
//! | module | what is in it |
//! |---|---|
//! | [`store`] | documents with versions and bounded logs, in memory or in Redis |
//! | [`mirror`] | all documents of one kind, kept up to date in this process |
//! | [`ingest`], [`turn`], [`run`] | reports of turns become runs |
//! | [`runs`] | lists of runs and agents |
//! | [`stops`] | what must not go on |
//! | [`workers`] | who reports |
//! | [`budgets`] | what may be spent |
//! | [`configurations`], [`live`], [`effective`] | what workers were configured with, what was changed since, and what of both acts |
//! | [`events`], [`webhooks`] | what happened, and telling it |
//! | [`prices`], [`names`], [`clock`] | what these need |
//! | [`service`] | the gRPC calls of workers |
//! | [`api`] | HTTP and JSON for operators |

pub mod api;
pub mod budgets;
pub mod clock;
pub mod configurations;
pub mod effective;
pub mod events;
pub mod ingest;
pub mod live;
pub mod mirror;
pub mod names;
pub mod options;
pub mod prices;
pub mod run;
pub mod runs;
pub mod service;
pub mod stops;
pub mod store;
pub mod turn;
pub mod webhooks;
pub mod workers;

use std::{sync::Arc, time::Duration};

use tokio::task::JoinHandle;

use self::{
    budgets::Budgets,
    configurations::Configurations,
    effective::Effective,
    ingest::{Ingest, IngestOptions},
    live::Live,
    options::ControlOptions,
    prices::Prices,
    runs::Runs,
    stops::Stops,
    store::{ControlStore, MemoryControl, RedisControl},
    webhooks::Webhook,
    workers::Workers,
};
use crate::{history::open::StoreOptions, metrics::Metrics};

/// How often the list of runs is brought up to date while nobody asks for it.
const REFRESH: Duration = Duration::from_secs(5);

/// All of control.
pub struct Control {
    pub ingest: Ingest,
    pub runs: Runs,
    pub stops: Stops,
    pub configurations: Arc<Configurations>,
    pub live: Arc<Live>,
    pub budgets: Budgets,
    pub workers: Workers,
    pub store: Arc<dyn ControlStore>,
    /// Those who follow the events.
    pub readers: Arc<tokio::sync::Semaphore>,
}

impl Control {
    /// Control with a store.
    #[must_use]
    pub fn new(store: Arc<dyn ControlStore>, options: &ControlOptions) -> Self {
        let prices = Arc::<Prices>::default();
        let configurations = Arc::new(Configurations::new(Arc::clone(&store)));
        let live = Arc::new(Live::new(Arc::clone(&store), Arc::clone(&configurations), options.events));
        let effective = Arc::new(Effective::new(Arc::clone(&configurations), Arc::clone(&live)));
        let budgets = Budgets::new(Arc::clone(&store), Arc::clone(&prices), effective, options.events);
        let ingest = IngestOptions { run_ttl: options.run_ttl, turns: options.turns, events: options.events };
        Self {
            ingest: Ingest::new(Arc::clone(&store), prices, ingest),
            runs: Runs::new(Arc::clone(&store), options.idle),
            stops: Stops::new(Arc::clone(&store)),
            configurations,
            live,
            budgets,
            workers: Workers::default(),
            readers: Arc::new(tokio::sync::Semaphore::new(api::MOST_READERS)),
            store,
        }
    }

    /// Control with the store that the service uses.
    pub async fn open(store: &StoreOptions, options: &ControlOptions) -> Arc<Self> {
        let store: Arc<dyn ControlStore> = match store {
            StoreOptions::Memory { .. } => Arc::new(MemoryControl::new(options.max_bytes)),
            StoreOptions::Redis(redis) => Arc::new(RedisControl::open(redis).await),
        };
        Arc::new(Self::new(store, options))
    }

    /// Sends events by webhook, where one is wanted.
    pub fn send_events(&self, options: &ControlOptions, metrics: Arc<Metrics>) -> Option<JoinHandle<()>> {
        let webhook = Webhook::new(Arc::clone(&self.store), options.webhook.clone()?, metrics);
        Some(tokio::spawn(webhook.run()))
    }

    /// Keeps the list of runs near what it is, so that the first who asks does not wait.
    pub fn keep_fresh(self: &Arc<Self>) -> JoinHandle<()> {
        let control = Arc::clone(self);
        tokio::spawn(async move {
            loop {
                if let Err(error) = control.runs.refresh(REFRESH).await {
                    tracing::debug!(%error, "the list of runs is as old as it was");
                }
                tokio::time::sleep(REFRESH).await;
            }
        })
    }
}
