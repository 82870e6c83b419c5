//! The gRPC calls of Envoy's workers.

use std::sync::Arc;

use sentinel_proto::v1::{
    Known, ReportReply, ReportRequest, ReserveReply, ReserveRequest, control_service_server::ControlService,
};
use tonic::{Request, Response, Status};

use super::{
    Control,
    budgets::{ReserveError, ReserveOutcome},
    clock,
    ingest::{MOST_TURNS, worker_name},
};
use crate::{
    metrics::{Metrics, Reported, Reserved},
    second_opinion::reader::Reader,
    store::StoreError,
};

/// The service that workers report to.
pub struct ControlCalls {
    /// None: control is switched off.
    pub control: Option<Arc<Control>>,
    pub metrics: Arc<Metrics>,
    /// None: nobody reads tool results.
    pub reader: Option<Arc<Reader>>,
}

fn unavailable(error: StoreError) -> Status {
    Status::unavailable(error.to_string())
}

fn switched_off() -> Status {
    Status::unimplemented("control is switched off (CONTROL)")
}

impl ControlCalls {
    async fn take(&self, control: &Control, mut report: ReportRequest) -> Result<ReportReply, Status> {
        let metrics = &self.metrics.control;
        let Some(worker) = worker_name(report.worker) else {
            metrics.reported(Reported::Invalid);
            return Err(Status::invalid_argument("the report names no worker: `worker.envoy` must not be 0"));
        };
        if report.turns.len() > MOST_TURNS {
            metrics.reported(Reported::Invalid);
            return Err(Status::out_of_range(format!("a report has at most {MOST_TURNS} turns")));
        }
        metrics.lost(report.dropped, report.unknown_directives);
        control.workers.saw(&worker, report.dropped, clock::now_ms());
        if let Some(reader) = &self.reader {
            let sent = report.sent_at_ms;
            report.turns.iter_mut().for_each(|turn| reader.take(turn, sent.saturating_sub(turn.at_ms)));
        }
        let known = report.known.unwrap_or_default();
        let answered = async {
            let counted = control.ingest.count(&worker, report.turns, report.sent_at_ms).await?;
            let configuration = (report.configuration_digest, &report.configuration);
            let want_configuration = control.configurations.report(configuration.0, configuration.1).await?;
            control.budgets.report(&worker, configuration.0, &report.leases).await?;
            let mut stops = control.stops.news(known.epoch, known.stops).await?;
            // A version that the worker has from another store means nothing here.
            let is_ours = stops.epoch == known.epoch || known.settings == 0;
            let had = if is_ours { known.settings } else { u64::MAX };
            let (settings, changed) = control.live.news(had).await?;
            stops.directives.extend(changed);
            Ok::<_, StoreError>((counted, want_configuration, stops, settings))
        };
        let (counted, want_configuration, stops, settings) = answered.await.map_err(|error| {
            tracing::debug!(%error, "a report was not taken");
            metrics.reported(Reported::StoreFailed);
            unavailable(error)
        })?;
        metrics.reported(Reported::Taken);
        metrics.counted(counted);
        Ok(ReportReply {
            counted: counted.counted,
            repeated: counted.repeated,
            refused: counted.refused,
            known: Some(Known { epoch: stops.epoch, stops: stops.version, settings }),
            all_stops: stops.all,
            directives: stops.directives,
            want_configuration,
        })
    }
}

#[tonic::async_trait]
impl ControlService for ControlCalls {
    async fn report(&self, request: Request<ReportRequest>) -> Result<Response<ReportReply>, Status> {
        let control = self.control.as_ref().ok_or_else(switched_off)?;
        self.take(control, request.into_inner()).await.map(Response::new)
    }

    async fn reserve(&self, request: Request<ReserveRequest>) -> Result<Response<ReserveReply>, Status> {
        let control = self.control.as_ref().ok_or_else(switched_off)?;
        let metrics = &self.metrics.control;
        let request = request.into_inner();
        if !request.configuration.is_empty() {
            let (digest, json) = (request.configuration_digest, &request.configuration);
            control.configurations.report(digest, json).await.map_err(|error| {
                metrics.reserved(Reserved::Failed);
                unavailable(error)
            })?;
        }
        match control.budgets.reserve(request).await {
            Ok((reply, outcome)) => {
                metrics.reserved(match outcome {
                    ReserveOutcome { refused: true, .. } => Reserved::Refused,
                    ReserveOutcome { warned: true, .. } => Reserved::Warned,
                    ReserveOutcome { .. } => Reserved::Granted,
                });
                if outcome.unpriced {
                    metrics.unpriced();
                }
                Ok(Response::new(reply))
            }
            Err(error) => {
                tracing::debug!(%error, "nothing was reserved");
                metrics.reserved(Reserved::Failed);
                let code = match error {
                    ReserveError::Nobody => tonic::Code::InvalidArgument,
                    ReserveError::NoConfiguration => tonic::Code::FailedPrecondition,
                    ReserveError::TooMany => tonic::Code::OutOfRange,
                    ReserveError::Store(_) => tonic::Code::Unavailable,
                };
                Err(Status::new(code, error.to_string()))
            }
        }
    }
}
