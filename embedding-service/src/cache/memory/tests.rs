use super::*;
use crate::cache::{Owner, StoredQuestion};

/// As long as the vectors of the model that is shipped.
const DIMENSION: usize = 384;

const HOUR: Duration = Duration::from_secs(3600);
const PARTITION: Partition = Partition([7; 16]);

fn entry(text: &str, answer: &str) -> Entry {
    Entry {
        partition: PARTITION,
        id: EntryId::of(text),
        owner: Owner::default(),
        asked: Some(StoredQuestion { text: text.to_owned(), vector: Arc::from([1.0, 0.0]), unseen: None }),
        answer: answer.to_owned().into(),
        stored_at: 0,
        observations: Observations::default(),
    }
}

#[tokio::test]
async fn any_number_of_answers_stays_within_the_bound_and_the_latest_survive() {
    let store = MemoryAnswers::new(Duration::from_secs(3600), 100_000);
    for i in 0..1_000 {
        store.store(&entry(&i.to_string(), &"x".repeat(1000)), HOUR).await.unwrap();
        assert!(store.bytes() <= 100_000);
    }
    let exact = |text: &str| store.exact(PARTITION, EntryId::of(text));
    assert!(exact("999").await.unwrap().is_some() && exact("0").await.unwrap().is_none());
    assert!((20..100).contains(&store.count().await.unwrap()));
    store.erase(&Erase::All).await.unwrap();
    let inner = store.lock();
    assert_eq!((inner.bytes, inner.partitions.len(), inner.by_end.len()), (0, 0, 0));
}

#[tokio::test]
async fn an_answer_larger_than_the_bound_is_not_kept_and_pushes_nothing_out() {
    let store = MemoryAnswers::new(Duration::from_secs(3600), 5_000);
    store.store(&entry("small", "x"), HOUR).await.unwrap();
    store.store(&entry("large", &"x".repeat(10_000)), HOUR).await.unwrap();
    assert_eq!(store.count().await.unwrap(), 1);
    store.store(&entry("small", &"x".repeat(10_000)), HOUR).await.unwrap();
    assert_eq!((store.count().await.unwrap(), store.bytes()), (0, 0), "nor is the answer that it replaces");
}

/// Repeatable random unit vectors.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 33
    }

    fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.next()).unwrap().checked_rem(limit).unwrap()
    }

    fn vector(&mut self) -> Vec<f32> {
        #[allow(clippy::cast_precision_loss)] // any number will do
        let mut vector: Vec<f32> =
            (0..DIMENSION).map(|_| self.next() as f32 / (1_u64 << 30) as f32 - 1.0).collect();
        similarity::normalise(&mut vector);
        vector
    }

    /// Has the cosine `near` with `vector`, or nearly.
    fn near(&mut self, vector: &[f32], near: f32) -> Vec<f32> {
        let other = (1.0 - near * near).sqrt();
        let mut mixed: Vec<f32> =
            vector.iter().zip(self.vector()).map(|(a, b)| a * near + b * other).collect();
        similarity::normalise(&mut mixed);
        mixed
    }
}

fn with_vector(text: &str, vector: &[f32]) -> Entry {
    let asked = StoredQuestion { text: text.to_owned(), vector: Arc::from(vector), unseen: None };
    Entry { asked: Some(asked), ..entry(text, text) }
}

/// Names of the entries whose vectors come nearest, by comparing with all.
fn by_brute_force(entries: &HashMap<String, Vec<f32>>, asked: &[f32], count: usize) -> Vec<String> {
    let mut all: Vec<(f64, &String)> =
        entries.iter().map(|(text, vector)| (similarity::of_vectors(asked, vector), text)).collect();
    all.sort_by(|a, b| b.0.total_cmp(&a.0));
    all.into_iter().take(count).map(|(_, text)| text.clone()).collect()
}

async fn nearest(store: &MemoryAnswers, asked: &[f32], count: usize) -> Vec<String> {
    let near = store.nearest(PARTITION, asked, count).await.unwrap();
    near.into_iter().map(|near| near.entry.asked.unwrap().text).collect()
}

/// Groups of eight texts that say nearly the same (cosine 0.81), all on one topic (0.36), are the hard case: more than
/// are compared exactly are near, and the nearest is among seven that are nearly as near.
#[tokio::test]
async fn of_a_large_partition_the_nearest_is_found() {
    let store = MemoryAnswers::new(HOUR, 64 << 20);
    let (mut dice, mut entries) = (Dice(1), HashMap::new());
    let topic = dice.vector();
    for group in 0..200 {
        let common = dice.near(&topic, 0.6);
        for member in 0..8 {
            let (text, vector) = (format!("{group}/{member}"), dice.near(&common, 0.9));
            store.store(&with_vector(&text, &vector), HOUR).await.unwrap();
            entries.insert(text, vector);
        }
    }
    for question in 0..60 {
        // Cosine 0.75 is the default threshold; what comes only so near is the hardest to find.
        let near = [0.75, 0.8, 0.9, 0.99][question % 4];
        let target = format!("{}/{}", dice.below(200), dice.below(8));
        let asked = dice.near(&entries[&target], near);
        assert_eq!(
            nearest(&store, &asked, 1).await,
            by_brute_force(&entries, &asked, 1),
            "question {question}, cosine {near}"
        );
    }
    assert_eq!(nearest(&store, &topic, 300).await.len(), 300, "as many as are wanted");
}

/// Up to [`MAX_COMPARED`] entries nothing is left to chance, whatever came and went before.
#[tokio::test]
async fn what_went_is_never_near_and_what_stayed_is() {
    let store = MemoryAnswers::new(HOUR, 64 << 20);
    let (mut dice, mut entries) = (Dice(2), HashMap::new());
    for step in 0..2_000 {
        let text = dice.below(300).to_string();
        if dice.below(2) == 0 {
            let gone = store.erase(&Erase::Entry(PARTITION, EntryId::of(&text))).await.unwrap();
            assert_eq!(gone == 1, entries.remove(&text).is_some());
        } else {
            let vector = dice.vector();
            store.store(&with_vector(&text, &vector), HOUR).await.unwrap();
            entries.insert(text, vector);
        }
        assert!(entries.len() <= MAX_COMPARED);
        if step % 50 == 0 {
            let asked = dice.vector();
            assert_eq!(nearest(&store, &asked, 5).await, by_brute_force(&entries, &asked, 5));
        }
    }
}
