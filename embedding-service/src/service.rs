//! One call, from request to answer: validate, look an answer up, embed, recall, compare, remember. Each step lives elsewhere.

use std::{sync::Arc, time::Instant};

use sentinel_proto::v1::{
    CacheResult, CheckLoopRequest, CheckLoopResponse, StoreAnswerRequest, StoreAnswerResponse,
    embedding_service_server::EmbeddingService,
};
use tonic::{Request, Response, Status};
use tracing::{Instrument as _, info_span};

use crate::{
    cache::{
        flight::Joined,
        lookup::{Hit, LookUpResult, Query},
        options::CacheOptions,
        response_cache::ResponseCache,
    },
    call_span,
    comparison::{Comparison, compare},
    deadline,
    embed::{Embedded, pool::Pool},
    error::CheckError,
    history::{Moment, Record},
    metrics::{Bypassed, Metrics, Unanswered},
    recorder::Recorder,
    request::{self, ValidRequest},
    trace,
};

/// The service behind every listener.
pub struct LoopService {
    pub pool: Arc<Pool>,
    pub recorder: Arc<Recorder>,
    pub metrics: Arc<Metrics>,
    /// None: it is switched off.
    pub cache: Option<Arc<ResponseCache>>,
    pub cache_options: CacheOptions,
    /// Used where the request gives none.
    pub threshold: f64,
    /// Whether the text of a prompt is stored beside its vector.
    pub store_prompt_text: bool,
    /// Whether answers may hold the text of an earlier prompt.
    pub return_similar_prompt: bool,
}

impl LoopService {
    async fn check(
        &self,
        request: CheckLoopRequest,
        deadline: Option<Instant>,
    ) -> Result<CheckLoopResponse, CheckError> {
        let request = ValidRequest::new(request, self.threshold, &self.cache_options)?;
        match (&request.query, &self.cache) {
            (Some(query), Some(cache)) => self.check_and_look_up(cache, query, &request, deadline).await,
            (query, _) => {
                let off = query.as_ref().map(|_| {
                    self.metrics.answers.bypassed(Bypassed::Disabled);
                    LookUpResult::Bypass(Bypassed::Disabled).result()
                });
                let comparison = if request.cache_only {
                    None
                } else {
                    Some(self.embed_and_compare(&request, deadline).await?)
                };
                Ok(self.answer(comparison, off))
            }
        }
    }

    async fn embed_and_compare(
        &self,
        request: &ValidRequest,
        deadline: Option<Instant>,
    ) -> Result<Comparison, CheckError> {
        let embedded = self.pool.embed(request.prompt.clone(), deadline).await?;
        self.compare(request, embedded, deadline).await
    }

    /// Compares the prompt with the earlier ones of its scope, and remembers it.
    async fn compare(
        &self,
        request: &ValidRequest,
        embedded: Embedded,
        deadline: Option<Instant>,
    ) -> Result<Comparison, CheckError> {
        let recall = self.recorder.recall(&request.scope, &embedded.vector);
        let recall = recall.instrument(info_span!(target: trace::TARGET, "search"));
        let earlier = match deadline {
            Some(deadline) => tokio::time::timeout_at(deadline.into(), recall)
                .await
                .map_err(|_| CheckError::DeadlinePassed)??,
            None => recall.await?,
        };
        let comparison = compare(&embedded, &earlier, request.rules);
        if comparison.compared > 0 {
            self.metrics.compared(comparison.max_similarity, comparison.loop_detected);
        }
        if request.record {
            let moment = Moment::after(earlier.iter().map(|e| e.moment).max());
            let embedded = if self.store_prompt_text { embedded } else { embedded.without_text() };
            self.recorder.record(Record { scope: request.scope.clone(), moment, embedded });
        }
        Ok(comparison)
    }

    /// The same text first, which needs no embedding; else one embedding for both questions.
    async fn check_and_look_up(
        &self,
        cache: &ResponseCache,
        query: &Query,
        request: &ValidRequest,
        deadline: Option<Instant>,
    ) -> Result<CheckLoopResponse, CheckError> {
        let mut found = cache.exact(query, deadline).await;
        let mut lead = None;
        if let Ok(None) = found {
            match cache.join(query) {
                Some(Joined::Leader(leads)) => lead = Some(leads),
                Some(Joined::Follower(wait)) => {
                    wait.landed(deadline).await;
                    found = cache.exact(query, deadline).await;
                }
                None => {}
            }
        }
        let (comparison, outcome) = match found {
            Ok(Some(hit)) => {
                (self.compare_known(request, &hit, deadline).await, LookUpResult::Exact(Box::new(hit)))
            }
            found => self.embed_and_look_up(cache, query, request, found.map(drop), deadline).await?,
        };
        let loops = comparison.as_ref().is_some_and(|comparison| comparison.loop_detected);
        let outcome = if loops { LookUpResult::Bypass(Bypassed::Loop) } else { outcome };
        if let (LookUpResult::Miss { .. }, Some(lead)) = (&outcome, lead) {
            lead.goes_on();
        }
        Ok(self.answer(comparison, Some(cache.ended(outcome))))
    }

