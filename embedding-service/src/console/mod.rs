//! The console: web pages for operators, over what [`crate::control`] knows. How pages look is in the crate `sentinel-console`; here they
//! are filled and served, and here it is decided who may see and change what.
//!
//! | module | what is in it |
//! |---|---|
//! | [`guard`] | who may see a page, who may change something, from which sites |
//! | [`session`] | cookies and tokens, as functions of the operators' key |
//! | [`slow_down`] | what a wrong key costs |
//! | [`pages`], [`actions`], [`settings`] | what is shown, and what is done |
//! | [`replay`] | the page that judges recorded runs in the browser |
//! | [`order`] | what a form says |
//! | [`view`] | what control knows, as what a page shows |
//! | [`hour`] | the last hour, minute by minute |
//! | [`live`] | tells open pages that something has changed |

mod actions;
mod guard;
mod hour;
mod live;
mod order;
mod pages;
mod replay;
mod session;
mod settings;
mod slow_down;
mod view;

pub use self::view::trace::TRACE_ID;

use std::sync::Arc;

use axum::{
    Router, middleware,
    routing::{get, post},
};
use tokio::sync::watch;

use self::{guard::Guard, hour::Hour, live::Live, slow_down::SlowDown};
use crate::{
    control::{Control, api::Access},
    readiness::Reasons,
};

/// What all pages share.
pub struct Console {
    control: Arc<Control>,
    not_ready: watch::Receiver<Reasons>,
    /// Where runs are stored, for people.
    store: &'static str,
    hour: Hour,
    live: Live,
    slow_down: SlowDown,
    /// Where the trace of a run is looked at.
    trace_url: Option<String>,
}

impl Console {
    #[must_use]
    pub fn new(
        control: Arc<Control>,
        not_ready: watch::Receiver<Reasons>,
        store: &'static str,
        trace_url: Option<String>,
    ) -> Arc<Self> {
        let live = Live::new(Arc::clone(&control));
        Arc::new(Self {
            control,
            not_ready,
            store,
            hour: Hour::default(),
            live,
            slow_down: SlowDown::default(),
            trace_url,
        })
    }
}

/// All pages, for those who may reach them so.
pub fn router(console: Arc<Console>, access: Access) -> Router {
    let guard = Guard { access };
    let pages = Router::new()
        .route("/console", get(pages::now))
        .route("/console/runs", get(pages::runs))
        .route("/console/runs/{id}", get(pages::run))
        .route("/console/agents", get(pages::agents))
        .route("/console/budgets", get(settings::budgets::budgets).post(settings::budgets::set_limits))
        .route("/console/settings", get(settings::settings).post(settings::save))
        .route("/console/settings/agent", get(settings::agent::settings))
        .route("/console/replay", get(replay::page))
        .route("/console/stops", get(pages::stops).post(actions::stop_many))
        .route("/console/live", get(live::stream))
        .route("/console/runs/{id}/stop", post(actions::stop_run))
        .route("/console/stops/ask", post(actions::ask))
        .route("/console/stops/agent", post(actions::stop_agent))
        .route("/console/budgets/ask", post(settings::budgets::ask_limits))
        .route("/console/settings/ask", post(settings::ask))
        .route("/console/settings/observe", post(settings::observe))
        .route("/console/settings/rollback", post(settings::roll_back))
        .route("/console/stops/{id}/lift", post(actions::lift))
        .route("/console/logout", post(actions::logout))
        .route_layer(middleware::from_fn_with_state(guard, guard::check));
    let open = Router::new()
        .route("/console/login", get(pages::login).post(actions::login))
        .route("/console/assets/{tag}/{name}", get(pages::asset))
        .route("/console/{*path}", get(pages::not_found))
        .route_layer(middleware::from_fn_with_state(guard, guard::check_host));
    pages
        .merge(open)
        .layer(middleware::from_fn(guard::headers))
        .layer(axum::Extension(guard))
        .with_state(console)
}
