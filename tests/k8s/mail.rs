//! A mail server of the test's own: it takes every message and keeps it.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mail {
    /// As the sender has told the server, which need not be what stands in the message.
    pub to: Vec<String>,
    /// Headers and body.
    pub text: String,
}

pub struct MailServer {
    address: SocketAddr,
    mails: Arc<Mutex<Vec<Mail>>>,
}

impl MailServer {
    /// It ends with the test program.
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("an address");
        let mails = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&mails);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let kept = Arc::clone(&kept);
                thread::spawn(move || talk(stream, &kept));
            }
        });
        Self { address, mails }
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    pub fn mails(&self) -> Vec<Mail> {
        self.mails.lock().expect("no one panics with it").clone()
    }
}

/// SMTP without extensions (RFC 5321).
fn talk(stream: TcpStream, kept: &Mutex<Vec<Mail>>) -> std::io::Result<()> {
    let mut lines = BufReader::new(stream.try_clone()?).lines();
    let say = |text: &str| write!(&stream, "{text}\r\n");
    let mut to = Vec::new();
    say("220 ready")?;
    while let Some(line) = lines.next().transpose()? {
        let (verb, rest) = line.split_once(' ').unwrap_or((&line, ""));
        match verb.to_ascii_uppercase().as_str() {
            "RCPT" => {
                to.push(rest.to_owned());
                say("250 ok")?;
            }
            "DATA" => {
                say("354 end with a point on a line of its own")?;
                let text: Result<Vec<String>, _> =
                    lines.by_ref().take_while(|line| !matches!(line.as_deref(), Ok("."))).collect();
                let mail = Mail { to: std::mem::take(&mut to), text: text?.join("\n") };
                kept.lock().expect("no one panics with it").push(mail);
                say("250 ok")?;
            }
            "QUIT" => return say("221 bye"),
            _ => say("250 ok")?,
        }
    }
    Ok(())
}
