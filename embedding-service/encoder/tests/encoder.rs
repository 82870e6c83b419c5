//! A layer and an encoder against the same in plain double precision, and against themselves on every processor.

// Lints for the service's own code: a test may panic.
#![allow(clippy::arithmetic_side_effects, clippy::indexing_slicing, clippy::unwrap_used)]

use sentinel_encoder::{
    Encoder, Helper, Layer, Linear, NormWeights, Processor, Scratch, ShapeError, Tables, Weights,
};

const EPSILON: f32 = 1e-12;

/// Numbers that look random and are the same on every run.
struct Numbers(u64);

impl Numbers {
    /// From -1 to 1.
    fn float(&mut self) -> f32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 40) as f32 / (1 << 23) as f32 - 1.0
    }

    fn floats(&mut self, count: usize, middle: f32, reach: f32) -> Vec<f32> {
        (0..count).map(|_| middle + reach * self.float()).collect()
    }
}

struct Product {
    weight: Vec<i8>,
    scale: Vec<f32>,
    bias: Vec<f32>,
}

impl Product {
    fn new(numbers: &mut Numbers, inputs: usize, outputs: usize) -> Self {
        Self {
            weight: (0..inputs * outputs).map(|_| (numbers.float() * 127.0).round() as i8).collect(),
            scale: numbers.floats(outputs, 0.0012, 0.0004),
            bias: numbers.floats(outputs, 0.0, 0.1),
        }
    }

    fn linear(&self) -> Linear<'_> {
        Linear { weight: &self.weight, scale: &self.scale, bias: &self.bias }
    }

    fn exactly(&self, row: &[f64]) -> Vec<f64> {
        let outputs = self.bias.len();
        let sum = |column: usize| -> f64 {
            row.iter().enumerate().map(|(at, x)| x * f64::from(self.weight[at * outputs + column])).sum()
        };
        (0..outputs).map(|at| sum(at) * f64::from(self.scale[at]) + f64::from(self.bias[at])).collect()
    }
}

/// Owns what [`Weights`] borrows.
struct Model {
    hidden: usize,
    heads: usize,
    factors: [Vec<f32>; 2],
    products: [Product; 4],
    norms: [[Vec<f32>; 2]; 2],
}

impl Model {
    fn new(hidden: usize, heads: usize, wide: usize) -> Self {
        let numbers = &mut Numbers(7);
        Self {
            hidden,
            heads,
            factors: [(); 2].map(|()| numbers.floats(hidden, 1.0, 0.5)),
            products: [(hidden, 3 * hidden), (hidden, hidden), (hidden, wide), (wide, hidden)]
                .map(|(inputs, outputs)| Product::new(numbers, inputs, outputs)),
            norms: [(); 2].map(|()| [numbers.floats(hidden, 1.0, 0.3), numbers.floats(hidden, 0.0, 0.3)]),
        }
    }

    fn weights(&self) -> Weights<'_> {
        let [qkv, attention_output, up, down] = &self.products;
        let [attention_norm, output_norm] =
            self.norms.each_ref().map(|[scale, shift]| NormWeights { scale, shift });
        Weights {
            hidden: self.hidden,
            heads: self.heads,
            intermediate: up.bias.len(),
            qkv_smoothing: &self.factors[0],
            qkv: qkv.linear(),
            attention_output: attention_output.linear(),
            attention_norm,
            up_smoothing: &self.factors[1],
            up: up.linear(),
            down: down.linear(),
            output_norm,
            epsilon: EPSILON,
        }
    }

    fn rows(&self, count: usize) -> Vec<f32> {
        Numbers(count as u64).floats(count * self.hidden, 0.0, 1.5)
    }

    /// What the layer approximates.
    fn exactly(&self, rows: &[f32]) -> Vec<f64> {
        let (hidden, size) = (self.hidden, self.hidden / self.heads);
        let [qkv, attention_output, up, down] = &self.products;
        let times = |row: &[f64], factors: &[f32]| -> Vec<f64> {
            row.iter().zip(factors).map(|(x, factor)| x * f64::from(*factor)).collect()
        };
        let rows: Vec<Vec<f64>> =
            rows.chunks(hidden).map(|row| row.iter().map(|x| f64::from(*x)).collect()).collect();
        let all: Vec<Vec<f64>> = rows.iter().map(|row| qkv.exactly(&times(row, &self.factors[0]))).collect();
        let context = |query: &[f64]| -> Vec<f64> {
            let mut context = vec![0.0; hidden];
            for first in (0..hidden).step_by(size) {
                let dot = |key: &[f64]| -> f64 {
                    (first..first + size).map(|at| query[at] * key[hidden + at]).sum()
                };
                let shares: Vec<f64> = all.iter().map(|key| dot(key).exp()).collect();
                let total: f64 = shares.iter().sum();
                for (share, value) in shares.iter().zip(&all) {
                    for at in first..first + size {
                        context[at] += share / total * value[2 * hidden + at];
                    }
                }
            }
            context
        };
        let gelu = |x: f64| 0.5 * x * (1.0 + (0.797_884_560_8 * (x + 0.044_715 * x.powi(3))).tanh());
        let layer = |(row, query): (&Vec<f64>, &Vec<f64>)| {
            let attended = normalised(row, &attention_output.exactly(&context(query)), &self.norms[0]);
            let wide = up.exactly(&times(&attended, &self.factors[1]));
            let narrow = down.exactly(&wide.into_iter().map(gelu).collect::<Vec<_>>());
            normalised(&attended, &narrow, &self.norms[1])
        };
        rows.iter().zip(&all).flat_map(layer).collect()
    }
}

