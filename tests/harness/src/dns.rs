//! A name server for tests: it answers A records that a test sets, and NXDOMAIN for every other name.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::sync::{Arc, Mutex};
use std::thread;

type Names = Arc<Mutex<BTreeMap<String, Vec<Ipv4Addr>>>>;

/// A records only.
const A: [u8; 2] = [0, 1];

pub struct Dns {
    names: Names,
    address: SocketAddr,
}

impl Dns {
    /// Runs until the test program ends.
    pub fn start() -> Self {
        let socket = UdpSocket::bind("127.0.0.1:0").expect("a free port");
        let address = socket.local_addr().expect("an address");
        let names = Names::default();
        let known = Arc::clone(&names);
        thread::spawn(move || {
            let mut question = [0; 512];
            while let Ok((length, from)) = socket.recv_from(&mut question) {
                if let Some(answer) = answer(&question[..length], &known) {
                    let _ = socket.send_to(&answer, from);
                }
            }
        });
        Self { names, address }
    }

    /// Sets the addresses of a name. Without addresses the name does not exist.
    pub fn set(&self, name: &str, addresses: &[Ipv4Addr]) {
        let mut names = self.names.lock().expect("no one panics with it");
        if addresses.is_empty() {
            names.remove(name);
        } else {
            names.insert(name.to_owned(), addresses.to_vec());
        }
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

/// The answer to a message with one question.
fn answer(message: &[u8], names: &Names) -> Option<Vec<u8>> {
    let (mut labels, mut rest) = (Vec::new(), message.get(12..)?);
    loop {
        let (length, after) = rest.split_first()?;
        let (label, after) = after.split_at_checked(usize::from(*length))?;
        rest = after;
        if label.is_empty() {
            break;
        }
        labels.push(String::from_utf8_lossy(label).into_owned());
    }
    let kind = rest.get(..2)?;
    let question = &message[12..message.len() - rest.len() + 4];
    let names = names.lock().expect("no one panics with it");
    let found = names.get(&labels.join("."));
    let addresses = found.filter(|_| kind == A).map_or(&[][..], Vec::as_slice);

    let mut answer = message[..2].to_vec();
    // An authoritative answer. Code 3: the name does not exist.
    answer.extend([0x85, if found.is_some() { 0x80 } else { 0x83 }]);
    answer.extend([0, 1, 0, u8::try_from(addresses.len()).ok()?, 0, 0, 0, 0]);
    answer.extend(question);
    for address in addresses {
        // The question's name, class IN, TTL one second, four bytes.
        answer.extend([0xc0, 12, A[0], A[1], 0, 1, 0, 0, 0, 1, 0, 4]);
        answer.extend(address.octets());
    }
    Some(answer)
}
