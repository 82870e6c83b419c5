//! One text on two threads. Each thread takes half of the rows through the layers. Rows need each other only in
//! attention, so the threads exchange only keys and values, once in each layer. The result is the same, to the bit, as
//! on one thread.
//!
//! This module does not know which thread the other is: the caller of `Encoder::run` finds it.

use std::sync::{
    Arc,
    mpsc::{Receiver, Sender, TryRecvError, channel},
};

use crate::{
    attention::PeerKeysValues,
    error::{OrBroken as _, ShapeError},
    layer::{Layer, Scratch},
    processor::Processor,
};

/// How often a thread polls for the other's message before it sleeps. Both finish at about the same time, so spinning for that long is
/// quicker than being woken.
const SPINS: usize = 1000;

/// Why a thread cannot go on with its rows.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The other thread has gone, and its rows with it.
    PeerGone,
    Shape(ShapeError),
}

impl From<ShapeError> for Failure {
    fn from(error: ShapeError) -> Self {
        Self::Shape(error)
    }
}

/// Which of a text's rows a thread has.
#[derive(Clone, Copy, Debug)]
enum Part {
    First,
    Second,
}

/// Half of a text's work, for a thread that has nothing else to do.
pub struct Helper {
    layers: Arc<[Layer]>,
    processor: Processor,
    owner: Peer,
}

impl Helper {
    /// Works until the text is done; returns soon if it is done already.
    pub fn work(mut self, scratch: &mut Scratch) {
        // If this fails, the text's own thread notices that its helper has gone, computes the text alone, and reports what is wrong.
        let _ = self.run(scratch);
    }

    fn run(&mut self, scratch: &mut Scratch) -> Result<(), Failure> {
        let Self { layers, processor, owner } = self;
        owner.send(Message::default())?;
        let Message { layer, mut values } = owner.receive()?;
        for layer in layers.iter().skip(layer) {
            owner.forward(layer, *processor, scratch, &mut values)?;
        }
        owner.send(Message { layer: 0, values })
    }
}

/// A helper that may come, as the text's own thread sees it.
pub(crate) struct PendingHelper(Peer);

impl PendingHelper {
    /// A helper, and what the text's own thread keeps.
    pub(crate) fn new(layers: &Arc<[Layer]>, processor: Processor) -> (Helper, Self) {
        let ((to_helper, from_owner), (to_owner, from_helper)) = (channel(), channel());
        let peer = |part, to, from| Peer { part, to, from, keys_values: Vec::new() };
        let owner = peer(Part::Second, to_owner, from_owner);
        let helper = Helper { layers: Arc::clone(layers), processor, owner };
        (helper, Self(peer(Part::First, to_helper, from_helper)))
    }

    /// Whether the helper is there and waits for its rows.
    pub(crate) fn is_ready(&self) -> bool {
        self.0.from.try_recv().is_ok()
    }

    /// Gives the helper the second half of `rows`, of `hidden` values each, before the layer of that number.
    pub(crate) fn give_rows(self, layer: usize, rows: &mut Vec<f32>, hidden: usize) -> Result<Peer, Failure> {
        let first = (rows.len() / hidden).div_ceil(2) * hidden;
        self.0.send(Message { layer, values: rows.split_off(first) })?;
        Ok(self.0)
    }
}

/// The helper's rows (at its start and at its end), or keys and values.
#[derive(Default)]
struct Message {
    /// The layer with which the helper begins.
    layer: usize,
    values: Vec<f32>,
}

/// The thread with the other rows.
pub(crate) struct Peer {
    /// Ours.
    part: Part,
    to: Sender<Message>,
    from: Receiver<Message>,
    /// Its keys and values, when they have come; the memory goes back with ours.
    keys_values: Vec<f32>,
}