/// The sum of both rows with mean 0 and variance 1, scaled and shifted.
fn normalised(row: &[f64], more: &[f64], [scale, shift]: &[Vec<f32>; 2]) -> Vec<f64> {
    let sum: Vec<f64> = row.iter().zip(more).map(|(x, y)| x + y).collect();
    let mean = sum.iter().sum::<f64>() / sum.len() as f64;
    let variance = sum.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / sum.len() as f64;
    let flat = sum.iter().map(|x| (x - mean) / (variance + f64::from(EPSILON)).sqrt());
    flat.zip(scale.iter().zip(shift))
        .map(|(x, (scale, shift))| x * f64::from(*scale) + f64::from(*shift))
        .collect()
}

fn processor() -> Processor {
    Processor::fastest().unwrap_or(Processor::portable())
}

fn run(layer: &Layer, processor: Processor, rows: &[f32]) -> Vec<f32> {
    let mut result = rows.to_vec();
    layer.forward(processor, &mut Scratch::default(), &mut result).unwrap();
    result
}

#[test]
fn a_layer_is_near_the_same_in_double_precision() {
    for (hidden, heads, wide) in [(96, 3, 192), (192, 3, 48)] {
        let model = Model::new(hidden, heads, wide);
        let layer = Layer::new(&model.weights()).unwrap();
        for count in [1, 5, 16, 21] {
            let rows = model.rows(count);
            let (got, wanted) = (run(&layer, processor(), &rows), model.exactly(&rows));
            assert_eq!(got.len(), wanted.len());
            for (got, wanted) in got.chunks(hidden).zip(wanted.chunks(hidden)) {
                let length = |row: &[f64]| row.iter().map(|x| x * x).sum::<f64>().sqrt();
                let off: Vec<f64> =
                    got.iter().zip(wanted).map(|(got, wanted)| f64::from(*got) - wanted).collect();
                assert!(
                    length(&off) < 0.04 * length(wanted),
                    "{count} rows of {hidden}: {}",
                    length(&off) / length(wanted)
                );
            }
        }
    }
}

#[test]
fn every_processor_gives_the_same_bits_for_any_number_of_rows() {
    let model = Model::new(96, 3, 192);
    let layer = Layer::new(&model.weights()).unwrap();
    for count in (0..=20).chain([33, 64]) {
        let rows = model.rows(count);
        let wanted = run(&layer, Processor::portable(), &rows);
        for fast in Processor::accelerated() {
            assert_eq!(run(&layer, fast, &rows), wanted, "{count} rows, {fast:?}");
        }
    }
}

/// `make arm64` says which ways an emulated processor has. Without this a way that is not found would be compared with nothing.
#[test]
fn the_ways_of_computing_are_those_that_the_processor_is_said_to_have() {
    let found: Vec<String> = Processor::accelerated().iter().map(ToString::to_string).collect();
    if let Ok(said) = std::env::var("SENTINEL_PROCESSORS") {
        assert_eq!(found.join(", "), said);
    }
    let fastest = Processor::fastest().map(|processor| processor.to_string());
    assert_eq!(fastest.as_ref(), found.first());
    assert!(!cfg!(target_arch = "aarch64") || found.last().is_some_and(|last| last == "NEON"));
}

#[test]
fn what_was_computed_before_leaves_no_trace() {
    let model = Model::new(96, 3, 192);
    let layer = Layer::new(&model.weights()).unwrap();
    let rows = model.rows(11);
    let mut scratch = Scratch::default();
    let mut again = |count: usize| {
        let mut rows = model.rows(count);
        layer.forward(processor(), &mut scratch, &mut rows).unwrap();
        rows
    };
    again(40);
    again(3);
    assert_eq!(again(11), run(&layer, processor(), &rows));
}