    /// Compares with the vector of the stored answer's question. If this fails, the answer is given all the same.
    async fn compare_known(
        &self,
        request: &ValidRequest,
        hit: &Hit,
        deadline: Option<Instant>,
    ) -> Option<Comparison> {
        if request.cache_only {
            return None;
        }
        let embedded = match &hit.entry.asked {
            Some(asked) => {
                let known = self.pool.with_vector(request.prompt.clone(), Arc::clone(&asked.vector)).await;
                known.ok().flatten()
            }
            None => self.pool.recent(&request.prompt),
        };
        let Some(embedded) = embedded else {
            self.remember_later(request);
            return None;
        };
        let comparison = self.compare(request, embedded, deadline).await;
        comparison
            .inspect_err(|error| tracing::debug!(%error, "a prompt with an answer was not compared"))
            .ok()
    }

    /// If no vector is stored, the prompt is embedded after its answer has been sent. Then it enters the history, and the same prompt finds its
    /// vector among the recent ones.
    fn remember_later(&self, request: &ValidRequest) {
        if !request.record {
            return;
        }
        let (pool, recorder) = (Arc::clone(&self.pool), Arc::clone(&self.recorder));
        let (scope, prompt, keeps_text) =
            (request.scope.clone(), request.prompt.clone(), self.store_prompt_text);
        tokio::spawn(async move {
            if let Ok(embedded) = pool.embed(prompt, None).await {
                let embedded = if keeps_text { embedded } else { embedded.without_text() };
                recorder.record(Record { scope, moment: Moment::now(), embedded });
            }
        });
    }

    /// One embedding for the comparison and for the search of answers, both at once. `exact`: what became of the search for the same
    /// text, which found nothing.
    async fn embed_and_look_up(
        &self,
        cache: &ResponseCache,
        query: &Query,
        request: &ValidRequest,
        exact: Result<(), Bypassed>,
        deadline: Option<Instant>,
    ) -> Result<(Option<Comparison>, LookUpResult), CheckError> {
        let is_searched = exact.is_ok() && !query.exact_only;
        let no_search = exact
            .map_or_else(LookUpResult::Bypass, |()| LookUpResult::Miss { similarity: 0.0, candidate: None });
        if request.cache_only && !is_searched {
            return Ok((None, no_search));
        }
        let embedded = match self.pool.embed(request.prompt.clone(), deadline).await {
            Ok(embedded) => embedded,
            Err(error) => {
                let failed = LookUpResult::Bypass(Bypassed::EmbeddingUnavailable);
                if request.cache_only {
                    tracing::debug!(%error, "a prompt was looked up to the letter only");
                    return Ok((None, failed));
                }
                drop(cache.ended(failed));
                return Err(error.into());
            }
        };
        let search = async {
            if is_searched {
                cache.nearest(query, &request.prompt, &embedded, deadline).await
            } else {
                no_search
            }
        };
        if request.cache_only {
            return Ok((None, search.await));
        }
        let comparison = self.compare(request, embedded.clone(), deadline);
        let (outcome, comparison) = tokio::join!(search, comparison);
        Ok((Some(comparison?), outcome))
    }

    fn answer(&self, comparison: Option<Comparison>, cache: Option<CacheResult>) -> CheckLoopResponse {
        let comparison = comparison.unwrap_or_default();
        let shown = comparison.most_similar.filter(|_| self.return_similar_prompt);
        CheckLoopResponse {
            loop_detected: comparison.loop_detected,
            max_similarity: comparison.max_similarity,
            similar_prompt: shown.unwrap_or_default(),
            matches: comparison.matches,
            template_matches: comparison.template_matches,
            compared: comparison.compared,
            related: comparison.related,
            cache,
        }
    }
}

#[tonic::async_trait]
impl EmbeddingService for LoopService {
    async fn check_loop(
        &self,
        request: Request<CheckLoopRequest>,
    ) -> Result<Response<CheckLoopResponse>, Status> {
        let mut call = CountedCall::start(&self.metrics);
        let deadline = deadline::of(request.metadata(), call.start);
        let span = call_span::start(request.metadata());
        let result = self.check(request.into_inner(), deadline).instrument(span.clone()).await;
        call_span::end(&span, &result);
        call.unanswered = result.as_ref().err().map(CheckError::reason);
        if let Err(error) = &result {
            match call.unanswered {
                Some(Unanswered::EmbeddingFailed) => tracing::error!(%error, "a call failed"),
                _ => tracing::debug!(%error, "a call was refused"),
            }
        }
        Ok(Response::new(result?))
    }

    async fn store_answer(
        &self,
        request: Request<StoreAnswerRequest>,
    ) -> Result<Response<StoreAnswerResponse>, Status> {
        let answered =
            request::answered(request.into_inner(), &self.cache_options).map_err(CheckError::from)?;
        let stored = self.cache.as_ref().is_some_and(|cache| cache.store(answered));
        Ok(Response::new(StoreAnswerResponse { stored }))
    }
}

/// Counts a call when it ends, also when the transport drops it because its caller has gone.
struct CountedCall<'a> {
    metrics: &'a Metrics,
    start: Instant,
    unanswered: Option<Unanswered>,
}

impl<'a> CountedCall<'a> {
    fn start(metrics: &'a Metrics) -> Self {
        metrics.in_flight(1);
        Self { metrics, start: Instant::now(), unanswered: Some(Unanswered::CallerGone) }
    }
}

impl Drop for CountedCall<'_> {
    fn drop(&mut self) {
        self.metrics.in_flight(-1);
        self.metrics.checked(self.unanswered, self.start.elapsed());
    }
}
