//! Workers that have nothing to do help those that have.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
        mpsc::{self, Sender},
    },
    thread,
};

use embedding_service::{
    embed::{
        Embedder, IdleWorkers, Tokeniser,
        bag_of_words::BagOfWords,
        error::EmbedError,
        model_files::ModelFiles,
        onnx::{OnnxEmbedder, Runtime},
        pool::{Pool, PoolOptions},
    },
    metrics::Metrics,
};
use sentinel_encoder::Processor;

use crate::support::{library, model};

fn start<E: Embedder>(workers: usize, make: impl Fn() -> E + Send + Sync + 'static) -> Pool {
    let size = PoolOptions { workers, queue_length: 16, cache_bytes: 0 };
    Pool::start(size, Arc::<Metrics>::default(), move || Ok(make())).unwrap()
}

/// What an [`Asker`] does when it has the other workers.
type Ask = Arc<dyn Fn(&dyn IdleWorkers) + Send + Sync>;

/// Asks the others for assistance with every text, but for the warm-up.
#[derive(Clone)]
struct Asker {
    ask: Ask,
    workers: Option<Arc<dyn IdleWorkers>>,
    inner: BagOfWords,
}

impl Asker {
    fn new(ask: impl Fn(&dyn IdleWorkers) + Send + Sync + 'static) -> Self {
        Self { ask: Arc::new(ask), workers: None, inner: BagOfWords::default() }
    }
}

impl Embedder for Asker {
    fn dimension(&self) -> usize {
        self.inner.dimension()
    }

    fn tokeniser(&self) -> Arc<dyn Tokeniser> {
        self.inner.tokeniser()
    }

    fn set_idle_workers(&mut self, workers: Arc<dyn IdleWorkers>) {
        self.workers = Some(workers);
    }

    fn infer(&mut self, token_ids: &[i64]) -> Result<Vec<f32>, EmbedError> {
        if let Some(workers) = &self.workers {
            (self.ask)(workers.as_ref());
        }
        self.inner.infer(token_ids)
    }
}

fn name() -> String {
    thread::current().name().unwrap_or_default().to_owned()
}

/// Leaves a task to an idle worker that does not end before it is told to; says on which thread it is, once it has begun.
fn keep_busy(workers: &dyn IdleWorkers) -> Option<(Sender<()>, String)> {
    let (begun, begins) = mpsc::channel();
    let (end, ends) = mpsc::channel::<()>();
    let taken = workers.assist(Box::new(move || {
        begun.send(name()).unwrap();
        let _ = ends.recv();
    }));
    taken.then(|| (end, begins.recv().unwrap()))
}

/// Tries until it works: the other worker may be at the end of a task.
fn at_last<T>(mut attempt: impl FnMut() -> Option<T>) -> T {
    loop {
        if let Some(done) = attempt() {
            return done;
        }
        thread::yield_now();
    }
}

#[tokio::test]
async fn a_worker_without_a_prompt_does_the_task_of_one_with_a_prompt() {
    let (tell, told) = mpsc::channel();
    let pool = start(2, move || {
        let tell = tell.clone();
        Asker::new(move |workers| {
            let (end, helper) = at_last(|| keep_busy(workers));
            assert!(keep_busy(workers).is_none(), "there are no more than two");
            drop(end);
            tell.send((name(), helper)).unwrap();
        })
    });
    for text in ["one", "two", "three"] {
        pool.embed(text.to_owned(), None).await.unwrap();
        let (own, helper) = told.recv().unwrap();
        assert!(helper.starts_with("embed-") && helper != own, "{own} was helped by {helper}");
    }
}

#[tokio::test]
async fn a_worker_alone_is_told_that_nobody_is_free() {
    let pool = start(1, || Asker::new(|workers| assert!(keep_busy(workers).is_none())));
    pool.embed("alone".to_owned(), None).await.unwrap();
}

#[tokio::test]
async fn a_worker_whose_task_panics_goes_on() {
    let pool = start(2, || {
        Asker::new(|workers| {
            let goes = at_last(|| {
                let (gone, goes) = mpsc::channel::<()>();
                let taken = workers.assist(Box::new(move || {
                    let _gone = gone;
                    panic!("a task that fails");
                }));
                taken.then_some(goes)
            });
            assert!(goes.recv().is_err(), "whoever waits sees its end");
            at_last(|| keep_busy(workers));
        })
    });
    for text in ["one", "two", "three"] {
        pool.embed(text.to_owned(), None).await.unwrap();
    }
}

/// Counts the tasks that were done.
struct Counted {
    workers: Arc<dyn IdleWorkers>,
    done: Arc<AtomicUsize>,
}

impl IdleWorkers for Counted {
    fn assist(&self, task: Box<dyn FnOnce() + Send>) -> bool {
        let done = Arc::clone(&self.done);
        self.workers.assist(Box::new(move || {
            task();
            done.fetch_add(1, Ordering::Relaxed);
        }))
    }
}

struct Counting {
    inner: OnnxEmbedder,
    done: Arc<AtomicUsize>,
}

impl Embedder for Counting {
    fn dimension(&self) -> usize {
        self.inner.dimension()
    }

    fn tokeniser(&self) -> Arc<dyn Tokeniser> {
        self.inner.tokeniser()
    }

    fn set_idle_workers(&mut self, workers: Arc<dyn IdleWorkers>) {
        self.inner.set_idle_workers(Arc::new(Counted { workers, done: Arc::clone(&self.done) }));
    }

    fn infer(&mut self, token_ids: &[i64]) -> Result<Vec<f32>, EmbedError> {
        self.inner.infer(token_ids)
    }
}

#[tokio::test]
async fn a_text_of_the_real_model_gets_the_same_bits_with_help() {
    let runtime = Runtime::load(&library()).unwrap();
    let files = ModelFiles::find(&model()).unwrap();
    let load = move || OnnxEmbedder::load(&runtime, &files).unwrap();
    let mut alone = load();
    let done = Arc::<AtomicUsize>::default();
    let count = Arc::clone(&done);
    let pool = start(2, move || Counting { inner: load(), done: Arc::clone(&count) });
    for words in [5, 13, 20, 37, 64, 110, 300] {
        let text = (0..words).map(|at| format!("w{} ", at * at)).collect::<String>();
        let wanted = alone.embed(&text).unwrap().0.vector;
        for _ in 0..20 {
            assert_eq!(pool.embed(text.clone(), None).await.unwrap().vector, wanted, "{words} words");
        }
    }
    let done = done.load(Ordering::Relaxed);
    // Without a fast processor ONNX Runtime computes the model in its own way, alone.
    assert_eq!(done > 0, Processor::fastest().is_some(), "{done} tasks were done");
}
