//! Envoys that stay up as long as the test program, each lent to one test at a time. Envoy needs seconds of processor
//! time to compile the filter's module; an Envoy that has compiled it takes another listener at once.
//!
//! A test gets what a new Envoy would give it: listeners and clusters from its own bootstrap, virtual machines
//! (`vm_id`) and shared data of its own, counters that start at 0, and a log that starts at its current end. Only the
//! process is shared. An Envoy is returned once everything that it was lent has ended. That of a failed test is
//! stopped.

use std::fs;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, Once, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::bootstrap::Bootstrap;
use crate::envoy::{WORKERS, admin_get, command_of, listener_where, wait_until_live};
use crate::parts;
use crate::pieces::Pieces;
use crate::process::{PATIENCE, Process};
use crate::raw;

/// An Envoy of the pool. Dropped in this order: the process first.
struct Pooled {
    /// How it was started. A test that needs the same may use it.
    kind: Kind,
    process: Process,
    admin: SocketAddr,
    folder: TempDir,
}

#[derive(Clone, PartialEq, Eq)]
struct Kind {
    /// The bootstrap without its resources.
    head: String,
    workers: String,
}

/// An Envoy in the hands of one test.
pub struct Lent {
    // `Some` until it is returned.
    envoy: Option<Pooled>,
    /// `None` if it was refused.
    listener: Option<SocketAddr>,
    log_begins: usize,
}

static IDLE: Mutex<Vec<Pooled>> = Mutex::new(Vec::new());

/// The admin interface in the shipped bootstraps. In a cluster it becomes the address of the lent Envoy's.
const ADMIN: &str = "address: 127.0.0.1, port_value: 9901";
const VM_ID: &str = "vm_id: sentinel\n";
const NOTHING: &str = "resources: []\n";
/// How long Envoy may buffer its access log, in milliseconds.
const FLUSH: u64 = 20;

/// Lends an Envoy with `workers` workers that runs this bootstrap.
pub fn lend(bootstrap: &Bootstrap, workers: &str) -> Lent {
    let (lent, refused) = offer(bootstrap, workers);
    assert!(!refused, "Envoy refuses the listeners of a bootstrap. Its log:\n{}", lent.log());
    lent
}

/// Envoy's message when it refuses the listeners of this bootstrap.
pub fn refusal(bootstrap: &Bootstrap) -> Option<String> {
    let (lent, refused) = offer(bootstrap, WORKERS);
    refused.then(|| lent.log())
}

/// Lends an Envoy that was given this bootstrap, and whether it refused it.
fn offer(bootstrap: &Bootstrap, workers: &str) -> (Lent, bool) {
    static LENT: AtomicU64 = AtomicU64::new(0);
    let number = LENT.fetch_add(1, Ordering::Relaxed);
    let pieces = Pieces::of(bootstrap);
    let head = pieces.head.replace(ADMIN, "address: 127.0.0.1, port_value: 0");
    let kind = Kind { head, workers: workers.to_owned() };
    let mut envoy = taken(&kind).unwrap_or_else(|| another(&kind));
    let admin = envoy.admin;
    let here = format!("address: {}, port_value: {}", admin.ip(), admin.port());
    let log_begins = envoy.process.log().len();
    assert!(raw::post(admin, "/reset_counters").is_some(), "Envoy resets its counters");
    let mut refused = envoy.refuses("clusters", &pieces.clusters.replace(ADMIN, &here));
    let machines = |id: &str| pieces.listeners.matches(id).count();
    assert_eq!(
        machines(VM_ID),
        machines("vm_id:"),
        "a virtual machine with another name could be that of another test"
    );
    let own_machine = format!("vm_id: sentinel-{number}\n");
    refused |= envoy.refuses("listeners", &pieces.listeners.replace(VM_ID, &own_machine));
    let mut lent = Lent { envoy: Some(envoy), listener: None, log_begins };
    if !refused {
        let name = pieces.listeners.lines().find_map(|line| line.strip_prefix("      name: "));
        let name = name.expect("a listener has a name");
        let is_there = |_: &Process| listener_where(admin, |other| other == name);
        lent.listener = Some(lent.process().wait_for("a listener", is_there));
    }
    (lent, refused)
}

fn taken(kind: &Kind) -> Option<Pooled> {
    let mut idle = IDLE.lock().unwrap_or_else(PoisonError::into_inner);
    let at = idle.iter().position(|envoy| envoy.kind == *kind)?;
    Some(idle.swap_remove(at))
}

/// The module is compiled on two processors, so Envoys start one after the other. Meanwhile another may have become
/// free.
fn another(kind: &Kind) -> Pooled {
    static ONE: Mutex<()> = Mutex::new(());
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    taken(kind).unwrap_or_else(|| Pooled::start(kind))
}

impl Pooled {
    fn start(kind: &Kind) -> Self {
        end_with_the_program();
        let folder = tempfile::Builder::new().prefix("sentinel-envoy").tempdir().expect("a temporary folder");
        let path = folder.path();
        for list in ["listeners", "clusters"] {
            fs::write(path.join(format!("{list}.yaml")), NOTHING).expect("a file of nothing");
        }
        fs::write(path.join("envoy.yaml"), format!("{}\n{}", kind.head, keeper(path)))
            .expect("the bootstrap is written");
        let mut command = command_of(path, &kind.workers);
        command.args(["--service-node", "sentinel", "--service-cluster", "sentinel"]);
        // Removing a listener closes its connections, and the access log is on disk when a test has ended.
        command.args(["--drain-time-s", "0", "--drain-strategy", "immediate"]);
        command.args(["--file-flush-interval-msec", &FLUSH.to_string()]);
        let mut process = Process::start("envoy", path, command);
        let admin = wait_until_live(&mut process, path);
        Self { kind: kind.clone(), process, admin, folder }
    }

