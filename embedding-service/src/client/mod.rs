//! The command-line client of control, in the service's own program: it asks a running service over HTTP, and prints tables or JSON.

mod http;
mod table;

use std::{
    fs,
    io::{self, IsTerminal as _, Write as _},
    path::PathBuf,
    process::ExitCode,
    thread,
    time::Duration,
};

use clap::{Args, Subcommand};
use serde_json::{Value, json};

use self::http::{ClientError, Http};

/// How long `watch` waits before it connects again.
const RECONNECT: Duration = Duration::from_secs(1);

/// Where the service is.
#[derive(Args)]
pub struct Service {
    /// Address of the service's METRICS_ADDR, or of a gateway.
    #[arg(long, env = "CONTROL_ADDRESS", default_value = "http://127.0.0.1:9464")]
    address: String,
    /// File with the key. It is needed for every change, and for everything on another machine.
    #[arg(long, env = "CONTROL_KEY_FILE")]
    key_file: Option<PathBuf>,
    /// The key itself.
    #[arg(long, env = "CONTROL_KEY", hide_env_values = true)]
    key: Option<String>,
    /// Prints the service's answers as JSON.
    #[arg(long)]
    json: bool,
}

/// The commands that ask a running service.
#[derive(Subcommand)]
pub enum Command {
    /// List runs, those that were seen last first
    Runs(Invocation<RunsArguments>),
    /// Show one run with its turns
    Run(Invocation<RunArguments>),
    /// Stop a run (by its id), an agent, a client or a tenant
    Stop(Invocation<StopArguments>),
    /// Lift a stop: of a run by its id, or any by `--stop`
    Lift(Invocation<LiftArguments>),
    /// Show what is spent of budgets
    Budgets(Invocation<BudgetsArguments>),
    /// Print events as they happen
    Watch(Invocation<WatchArguments>),
}

/// What is asked, and where.
#[derive(Args)]
pub struct Invocation<T: Args> {
    #[command(flatten)]
    arguments: T,
    #[command(flatten)]
    service: Service,
}

#[derive(Args)]
pub struct RunArguments {
    /// The id of a run, as `runs` prints it.
    id: String,
}

#[derive(Args)]
pub struct BudgetsArguments {
    /// Only the accounts of this budget.
    #[arg(long)]
    budget: Option<String>,
}

#[derive(Args)]
pub struct WatchArguments {
    /// One or several kinds, separated by commas.
    #[arg(long)]
    kind: Option<String>,
    #[arg(long)]
    agent: Option<String>,
    /// The id of a run.
    #[arg(long)]
    run: Option<String>,
}

#[derive(Args)]
pub struct RunsArguments {
    #[arg(long)]
    tenant: Option<String>,
    #[arg(long)]
    client: Option<String>,
    #[arg(long)]
    agent: Option<String>,
    /// working, tools, idle, done, killed, stopped or failed, or several with commas.
    #[arg(long)]
    status: Option<String>,
    #[arg(long)]
    signal: Option<String>,
    #[arg(long)]
    model: Option<String>,
    /// last_seen, first_seen, cost, tokens, turns, steps or repeated_steps.
    #[arg(long)]
    sort: Option<String>,
    #[arg(long, default_value = "50")]
    limit: u32,
}

#[derive(Args)]
pub struct StopArguments {
    /// The id of a run, as `runs` prints it.
    id: Option<String>,
    #[arg(long, conflicts_with = "id")]
    tenant: Option<String>,
    #[arg(long, conflicts_with = "id")]
    client: Option<String>,
    #[arg(long, conflicts_with = "id")]
    agent: Option<String>,
    /// The agent is told this.
    #[arg(long, default_value = "")]
    reason: String,
    /// Who says so.
    #[arg(long, env = "USER", default_value = "")]
    author: String,
    /// For how many seconds; without it, until it is lifted.
    #[arg(long)]
    seconds: Option<u64>,
}

#[derive(Args)]
pub struct LiftArguments {
    /// The id of a run.
    #[arg(required_unless_present = "stop")]
    id: Option<String>,
    /// The id of a stop.
    #[arg(long, conflicts_with = "id")]
    stop: Option<String>,
}

impl Command {
    /// Asks, prints the answer, and gives the program's exit code.
    #[must_use]
    pub fn run(self) -> ExitCode {
        match self.ask() {
            Ok(()) => ExitCode::SUCCESS,
            // Who reads our output has enough of it.
            Err(ClientError::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("embedding-service: {error}");
                ExitCode::FAILURE
            }
        }
    }