#[test]
fn rows_of_equal_values_and_of_large_ones_stay_finite() {
    let model = Model::new(96, 3, 192);
    let layer = Layer::new(&model.weights()).unwrap();
    for value in [0.0, -3.0, 1e4, -1e-30] {
        let rows = vec![value; 2 * 96];
        assert!(run(&layer, processor(), &rows).iter().all(|x| x.is_finite()), "{value}");
    }
}

#[test]
fn weights_that_do_not_fit_are_refused() {
    let model = Model::new(96, 3, 192);
    let refused = |change: fn(&mut Weights<'_>)| {
        let mut weights = model.weights();
        change(&mut weights);
        Layer::new(&weights).unwrap_err().to_string()
    };
    assert_eq!(
        refused(|weights| weights.heads = 5),
        "96 values in 5 heads; a head must have 32 or 64 of them"
    );
    assert_eq!(
        refused(|weights| weights.heads = 0),
        "96 values in 0 heads; a head must have 32 or 64 of them"
    );
    assert_eq!(refused(|weights| weights.intermediate = 96), "up has 18432 values, not 9216");
    assert_eq!(
        refused(|weights| weights.attention_output.bias = &[]),
        "the attention output has 0 values, not 96"
    );
    assert_eq!(
        refused(|weights| weights.output_norm.shift = &[0.0; 4]),
        "the last norm has 4 values, not 96"
    );
    let layer = Layer::new(&model.weights()).unwrap();
    let error = layer.forward(processor(), &mut Scratch::default(), &mut [0.0; 97]).unwrap_err();
    assert_eq!(error, ShapeError::Rows { got: 97, hidden: 96 });
    let narrow = Model::new(96, 3, 40);
    assert_eq!(
        Layer::new(&narrow.weights()).unwrap_err().to_string(),
        "up is 96 by 40; inputs must be a multiple of 16 up to 65000, outputs a multiple of 48"
    );
}

const WORDS: usize = 7;
const POSITIONS: usize = 40;
const LAYERS: usize = 3;

/// Some layers, and what stands before them.
struct Stack {
    model: Model,
    first: [Vec<f32>; 2],
    words: Vec<f32>,
    positions: Vec<f32>,
}

impl Stack {
    fn new() -> Self {
        let (model, numbers) = (Model::new(96, 3, 192), &mut Numbers(3));
        let first = [numbers.floats(96, 1.0, 0.3), numbers.floats(96, 0.0, 0.3)];
        let [words, positions] = [WORDS, POSITIONS].map(|rows| numbers.floats(rows * 96, 0.0, 1.0));
        Self { model, first, words, positions }
    }

    fn encoder(&self) -> Encoder {
        let [scale, shift] = &self.first;
        Encoder::new(&NormWeights { scale, shift }, &[self.model.weights(); LAYERS]).unwrap()
    }

    fn mean(&self, processor: Processor, token_ids: &[i64]) -> Result<Vec<f32>, ShapeError> {
        self.mean_with(processor, token_ids, &mut |_| false)
    }

    fn mean_with(
        &self,
        processor: Processor,
        token_ids: &[i64],
        ask: &mut dyn FnMut(Helper) -> bool,
    ) -> Result<Vec<f32>, ShapeError> {
        let (encoder, scratch) = (self.encoder(), &mut Scratch::default());
        let tables = Tables { words: &self.words, positions: &self.positions };
        let mut mean = vec![f32::NAN; 96];
        encoder.run(processor, scratch, &tables, token_ids, &mut mean, ask)?;
        Ok(mean)
    }
}

/// As many token_ids, all of them words.
fn token_ids(count: usize) -> Vec<i64> {
    (0..count).map(|at| (at * at % WORDS) as i64).collect()
}

#[test]
fn an_encoder_is_its_layers_one_after_the_other() {
    let stack = Stack::new();
    let token_ids = [3_i64, 0, 6, 3];
    let row = |table: &[f32], at: usize| -> Vec<f64> {
        table[at * 96..][..96].iter().map(|x| f64::from(*x)).collect()
    };
    let first = token_ids.iter().enumerate().flat_map(|(at, id)| {
        normalised(&row(&stack.words, *id as usize), &row(&stack.positions, at), &stack.first)
    });
    let mut rows: Vec<f32> = first.map(|x| x as f32).collect();
    let layer = Layer::new(&stack.model.weights()).unwrap();
    for _ in 0..LAYERS {
        rows = run(&layer, processor(), &rows);
    }
    let mean = stack.mean(processor(), &token_ids).unwrap();
    for (at, mean) in mean.iter().enumerate() {
        let wanted = rows.iter().skip(at).step_by(96).sum::<f32>() / token_ids.len() as f32;
        // The first norm is in single precision there, which may round one byte of the layers' inputs otherwise.
        assert!((mean - wanted).abs() < 0.01, "{at}: {mean} {wanted}");
    }
    for fast in Processor::accelerated() {
        assert_eq!(
            stack.mean(fast, &token_ids).unwrap(),
            stack.mean(Processor::portable(), &token_ids).unwrap()
        );
    }
}

