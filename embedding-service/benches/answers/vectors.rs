//! Synthetic vectors, the same in every run. Each is computed from its number alone, so the bench need not keep what it stored. Two
//! vectors of one topic have a cosine of 0.36. In every fourth group of eight, the vectors are nearly alike (cosine 0.81).

use embedding_service::similarity;

/// As long as the vectors of the model that is shipped.
pub const DIMENSION: usize = 384;
const TOPICS: u64 = 64;
/// Entries of a group. One group in `NEAR_GROUPS` holds texts that say nearly the same.
const GROUP: usize = 8;
const NEAR_GROUPS: usize = 4;
/// Cosine to the topic: of an entry or, where its group says nearly the same, of the group's common vector. `OF_GROUP`: cosine of an entry
/// to that common vector.
const OF_TOPIC: f32 = 0.6;
const OF_GROUP: f32 = 0.9;

/// Kinds of random vectors. They have different seeds, so that vectors of two kinds with the same number differ.
#[derive(Clone, Copy)]
enum Kind {
    Topic,
    Group,
    Entry,
    Question,
}

pub struct Vectors {
    topics: Vec<Vec<f32>>,
}

impl Vectors {
    pub fn new() -> Self {
        Self { topics: (0..TOPICS).map(|number| random(Kind::Topic, number)).collect() }
    }

    pub fn entry(&self, number: usize) -> Vec<f32> {
        let group = number / GROUP;
        let topic = &self.topics[group % self.topics.len()];
        let own = random(Kind::Entry, number as u64);
        if group.is_multiple_of(NEAR_GROUPS) {
            let common = mixed(topic, &random(Kind::Group, group as u64), OF_TOPIC);
            mixed(&common, &own, OF_GROUP)
        } else {
            mixed(topic, &own, OF_TOPIC)
        }
    }

    /// A question whose vector has about this cosine to the entry `near`. With 0 it is about something else.
    pub fn question(&self, number: usize, near: usize, cosine: f32) -> Vec<f32> {
        mixed(&self.entry(near), &random(Kind::Question, number as u64), cosine)
    }
}

/// A unit vector whose cosine to `a` is about `cosine`: two random directions in many dimensions are nearly orthogonal.
fn mixed(a: &[f32], b: &[f32], cosine: f32) -> Vec<f32> {
    let other = (1.0 - cosine * cosine).sqrt();
    let mut vector: Vec<f32> = a.iter().zip(b).map(|(a, b)| a * cosine + b * other).collect();
    similarity::normalise(&mut vector);
    vector
}

fn random(kind: Kind, number: u64) -> Vec<f32> {
    let mut dice = Dice::new(number.wrapping_mul(4).wrapping_add(kind as u64));
    let mut vector: Vec<f32> =
        (0..DIMENSION).map(|_| dice.next() as f32 / (1_u64 << 31) as f32 - 1.0).collect();
    similarity::normalise(&mut vector);
    vector
}

/// Small and repeatable (splitmix64): nothing here needs better randomness.
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0xd134_2543_de82_ef95))
    }

    /// 32 bits.
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed >> 32
    }

    pub fn below(&mut self, limit: usize) -> usize {
        self.next() as usize % limit
    }
}
