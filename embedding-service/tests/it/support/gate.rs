//! An embedder that stands still while its gate is shut: queues fill and deadlines pass without anybody's clock.

use std::{
    sync::{Arc, Condvar, Mutex},
    thread,
    time::Duration,
};

use embedding_service::embed::{Embedder, Tokeniser, bag_of_words::BagOfWords, error::EmbedError};

/// Open at first.
#[derive(Clone, Default)]
pub struct Gate(Arc<Inner>);

#[derive(Default)]
struct Inner {
    state: Mutex<State>,
    opened: Condvar,
}

#[derive(Default)]
struct State {
    shut: bool,
    waiting: usize,
}

/// The gate is shut until this is dropped, also by a failing test: a worker that stands at it could not be joined.
pub struct Shut(Gate);

impl Gate {
    pub fn shut(&self) -> Shut {
        self.0.state.lock().unwrap().shut = true;
        Shut(self.clone())
    }

    /// How many embedders stand at the gate.
    pub fn waiting(&self) -> usize {
        self.0.state.lock().unwrap().waiting
    }

    fn pass(&self) {
        let mut state = self.0.state.lock().unwrap();
        state.waiting += 1;
        let mut state = self.0.opened.wait_while(state, |state| state.shut).unwrap();
        state.waiting -= 1;
    }
}

impl Drop for Shut {
    fn drop(&mut self) {
        self.0.0.state.lock().unwrap().shut = false;
        self.0.0.opened.notify_all();
    }
}

#[derive(Clone, Default)]
pub struct Gated {
    pub gate: Gate,
    /// How long each embedding takes at least.
    pub work: Duration,
    pub inner: BagOfWords,
    /// tokens of each inference, in their order.
    pub seen: Arc<Mutex<Vec<usize>>>,
}

impl Embedder for Gated {
    fn dimension(&self) -> usize {
        self.inner.dimension()
    }

    fn tokeniser(&self) -> Arc<dyn Tokeniser> {
        self.inner.tokeniser()
    }

    fn infer(&mut self, token_ids: &[i64]) -> Result<Vec<f32>, EmbedError> {
        self.seen.lock().unwrap().push(token_ids.len());
        self.gate.pass();
        thread::sleep(self.work);
        self.inner.infer(token_ids)
    }
}
