//! Threads and a listener for a server of the tests, so that a test may block.

use std::net::SocketAddr;

use tokio::net::TcpListener;
use tokio::runtime::{Builder, Runtime};

/// When they are dropped, everything on these threads stops.
pub struct Threads(Option<Runtime>);

impl Threads {
    pub fn start() -> Self {
        let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build();
        Self(Some(runtime.expect("a runtime")))
    }

    /// A listener on a free port, and its address.
    pub fn listen(&self) -> (TcpListener, SocketAddr) {
        self.listen_on(SocketAddr::from(([127, 0, 0, 1], 0)))
    }

    pub fn listen_on(&self, address: SocketAddr) -> (TcpListener, SocketAddr) {
        let listener = self
            .inside(|| {
                std::net::TcpListener::bind(address).and_then(|listener| {
                    listener.set_nonblocking(true)?;
                    TcpListener::from_std(listener)
                })
            })
            .unwrap_or_else(|error| {
                panic!("nothing can listen on {address} ({error}): end what uses this port, then start again")
            });
        let address = listener.local_addr().expect("an address");
        (listener, address)
    }

    /// For code that needs to know its runtime.
    pub fn inside<T>(&self, make: impl FnOnce() -> T) -> T {
        let _inside = self.runtime().enter();
        make()
    }

    pub fn spawn<F>(&self, server: F)
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        self.runtime().spawn(server);
    }

    fn runtime(&self) -> &Runtime {
        self.0.as_ref().expect("there until it is dropped")
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}
