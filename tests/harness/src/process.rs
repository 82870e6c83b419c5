//! A child process. Its output goes to a file, it is stopped by its own id, and it ends with this program.

use std::fs;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Mutex, OnceLock, mpsc};
use std::thread;
use std::time::{Duration, Instant};

/// How long a test waits before it gives up. It measures nothing.
pub const PATIENCE: Duration = Duration::from_secs(60);

pub struct Process {
    name: String,
    log: PathBuf,
    child: Child,
}

impl Process {
    /// Starts `command`; its standard output and error are appended to `<folder>/<name>.log`.
    pub fn start(name: &str, folder: &Path, mut command: Command) -> Self {
        let log = folder.join(format!("{name}.log"));
        let file = fs::OpenOptions::new().create(true).append(true).open(&log).expect("the log file opens");
        command.stdin(Stdio::null()).stdout(file.try_clone().expect("a second handle")).stderr(file);
        let child = spawn(command).unwrap_or_else(|error| panic!("{name} does not start: {error}"));
        Self { name: name.to_owned(), log, child }
    }

    pub fn log(&self) -> String {
        String::from_utf8_lossy(&fs::read(&self.log).unwrap_or_default()).into_owned()
    }

    pub fn log_file(&self) -> &Path {
        &self.log
    }

    pub fn id(&self) -> u32 {
        self.child.id()
    }

    pub fn is_running(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    /// Waits until `ready` returns a value. Fails with the end of the log when the process ends or the time is up.
    pub fn wait_for<T>(&mut self, what: &str, mut ready: impl FnMut(&Self) -> Option<T>) -> T {
        let deadline = Instant::now() + PATIENCE;
        loop {
            if let Some(value) = ready(self) {
                return value;
            }
            assert!(self.is_running(), "{} ended before {what}. Its log:\n{}", self.name, self.log());
            assert!(
                Instant::now() < deadline,
                "{}: no {what} within {PATIENCE:?}. Its log:\n{}",
                self.name,
                self.log()
            );
            thread::sleep(Duration::from_millis(10));
        }
    }

    /// Sends SIGTERM and waits for the end.
    pub fn stop(&mut self) -> ExitStatus {
        self.signal(libc::SIGTERM);
        let deadline = Instant::now() + PATIENCE;
        loop {
            if let Ok(Some(status)) = self.child.try_wait() {
                return status;
            }
            assert!(Instant::now() < deadline, "{} does not stop. Its log:\n{}", self.name, self.log());
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// Sends SIGKILL.
    pub fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    pub fn signal(&mut self, signal: i32) {
        if self.is_running() {
            let id = i32::try_from(self.child.id()).expect("a process id");
            // SAFETY: kill(2) takes two integers; the child has not been waited for, so the id is still its own.
            unsafe { libc::kill(id, signal) };
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // SIGKILL also ends a process that is stopped (SIGSTOP).
        self.kill();
    }
}

type Spawned = std::io::Result<Child>;
type Order = (Command, mpsc::Sender<Spawned>);

/// Starts the process from a thread that lives as long as this program. The kernel ends a child when the thread that
/// started it ends, so nothing is left running, even if this program is killed.
fn spawn(mut command: Command) -> Spawned {
    static SPAWNER: OnceLock<Mutex<mpsc::Sender<Order>>> = OnceLock::new();
    // SAFETY: prctl(2) is safe to call between fork and exec, and touches no memory of ours.
    unsafe {
        command.pre_exec(|| {
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
            Ok(())
        });
    }
    let spawner = SPAWNER.get_or_init(|| {
        let (send, receive) = mpsc::channel::<Order>();
        thread::spawn(move || {
            for (mut command, answer) in receive {
                let _ = answer.send(command.spawn());
            }
        });
        Mutex::new(send)
    });
    let (send, receive) = mpsc::channel();
    spawner.lock().expect("no one panics with it").send((command, send)).expect("the spawner lives");
    receive.recv().expect("the spawner answers")
}

/// Waits until `ready` is true, on any runtime. Fails with `what` when the time is up.
pub async fn eventually(what: &str, mut ready: impl AsyncFnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !ready().await {
        assert!(Instant::now() < deadline, "not within {PATIENCE:?}: {what}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}
