//! HTTP and JSON for operators: runs, agents, stops, budgets, settings, events. The OpenAPI document is made from the same declarations that the router is made of.

mod access;
mod answer;
mod budgets;
mod events;
mod runs;
mod settings;
mod stops;

use std::sync::Arc;

use axum::{
    Router,
    extract::{DefaultBodyLimit, State},
    middleware,
    routing::get,
};
use utoipa::{
    Modify, OpenApi,
    openapi::{
        ContentBuilder, Ref, ResponseBuilder,
        security::{HttpAuthScheme, HttpBuilder, SecurityScheme},
    },
};
use utoipa_axum::{router::OpenApiRouter, routes};

use self::answer::{JsonAnswer, Problem};
pub use self::answer::{is_odd, to_json};
pub use self::{
    access::{Access, Reach, is_loopback},
    events::MOST_READERS,
};
use super::Control;

/// Bytes of a body.
const LONGEST_BODY: usize = 512 << 10;

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Agent Sentinel: control",
        description = "Runs of agents, stops, budgets, live settings and events. Times are milliseconds since 1970 by the service's clock."
    ),
    modifiers(&Key),
    components(schemas(Problem))
)]
struct Document;

/// How a key is given.
struct Key;

impl Modify for Key {
    fn modify(&self, document: &mut utoipa::openapi::OpenApi) {
        let bearer = HttpBuilder::new().scheme(HttpAuthScheme::Bearer).build();
        document.components.get_or_insert_default().add_security_scheme("key", SecurityScheme::Http(bearer));
    }
}

/// What every path may answer.
fn say_common_answers(document: &mut utoipa::openapi::OpenApi) {
    let answers = [
        ("401", "The key is missing, or it is another one."),
        ("403", "The service has no key, or the request's host is not this machine."),
        ("503", "The store does not answer."),
    ];
    for item in document.paths.paths.values_mut() {
        let operations = [&mut item.get, &mut item.post, &mut item.put, &mut item.delete];
        for operation in operations.into_iter().flatten() {
            for (status, meaning) in answers {
                let problem = ContentBuilder::new().schema(Some(Ref::from_schema_name("Problem"))).build();
                let response = ResponseBuilder::new().description(meaning);
                let response = response.content("application/json", problem).build();
                operation.responses.responses.insert(status.to_owned(), response.into());
            }
        }
    }
}

fn parts() -> (Router<Arc<Control>>, utoipa::openapi::OpenApi) {
    let (router, mut document) = routes();
    say_common_answers(&mut document);
    (router, document)
}

fn routes() -> (Router<Arc<Control>>, utoipa::openapi::OpenApi) {
    OpenApiRouter::with_openapi(Document::openapi())
        .routes(routes!(runs::list))
        .routes(routes!(runs::one))
        .routes(routes!(runs::stop))
        .routes(routes!(runs::lift))
        .routes(routes!(runs::agents))
        .routes(routes!(stops::list, stops::set))
        .routes(routes!(stops::lift))
        .routes(routes!(budgets::list))
        .routes(routes!(settings::get, settings::set))
        .routes(routes!(settings::history))
        .routes(routes!(settings::roll_back))
        .routes(routes!(settings::observe))
        .routes(routes!(events::follow))
        .split_for_parts()
}

/// The OpenAPI document.
#[must_use]
pub fn document() -> utoipa::openapi::OpenApi {
    parts().1
}

/// All paths, for those who may reach them so.
pub fn router(control: Arc<Control>, access: Access) -> Router {
    let (router, document) = parts();
    let document = Arc::new(document);
    let shown = move || {
        let document = Arc::clone(&document);
        async move { JsonAnswer((*document).clone()) }
    };
    router
        .route("/v1/openapi.json", get(shown))
        .method_not_allowed_fallback(answer::wrong_method)
        .layer(DefaultBodyLimit::max(LONGEST_BODY))
        .route_layer(middleware::from_fn_with_state(access, access::check))
        .with_state(control)
}

type Controlled = State<Arc<Control>>;
