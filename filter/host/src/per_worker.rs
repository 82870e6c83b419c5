//! What all requests of one worker share.

use std::{
    cell::{OnceCell, RefCell},
    rc::Rc,
    sync::Arc,
};

use sentinel_config::Config;
use sentinel_detect::step::Memo;
use sentinel_pipeline::{
    budget::leases::Leases,
    control::Directives,
    host::{Background, Process, Secret},
    span::Span,
    turn::Turn,
    worker::Worker,
};

use crate::{
    series::{Define, Series},
    shared::{self, SECRET},
};

/// Exists once for each worker and configuration.
pub struct PerWorker {
    /// The configuration as the host was given it, without live settings.
    pub config: Arc<Config>,
    pub series: Series,
    worker: RefCell<Worker>,
    secret: OnceCell<Secret>,
}

impl PerWorker {
    /// `source`: what `config` was read from.
    pub fn new(config: Config, source: &[u8], define: Define) -> Self {
        let config = Arc::new(config);
        let worker = RefCell::new(Worker::new(Arc::clone(&config), source));
        Self { config, series: Series::declared(define), worker, secret: OnceCell::new() }
    }

    /// The configuration for new requests.
    pub fn current(&self) -> Arc<Config> {
        self.worker.try_borrow().map_or_else(|_| Arc::clone(&self.config), |worker| worker.config())
    }

    /// How often `with` is to be called with `Worker::on_tick`, in milliseconds. Returns `None` when it need not be.
    pub fn tick(&self) -> Option<u64> {
        self.worker.try_borrow().ok().and_then(|worker| worker.tick())
    }

    /// A warning for whoever configures the filter.
    pub fn warning(&self) -> Option<&'static str> {
        self.worker.try_borrow().ok().and_then(|worker| worker.warning())
    }

    /// An event of the worker.
    pub fn with<B: Background>(&self, host: &mut B, event: impl FnOnce(&mut Worker, &mut B)) {
        if let Ok(mut worker) = self.worker.try_borrow_mut() {
            event(&mut worker, host);
        }
    }

    pub fn secret(&self, process: &dyn Process) -> Secret {
        let stored = || shared::secret(process.load(SECRET).bytes.as_deref()).unwrap_or_default();
        *self.secret.get_or_init(stored)
    }

    pub fn memo(&self) -> Rc<Memo> {
        self.worker.try_borrow().map(|worker| worker.memo()).unwrap_or_default()
    }

    pub fn directives(&self) -> Rc<Directives> {
        self.worker.try_borrow().map(|worker| worker.directives()).unwrap_or_default()
    }

    pub fn leases(&self) -> Rc<Leases> {
        self.worker.try_borrow().map(|worker| worker.leases()).unwrap_or_default()
    }

    pub fn trace(&self, spans: Vec<Span>) {
        if let Ok(mut worker) = self.worker.try_borrow_mut() {
            worker.trace(spans);
        }
    }

    pub fn report(&self, turn: Turn) -> u64 {
        self.worker.try_borrow_mut().map_or(0, |mut worker| worker.report(turn))
    }
}