    /// Replaces a file of resources and waits until Envoy has read it. Returns whether Envoy refused it.
    fn refuses(&mut self, list: &str, text: &str) -> bool {
        let service = match list {
            "clusters" => "cluster_manager.cds",
            _ => "listener_manager.lds",
        };
        let (admin, before) = (self.admin, self.updates(service));
        let (file, new) = (self.folder.path().join(format!("{list}.yaml")), self.folder.path().join("new"));
        fs::write(&new, text).expect("the resources are written");
        fs::rename(new, file).expect("they are put in their place");
        let after = self.process.wait_for("an answer to new resources", |_| {
            let now = updates(admin, service)?;
            (now != before).then_some(now)
        });
        after.refused != before.refused
    }

    fn updates(&self, service: &str) -> Updates {
        updates(self.admin, service).expect("Envoy's admin interface answers")
    }

    /// Removes everything that was lent. Returns whether nothing of it is left.
    fn is_clean(&mut self) -> bool {
        if !self.process.is_running() {
            return false;
        }
        if self.refuses("listeners", NOTHING) || self.refuses("clusters", NOTHING) {
            return false;
        }
        let deadline = Instant::now() + PATIENCE;
        let (mut length, mut since) = (0, Instant::now());
        while Instant::now() < deadline {
            let said = self.process.log().len();
            if said != length || !self.is_idle() {
                (length, since) = (said, Instant::now());
            }
            if since.elapsed() >= Duration::from_millis(3 * FLUSH) {
                return true;
            }
            thread::sleep(Duration::from_millis(FLUSH / 2));
        }
        false
    }

    /// Whether no listener is draining any more.
    fn is_idle(&self) -> bool {
        number(self.admin, "listener_manager.total_listeners_draining") == Some(0)
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
struct Updates {
    taken: u64,
    refused: u64,
}

fn updates(admin: SocketAddr, service: &str) -> Option<Updates> {
    let taken = number(admin, &format!("{service}.update_success"))?;
    let refused = number(admin, &format!("{service}.update_rejected"))?;
    let broken = number(admin, &format!("{service}.update_failure"))?;
    Some(Updates { taken, refused: refused + broken })
}

fn number(admin: SocketAddr, name: &str) -> Option<u64> {
    let page = admin_get(admin, &format!("/stats?filter=^{}$", name.replace('.', "\\.")))?;
    page.trim().rsplit_once(' ')?.1.parse().ok()
}

/// The resources of an idle Envoy: files for those of a test, and a filter that no request reaches, so that the
/// compiled module stays loaded.
fn keeper(folder: &Path) -> String {
    let list = |name: &str| format!("{{path_config_source: {{path: {}/{name}.yaml}}}}", folder.display());
    format!(
        r#"
dynamic_resources:
  lds_config: {}
  cds_config: {}
static_resources:
  listeners:
    - name: keeper
      address: {{socket_address: {{address: 127.0.0.1, port_value: 1}}}}
      bind_to_port: false
      filter_chains:
        - filters:
            - name: envoy.filters.network.http_connection_manager
              typed_config:
                "@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
                stat_prefix: keeper
                route_config: {{name: keeper}}
                http_filters:
                  - name: keeper
                    typed_config:
                      "@type": type.googleapis.com/envoy.extensions.filters.http.wasm.v3.Wasm
                      config:
                        name: keeper
                        vm_config:
                          vm_id: keeper
                          runtime: envoy.wasm.runtime.v8
                          code: {{local: {{filename: {}}}}}
                  - name: envoy.filters.http.router
                    typed_config:
                      "@type": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router
"#,
        list("listeners"),
        list("clusters"),
        parts::filter().display()
    )
}

impl Lent {
    pub fn listener(&self) -> SocketAddr {
        self.listener.expect("a bootstrap that was not refused")
    }

    pub fn admin(&self) -> SocketAddr {
        self.envoy().admin
    }

    /// Envoy's log since it was lent.
    pub fn log(&self) -> String {
        let log = self.envoy().process.log();
        log.get(self.log_begins..).unwrap_or_default().to_owned()
    }

    /// Envoy's whole log, from earlier tests too.
    pub fn log_file(&self) -> &Path {
        self.envoy().process.log_file()
    }

    pub fn process(&mut self) -> &mut Process {
        &mut self.envoy.as_mut().expect("it is lent").process
    }

    fn envoy(&self) -> &Pooled {
        self.envoy.as_ref().expect("it is lent")
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        let Some(mut envoy) = self.envoy.take() else { return };
        if !thread::panicking() && envoy.is_clean() {
            IDLE.lock().unwrap_or_else(PoisonError::into_inner).push(envoy);
        }
    }
}

/// Stops the processes of the pool and removes its folder when the program ends.
fn end_with_the_program() {
    extern "C" fn end() {
        if let Ok(mut idle) = IDLE.lock() {
            idle.clear();
        }
    }
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: atexit(3) takes a function without arguments, which stays there as long as the program.
        let refused = unsafe { libc::atexit(end) };
        assert_eq!(refused, 0, "a function for the end of the program");
    });
}