impl Peer {
    /// Takes our rows through a layer, and exchanges keys and values.
    pub(crate) fn forward(
        &mut self,
        layer: &Layer,
        processor: Processor,
        scratch: &mut Scratch,
        rows: &mut [f32],
    ) -> Result<(), Failure> {
        layer.project_qkv(processor, scratch, rows)?;
        self.keys_values.clear();
        for row in scratch.wide.chunks_exact(3 * layer.hidden()) {
            let keys_values = row.get(layer.hidden()..).or_broken("a row has no keys and values")?;
            self.keys_values.extend_from_slice(keys_values);
        }
        let values = std::mem::take(&mut self.keys_values);
        self.send(Message { layer: 0, values })?;
        self.keys_values = self.receive()?.values;
        let peer = match self.part {
            Part::First => PeerKeysValues { before: &[], after: &self.keys_values },
            Part::Second => PeerKeysValues { before: &self.keys_values, after: &[] },
        };
        Ok(layer.attend_and_feed_forward(processor, scratch, rows, peer)?)
    }

    /// Puts its rows after ours, after the last layer.
    pub(crate) fn take_rows_back(self, rows: &mut Vec<f32>) -> Result<(), Failure> {
        rows.append(&mut self.receive()?.values);
        Ok(())
    }

    fn send(&self, message: Message) -> Result<(), Failure> {
        self.to.send(message).map_err(|_| Failure::PeerGone)
    }

    fn receive(&self) -> Result<Message, Failure> {
        for _ in 0..SPINS {
            match self.from.try_recv() {
                Ok(message) => return Ok(message),
                Err(TryRecvError::Disconnected) => return Err(Failure::PeerGone),
                Err(TryRecvError::Empty) => std::hint::spin_loop(),
            }
        }
        self.from.recv().map_err(|_| Failure::PeerGone)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Encoder, Linear, NormWeights, Tables, Weights};

    const HIDDEN: usize = 96;

    /// Layers whose weights are nothing: what matters here is who takes the rows through them.
    fn encoder() -> Encoder {
        let (bytes, floats) = (vec![0_i8; 3 * HIDDEN * HIDDEN], vec![1.0_f32; 3 * HIDDEN]);
        let of = |outputs: usize| Linear {
            weight: &bytes[..HIDDEN * outputs],
            scale: &floats[..outputs],
            bias: &floats[..outputs],
        };
        let norm = NormWeights { scale: &floats[..HIDDEN], shift: &floats[..HIDDEN] };
        let weights = Weights {
            hidden: HIDDEN,
            heads: 3,
            intermediate: HIDDEN,
            qkv_smoothing: &floats[..HIDDEN],
            qkv: of(3 * HIDDEN),
            attention_output: of(HIDDEN),
            attention_norm: norm,
            up_smoothing: &floats[..HIDDEN],
            up: of(HIDDEN),
            down: of(HIDDEN),
            output_norm: norm,
            epsilon: 1e-12,
        };
        Encoder::new(&norm, &[weights; 4]).unwrap()
    }

    /// What a text comes to if `help` is what its helper does, before the text goes on.
    fn mean(help: impl Fn(Helper) + Send + Sync) -> Vec<f32> {
        let words: Vec<f32> = (0..40 * HIDDEN).map(|at| (at * at % 97) as f32).collect();
        let tables = Tables { words: &words, positions: &words };
        let mut mean = vec![0.0; HIDDEN];
        std::thread::scope(|threads| {
            let ask = &mut |helper| {
                threads.spawn(|| help(helper));
                true
            };
            let token_ids: Vec<i64> = (0..40).collect();
            let scratch = &mut Scratch::default();
            encoder().run(Processor::portable(), scratch, &tables, &token_ids, &mut mean, ask).unwrap();
        });
        mean
    }

    #[test]
    fn a_text_whose_helper_goes_with_its_rows_is_done_again() {
        let wanted = mean(drop);
        assert!(wanted.iter().all(|x| x.is_finite()));
        let goes_with_rows = |helper: Helper| {
            let _ = helper.owner.send(Message::default());
            // Too late, or the rows have come: they are lost.
            let _ = helper.owner.receive();
        };
        let goes_after_a_layer = |helper: Helper| {
            let Helper { layers, processor, mut owner } = helper;
            let _ = owner.send(Message::default());
            if let (Ok(Message { layer, mut values }), scratch) = (owner.receive(), &mut Scratch::default()) {
                let _ = owner.forward(&layers[layer], processor, scratch, &mut values);
            }
        };
        for _ in 0..50 {
            assert_eq!(mean(goes_with_rows), wanted);
            assert_eq!(mean(goes_after_a_layer), wanted);
        }
    }
}