    fn ask(self) -> Result<(), ClientError> {
        match self {
            Self::Runs(Invocation { arguments, service }) => {
                service.show(table::runs, |http| http.get("/v1/runs", &arguments.query()))
            }
            Self::Run(Invocation { arguments, service }) => service.show(table::run, |http| {
                http.get(&format!("/v1/runs/{}", http::escaped(&arguments.id)), &[])
            }),
            Self::Stop(Invocation { arguments, service }) => {
                service.show(table::stop, |http| arguments.stop(http))
            }
            Self::Lift(Invocation { arguments, service }) => {
                service.show(table::lifted, |http| arguments.lift(http))
            }
            Self::Budgets(Invocation { arguments, service }) => service.show(table::budgets, |http| {
                http.get("/v1/budgets", &[("budget", arguments.budget), ("limit", Some("1000".to_owned()))])
            }),
            Self::Watch(Invocation { arguments, service }) => {
                let WatchArguments { kind, agent, run } = arguments;
                watch(&service.http()?, &[("kind", kind), ("agent", agent), ("run_id", run)], service.json)
            }
        }
    }
}

impl Service {
    fn http(&self) -> Result<Http, ClientError> {
        let key = match (&self.key_file, &self.key) {
            (Some(file), _) => Some(fs::read_to_string(file).map_err(|_| ClientError::Key(file.clone()))?),
            (None, key) => key.clone(),
        };
        let key = key.map(|key| key.trim().to_owned()).filter(|key| !key.is_empty());
        Ok(Http::new(&self.address, key))
    }

    /// Prints the answer, as a table or as it is.
    fn show(
        &self,
        table: Table,
        ask: impl FnOnce(&Http) -> Result<Value, ClientError>,
    ) -> Result<(), ClientError> {
        let answer = ask(&self.http()?)?;
        print(&if self.json { http::shown(&answer) } else { table(&answer) })
    }
}

type Table = fn(&Value) -> String;

fn print(text: &str) -> Result<(), ClientError> {
    writeln!(io::stdout().lock(), "{text}").map_err(ClientError::Output)
}

impl RunsArguments {
    fn query(self) -> [(&'static str, Option<String>); 8] {
        [
            ("tenant", self.tenant),
            ("client", self.client),
            ("agent", self.agent),
            ("status", self.status),
            ("signal", self.signal),
            ("model", self.model),
            ("sort", self.sort),
            ("limit", Some(self.limit.to_string())),
        ]
    }
}

impl StopArguments {
    fn stop(self, http: &Http) -> Result<Value, ClientError> {
        let Self { id, tenant, client, agent, reason, author, seconds } = self;
        let mut order = json!({"reason": reason, "author": author, "seconds": seconds});
        let Some(id) = id else {
            for (name, value) in [("tenant", tenant), ("client", client), ("agent", agent)] {
                if let (Some(order), Some(value)) = (order.as_object_mut(), value) {
                    order.insert(name.to_owned(), value.into());
                }
            }
            return http.post("/v1/stops", &order);
        };
        http.post(&format!("/v1/runs/{}/stop", http::escaped(&id)), &order)
    }
}

impl LiftArguments {
    fn lift(self, http: &Http) -> Result<Value, ClientError> {
        let path = match (self.id, self.stop) {
            (_, Some(stop)) => format!("/v1/stops/{}/lift", http::escaped(&stop)),
            (Some(id), None) => format!("/v1/runs/{}/lift", http::escaped(&id)),
            (None, None) => return Err(ClientError::Refused("give the id of a run, or --stop".to_owned())),
        };
        http.post(&path, &json!({}))
    }
}

/// Follows the events until it is ended, also over restarts of the service.
fn watch(http: &Http, query: &[(&'static str, Option<String>)], is_json: bool) -> Result<(), ClientError> {
    let mut cursor: Option<String> = None;
    let mut was_there = false;
    loop {
        let seen = cursor.clone();
        let followed = http.events(query, seen.as_deref(), |id, event| {
            cursor = Some(id.to_owned());
            was_there = true;
            print(&if is_json { http::shown(event) } else { table::event(event) })
        });
        match followed {
            // The service went away, or comes back.
            Ok(()) | Err(ClientError::Unreachable(_)) if was_there => {
                if io::stderr().is_terminal() {
                    eprintln!("the service went away; connecting again");
                }
                thread::sleep(RECONNECT);
            }
            Ok(()) => thread::sleep(RECONNECT),
            Err(error) => return Err(error),
        }
    }
}
