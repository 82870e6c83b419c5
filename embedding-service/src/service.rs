//! One CheckLoop call, from request to answer: validate, embed, recall, compare, remember. Each step lives elsewhere.

use std::{sync::Arc, time::Instant};

use sentinel_proto::v1::{CheckLoopRequest, CheckLoopResponse, embedding_service_server::EmbeddingService};
use tonic::{Request, Response, Status};
use tracing::{Instrument as _, info_span};

use crate::{
    call_span,
    comparison::{Comparison, compare},
    deadline,
    embed::pool::Pool,
    error::CheckError,
    history::{Moment, Record},
    metrics::{Metrics, Unanswered},
    recorder::Recorder,
    request::ValidRequest,
    trace,
};

/// The service behind every listener.
pub struct LoopService {
    pub pool: Arc<Pool>,
    pub recorder: Arc<Recorder>,
    pub metrics: Arc<Metrics>,
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
        let request = ValidRequest::new(request, self.threshold)?;
        let embedded = self.pool.embed(request.prompt, deadline).await?;
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
            self.recorder.record(Record { scope: request.scope, moment, embedded });
        }
        Ok(self.answer(comparison))
    }

    fn answer(&self, comparison: Comparison) -> CheckLoopResponse {
        let shown = comparison.most_similar.filter(|_| self.return_similar_prompt);
        CheckLoopResponse {
            loop_detected: comparison.loop_detected,
            max_similarity: comparison.max_similarity,
            similar_prompt: shown.unwrap_or_default(),
            matches: comparison.matches,
            template_matches: comparison.template_matches,
            compared: comparison.compared,
            related: comparison.related,
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