/// The threads that do what a text's own thread asks for.
fn with_helpers(
    work: impl Fn(Helper) + Copy + Send + Sync,
    run: impl FnOnce(&mut dyn FnMut(Helper) -> bool) -> Vec<f32>,
) -> (Vec<f32>, usize) {
    let mut asked = 0;
    let got = std::thread::scope(|threads| {
        run(&mut |helper| {
            asked += 1;
            threads.spawn(move || work(helper));
            true
        })
    });
    (got, asked)
}

#[test]
fn with_help_or_without_the_mean_has_the_same_bits() {
    let stack = Stack::new();
    for count in [16, 17, 18, 23, 31, 32, 40] {
        let token_ids = token_ids(count);
        let wanted = stack.mean(processor(), &token_ids).unwrap();
        // A helper comes when it comes: before the second layer, before the third, or too late.
        for _ in 0..50 {
            let (got, asked) = with_helpers(
                |helper| helper.work(&mut Scratch::default()),
                |ask| stack.mean_with(processor(), &token_ids, ask).unwrap(),
            );
            assert_eq!((got, asked), (wanted.clone(), 1), "{count} token_ids");
        }
    }
}

#[test]
fn a_helper_that_never_comes_or_goes_at_once_is_done_without() {
    let stack = Stack::new();
    let token_ids = token_ids(30);
    let wanted = stack.mean(processor(), &token_ids).unwrap();
    let mut kept = Vec::new();
    let busy = stack.mean_with(processor(), &token_ids, &mut |helper| {
        kept.push(helper);
        true
    });
    assert_eq!(busy.unwrap(), wanted);
    kept.into_iter().for_each(|helper| helper.work(&mut Scratch::default()));
    let (got, _) = with_helpers(drop, |ask| stack.mean_with(processor(), &token_ids, ask).unwrap());
    assert_eq!(got, wanted);
}

#[test]
fn where_nobody_is_free_each_layer_asks_again_but_the_last() {
    let stack = Stack::new();
    let mut asked = 0;
    let mut count = |token_ids: &[i64]| {
        asked = 0;
        stack
            .mean_with(processor(), token_ids, &mut |_| {
                asked += 1;
                false
            })
            .unwrap();
        asked
    };
    assert_eq!(count(&token_ids(30)), LAYERS - 1);
    assert_eq!(count(&token_ids(15)), 0, "too short to be worth it");
}

#[test]
fn what_is_no_text_is_refused() {
    let stack = Stack::new();
    for (token_ids, complaint) in [
        (&[][..], "0 tokens; there must be 1 to 40"),
        (&[1; 41], "41 tokens; there must be 1 to 40"),
        (&[2, 7], "7 is no token id; there are 7"),
        (&[-1], "-1 is no token id; there are 7"),
        (&[i64::MAX], "9223372036854775807 is no token id; there are 7"),
    ] {
        assert_eq!(stack.mean(processor(), token_ids).unwrap_err().to_string(), complaint);
    }
    let tables = Tables { words: &stack.words, positions: &stack.positions };
    let (encoder, scratch) = (stack.encoder(), &mut Scratch::default());
    let short = encoder.run(processor(), scratch, &tables, &[1], &mut [0.0; 95], &mut |_| false);
    assert_eq!(short.unwrap_err().to_string(), "the mean has 96 values, not 95");
}

#[test]
fn an_encoder_of_no_or_of_unlike_layers_is_refused() {
    let (small, large) = (Model::new(96, 3, 192), Model::new(192, 3, 48));
    let [scale, shift] = &small.norms[0];
    let refused =
        |layers: &[Weights<'_>]| Encoder::new(&NormWeights { scale, shift }, layers).unwrap_err().to_string();
    assert_eq!(refused(&[]), "an encoder has at least one layer");
    assert_eq!(refused(&[small.weights(), large.weights()]), "a layer has rows of 192 values, another of 96");
    assert_eq!(refused(&[large.weights()]), "the first norm has 96 values, not 192");
}
