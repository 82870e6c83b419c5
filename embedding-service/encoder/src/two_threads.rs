//! A text in two halves, each with a thread that takes its rows through the layers. Rows meet only in attention, so all
//! that the threads tell each other is keys and values, once a layer; each row gets the bits that it gets alone.
//!
//! Knows nothing of who the other thread is: that is for the caller of [`Encoder::run`] to find.

use std::sync::{
    Arc,
    mpsc::{Receiver, Sender, TryRecvError, channel},
};

use crate::{Encoder, Processor, Scratch, attention::Others, layer::Layer};

/// How often a thread looks for what the other sends before it lets go of its processor: halves are done at about the same
/// time, and to be woken takes longer than to wait for that.
const LOOKS: usize = 1000;

/// The other thread has gone, and its rows with it.
#[derive(Debug)]
pub(crate) struct Gone;

/// Which half of a text's rows.
#[derive(Clone, Copy, Debug)]
enum Half {
    First,
    Second,
}

/// What a thread that has nothing else to do can help a text's own thread with.
pub struct Helper {
    encoder: Arc<Encoder>,
    processor: Processor,
    other: Other,
}

impl Helper {
    /// Works until the text is done; returns soon if it is done already.
    pub fn work(mut self, scratch: &mut Scratch) {
        // An end of the other thread is the end of the text.
        let _ = self.run(scratch);
    }

    fn run(&mut self, scratch: &mut Scratch) -> Result<(), Gone> {
        let Self { encoder, processor, other } = self;
        other.send(Parcel::default())?;
        let Parcel { layer, mut values } = other.receive()?;
        for layer in encoder.layers().iter().skip(layer) {
            other.share(layer, *processor, scratch, &mut values)?;
        }
        other.send(Parcel { layer: 0, values })
    }
}

/// A helper, and the end of the line to it that the text's own thread holds.
pub(crate) fn helper(encoder: &Arc<Encoder>, processor: Processor) -> (Helper, Caller) {
    let ((to_helper, from_owner), (to_owner, from_helper)) = (channel(), channel());
    let other = |half, to, from| Other { half, to, from, keys: Vec::new() };
    let helper =
        Helper { encoder: Arc::clone(encoder), processor, other: other(Half::Second, to_owner, from_owner) };
    (helper, Caller(other(Half::First, to_helper, from_helper)))
}

/// A helper that may come.
pub(crate) struct Caller(Other);

impl Caller {
    /// Whether the helper is there and waits for its rows.
    pub(crate) fn is_answered(&self) -> bool {
        self.0.from.try_recv().is_ok()
    }

    /// Gives the helper the second half of `rows`, of `hidden` values each, before the layer of that number.
    pub(crate) fn divide(self, layer: usize, rows: &mut Vec<f32>, hidden: usize) -> Result<Other, Gone> {
        let first = (rows.len() / hidden).div_ceil(2) * hidden;
        self.0.send(Parcel { layer, values: rows.split_off(first) })?;
        Ok(self.0)
    }
}

/// The rows with which the helper begins and ends, or keys and values of its half.
#[derive(Default)]
struct Parcel {
    /// The number of the one with which to begin.
    layer: usize,
    values: Vec<f32>,
}

/// The line to the thread with the other half.
pub(crate) struct Other {
    /// Our half.
    half: Half,
    to: Sender<Parcel>,
    from: Receiver<Parcel>,
    /// The other's keys and values, when they have come; goes back with ours.
    keys: Vec<f32>,
}

impl Other {
    /// Takes our rows through a layer.
    pub(crate) fn share(
        &mut self,
        layer: &Layer,
        processor: Processor,
        scratch: &mut Scratch,
        rows: &mut [f32],
    ) -> Result<(), Gone> {
        layer.look(processor, scratch, rows);
        self.keys.clear();
        for row in scratch.wide.chunks_exact(3 * layer.hidden()) {
            self.keys.extend_from_slice(row.get(layer.hidden()..).unwrap_or_default());
        }
        let values = std::mem::take(&mut self.keys);
        self.send(Parcel { layer: 0, values })?;
        self.keys = self.receive()?.values;
        let others = match self.half {
            Half::First => Others { before: &[], after: &self.keys },
            Half::Second => Others { before: &self.keys, after: &[] },
        };
        layer.finish(processor, scratch, rows, others);
        Ok(())
    }

    /// Puts the other's rows after ours, after the last layer.
    pub(crate) fn unite(self, rows: &mut Vec<f32>) -> Result<(), Gone> {
        rows.append(&mut self.receive()?.values);
        Ok(())
    }

    fn send(&self, parcel: Parcel) -> Result<(), Gone> {
        self.to.send(parcel).map_err(|_| Gone)
    }

    fn receive(&self) -> Result<Parcel, Gone> {
        for _ in 0..LOOKS {
            match self.from.try_recv() {
                Ok(parcel) => return Ok(parcel),
                Err(TryRecvError::Disconnected) => return Err(Gone),
                Err(TryRecvError::Empty) => std::hint::spin_loop(),
            }
        }
        self.from.recv().map_err(|_| Gone)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Affine, Linear, Tables, Weights};

    const HIDDEN: usize = 96;

    /// Layers whose weights are nothing: what matters here is who takes the rows through them.
    fn encoder() -> Arc<Encoder> {
        let (bytes, floats) = (vec![0_i8; 3 * HIDDEN * HIDDEN], vec![1.0_f32; 3 * HIDDEN]);
        let of = |outputs: usize| Linear {
            weight: &bytes[..HIDDEN * outputs],
            scale: &floats[..outputs],
            bias: &floats[..outputs],
        };
        let affine = Affine { scale: &floats[..HIDDEN], shift: &floats[..HIDDEN] };
        let weights = Weights {
            hidden: HIDDEN,
            heads: 3,
            wide: HIDDEN,
            qkv_factors: &floats[..HIDDEN],
            qkv: of(3 * HIDDEN),
            out: of(HIDDEN),
            attended: affine,
            widen_factors: &floats[..HIDDEN],
            widen: of(HIDDEN),
            narrow: of(HIDDEN),
            done: affine,
            epsilon: 1e-12,
        };
        Arc::new(Encoder::new(&affine, &[weights; 4]).unwrap())
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
            let pieces: Vec<i64> = (0..40).collect();
            let scratch = &mut Scratch::default();
            encoder().run(Processor::plain(), scratch, &tables, &pieces, &mut mean, ask).unwrap();
        });
        mean
    }

    #[test]
    fn a_text_whose_helper_goes_with_its_rows_is_done_again() {
        let wanted = mean(drop);
        assert!(wanted.iter().all(|x| x.is_finite()));
        let goes_with_rows = |helper: Helper| {
            let _ = helper.other.send(Parcel::default());
            // Too late, or the rows have come: they are lost.
            let _ = helper.other.receive();
        };
        let goes_after_a_layer = |helper: Helper| {
            let Helper { encoder, processor, mut other } = helper;
            let _ = other.send(Parcel::default());
            if let (Ok(Parcel { layer, mut values }), scratch) = (other.receive(), &mut Scratch::default()) {
                let _ = other.share(&encoder.layers()[layer], processor, scratch, &mut values);
            }
        };
        for _ in 0..50 {
            assert_eq!(mean(goes_with_rows), wanted);
            assert_eq!(mean(goes_after_a_layer), wanted);
        }
    }
}
