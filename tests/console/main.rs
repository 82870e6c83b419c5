//! A real browser before the real service: Chromium looks at the console while a worker reports what agents do. What the browser does
//! stands in `browser.mjs`; here is what happens behind it. The pictures that it takes stand in the documents.

mod agents;

use std::{
    fs,
    io::{BufRead as _, BufReader, Write as _},
    net::SocketAddr,
    path::Path,
    process::{Command, Stdio},
    thread,
    time::Duration,
};

use sentinel_harness::{parts, port, service::Service};

use self::agents::Agents;

const KEY: &str = "a-key-for-the-browser";

/// How many times agents spend something of a budget until one of them is close to its limit, and the pause between.
const SPENDS: (u32, Duration) = (25, Duration::from_secs(2));

/// The service at an address that stays the same when it is started again.
struct Stage {
    folder: tempfile::TempDir,
    address: SocketAddr,
    service: Option<Service>,
}

impl Stage {
    fn start() -> Self {
        let mut stage = Self { folder: tempfile::tempdir().unwrap(), address: port::free(), service: None };
        stage.raise();
        stage
    }

    fn raise(&mut self) {
        let settings = [
            ("METRICS_ADDR", self.address.to_string()),
            ("CONTROL_KEY", KEY.to_owned()),
            ("CONTROL_TRACE_URL", "https://tempo.example/trace/{trace_id}".to_owned()),
        ];
        let settings = settings.map(|(name, value)| (name.to_owned(), value));
        let socket = self.folder.path().join("service.sock");
        self.service = Some(Service::start(self.folder.path(), &socket, &settings));
    }

    fn agents(&self) -> Agents {
        Agents::of(&self.folder.path().join("service.sock"))
    }
}

#[test]
fn the_console_is_driven_by_a_browser() {
    let mut stage = Stage::start();
    let pictures = parts::root().join("docs/images");
    let taken = stage.folder.path().join("pictures");
    fs::create_dir(&taken).unwrap();
    let mut browser = Command::new(parts::node())
        .arg(parts::root().join("tests/console/browser.mjs"))
        .env("CONSOLE", format!("http://{}", stage.address))
        .env("KEY", KEY)
        .env("CHROMIUM", parts::chromium())
        .env("MODULES", parts::browser_modules())
        .env("PICTURES", &taken)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    // Beside the rest: what it has spent over time is to be seen.
    let mut spenders = stage.agents();
    let mut spending = Some(thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        for _ in 0..SPENDS.0 {
            runtime.block_on(spenders.spend());
            thread::sleep(SPENDS.1);
        }
    }));
    let mut orders = browser.stdin.take().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let mut agents = stage.agents();
    // The browser asks for what is to happen behind it, one line each, and waits for the answer.
    for line in BufReader::new(browser.stdout.take().unwrap()).lines() {
        let line = line.unwrap();
        let answer = match line.split(' ').collect::<Vec<_>>().as_slice() {
            // By now it has long been so.
            ["spent"] => {
                let spending = spending.take().unwrap();
                spending.join().unwrap();
                String::new()
            }
            ["agents", what] => runtime.block_on(agents.act(what)),
            ["down"] => {
                stage.service = None;
                String::new()
            }
            ["up"] => {
                stage.raise();
                agents = stage.agents();
                String::new()
            }
            _ => {
                println!("{line}");
                continue;
            }
        };
        writeln!(orders, "{answer}").unwrap();
    }
    assert!(browser.wait().unwrap().success(), "the browser has found something");
    keep(&taken, &pictures);
}

/// With `UPDATE_GOLDEN=1` the pictures go into the documents. They are not compared: fonts differ from machine to machine.
fn keep(taken: &Path, pictures: &Path) {
    let names: Vec<_> = fs::read_dir(taken).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names.len(), 12, "{names:?}");
    for name in names {
        let kept = pictures.join(&name);
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            fs::copy(taken.join(&name), &kept).unwrap();
        }
        assert!(kept.is_file(), "{} is missing: UPDATE_GOLDEN=1 writes it", kept.display());
    }
}
