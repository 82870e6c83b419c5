//! One CheckLoop call, from request to answer: check, embed, recall, judge, remember. Each step lives elsewhere.

use std::{sync::Arc, time::Instant};

use sentinel_proto::v1::{CheckLoopRequest, CheckLoopResponse, embedding_service_server::EmbeddingService};
use tonic::{Request, Response, Status};
use tracing::{Instrument as _, info_span};

use crate::{
    check::Check,
    deadline,
    embed::pool::Pool,
    error::CheckError,
    history::{Moment, Record},
    judge::{Judgement, judge},
    metrics::{Metrics, Unanswered},
    recorder::Recorder,
    trace,
};

/// The service behind every listener.
pub struct LoopService {
    pub pool: Arc<Pool>,
    pub recorder: Arc<Recorder>,
    pub metrics: Arc<Metrics>,
    /// Used where the request gives none.
    pub threshold: f32,
    /// Whether answers may hold the text of an earlier prompt.
    pub return_similar_prompt: bool,
}

impl LoopService {
    async fn check(
        &self,
        request: CheckLoopRequest,
        deadline: Option<Instant>,
    ) -> Result<CheckLoopResponse, CheckError> {
        let check = Check::new(request, self.threshold)?;
        let embedded = self.pool.embed(check.prompt, deadline).await?;
        let recall = self.recorder.recall(&check.scope, &embedded.vector);
        let recall = recall.instrument(info_span!(target: trace::TARGET, "search"));
        let earlier = match deadline {
            Some(deadline) => tokio::time::timeout_at(deadline.into(), recall)
                .await
                .map_err(|_| CheckError::DeadlinePassed)??,
            None => recall.await?,
        };
        let judgement = judge(&embedded, &earlier, check.rules);
        if judgement.compared > 0 {
            self.metrics.compared(judgement.max_similarity, judgement.loop_detected);
        }
        if check.record {
            let moment = Moment::after(earlier.iter().map(|e| e.moment).max());
            self.recorder.record(Record { scope: check.scope, moment, embedded });
        }
        Ok(self.answer(judgement))
    }

    fn answer(&self, judgement: Judgement) -> CheckLoopResponse {
        let shown = judgement.most_similar.filter(|_| self.return_similar_prompt);
        CheckLoopResponse {
            loop_detected: judgement.loop_detected,
            max_similarity: judgement.max_similarity,
            similar_prompt: shown.unwrap_or_default(),
            matches: judgement.matches,
            template_matches: judgement.template_matches,
            compared: judgement.compared,
        }
    }
}

#[tonic::async_trait]
impl EmbeddingService for LoopService {
    async fn check_loop(
        &self,
        request: Request<CheckLoopRequest>,
    ) -> Result<Response<CheckLoopResponse>, Status> {
        let mut count = Count::start(&self.metrics);
        let deadline = deadline::of(request.metadata(), count.start);
        let span = trace::of_call(request.metadata());
        let result = self.check(request.into_inner(), deadline).instrument(span.clone()).await;
        trace::ended(&span, &result);
        count.unanswered = result.as_ref().err().map(CheckError::reason);
        if let Err(error) = &result {
            match count.unanswered {
                Some(Unanswered::EmbeddingFailed) => tracing::error!(%error, "a call failed"),
                _ => tracing::debug!(%error, "a call was refused"),
            }
        }
        Ok(Response::new(result?))
    }
}

/// Counts a call when it ends, also when the transport drops it because its caller has gone.
struct Count<'a> {
    metrics: &'a Metrics,
    start: Instant,
    unanswered: Option<Unanswered>,
}

impl<'a> Count<'a> {
    fn start(metrics: &'a Metrics) -> Self {
        metrics.in_flight(1);
        Self { metrics, start: Instant::now(), unanswered: Some(Unanswered::CallerGone) }
    }
}

impl Drop for Count<'_> {
    fn drop(&mut self) {
        self.metrics.in_flight(-1);
        self.metrics.checked(self.unanswered, self.start.elapsed());
    }
}
