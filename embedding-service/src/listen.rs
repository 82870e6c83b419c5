//! Opens the sockets and accepts connections. If a process that has ended left its Unix socket behind, that socket is
//! removed; any other file at the path is left alone. If the file of the open socket is deleted, the socket is opened
//! again.

use std::{
    fs, io,
    net::SocketAddr,
    os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt},
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, SystemTime},
};

use tokio::{
    net::{TcpListener, TcpStream, UnixListener, UnixStream},
    sync::{mpsc, watch},
    task::JoinSet,
    time::{MissedTickBehavior, interval, sleep},
};
use tokio_stream::wrappers::ReceiverStream;

use crate::metrics::Metrics;

/// How often it is checked whether the socket's file is still there.
const FILE_CHECK_INTERVAL: Duration = Duration::from_secs(1);
/// How long nothing is accepted after an error, of which the most likely is that there are no file handles left.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Why a socket could not be opened, and what to do.
#[derive(Debug, thiserror::Error)]
pub enum ListenError {
    #[error("UDS_PATH: another process answers on {0}. Stop it, or give another path")]
    InUse(PathBuf),
    #[error("UDS_PATH: {0} exists and is no socket. Remove it, or give another path")]
    NoSocket(PathBuf),
    #[error(
        "UDS_PATH: cannot open {path}: {cause}. The folder must exist and be writable, the path be under 108 bytes"
    )]
    Unix { path: PathBuf, cause: io::Error },
    #[error("{setting}: cannot listen on {address}: {cause}")]
    Tcp { setting: &'static str, address: SocketAddr, cause: io::Error },
}

/// Where a Unix socket's file is, and who may use it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnixSocketOptions {
    pub path: PathBuf,
    pub mode: u32,
}

/// A Unix socket with its file, which is removed when this is dropped.
#[derive(Debug)]
pub struct UnixSocket {
    listener: UnixListener,
    file: SocketFile,
    mode: u32,
}

/// Opens a Unix socket with these permissions.
///
/// # Errors
/// When the path is taken by a living process or by something that is no socket, or cannot be used.
pub async fn unix(path: &Path, mode: u32) -> Result<UnixSocket, ListenError> {
    let failed = |cause| ListenError::Unix { path: path.to_owned(), cause };
    match fs::symlink_metadata(path) {
        Ok(found) if !found.file_type().is_socket() => {
            return Err(ListenError::NoSocket(path.to_owned()));
        }
        Ok(_) => match UnixStream::connect(path).await {
            Err(e) if e.kind() == io::ErrorKind::ConnectionRefused => {
                tracing::info!(path = %path.display(), "removing the socket that a dead process left");
                fs::remove_file(path).map_err(failed)?;
            }
            // It has more callers waiting than it takes.
            Err(e) if e.kind() == io::ErrorKind::WouldBlock => {
                return Err(ListenError::InUse(path.to_owned()));
            }
            Ok(_) => return Err(ListenError::InUse(path.to_owned())),
            Err(e) => return Err(failed(e)),
        },
        Err(e) if e.kind() == io::ErrorKind::NotFound => {}
        Err(e) => return Err(failed(e)),
    }
    let listener = UnixListener::bind(path).map_err(failed)?;
    let permitted = fs::set_permissions(path, fs::Permissions::from_mode(mode));
    let file = SocketFile::of(path).map_err(failed)?;
    permitted.map_err(failed)?;
    Ok(UnixSocket { listener, file, mode })
}

/// Opens a TCP socket; port 0 takes a free one.
///
/// # Errors
/// When the address cannot be used.
pub async fn tcp(setting: &'static str, address: SocketAddr) -> Result<TcpListener, ListenError> {
    TcpListener::bind(address).await.map_err(|cause| ListenError::Tcp { setting, address, cause })
}

/// The connections of a socket. An error in accepting one is logged and never ends the stream; when the stream is
/// dropped, the task in `tasks` ends and the socket closes.
type Connections<T> = ReceiverStream<io::Result<T>>;

/// Connections of a Unix socket, which is opened anew when its file goes; `lost` is true for as long as that cannot be
/// done, so that nobody new gets in.
pub fn unix_connections(
    mut socket: UnixSocket,
    metrics: Arc<Metrics>,
    lost: watch::Sender<bool>,
    tasks: &mut JoinSet<()>,
) -> Connections<UnixStream> {
    let (send, receive) = mpsc::channel(1);
    tasks.spawn(async move {
        let mut file_check = interval(FILE_CHECK_INTERVAL);
        file_check.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut failures = ReopenFailures::default();
        while let Ok(room) = send.reserve().await {
            tokio::select! {
                () = send.closed() => return,
                accepted = socket.listener.accept() => match accepted {
                    Ok((stream, _)) => room.send(Ok(stream)),
                    Err(error) => could_not_accept(&error, &metrics).await,
                },
                _ = file_check.tick() => if !socket.file.is_there() {
                    match unix(&socket.file.path, socket.mode).await {
                        Ok(again) => {
                            failures = ReopenFailures::default();
                            tracing::warn!(path = %again.file.path.display(), "the socket's file had gone; it is open again");
                            metrics.socket_reopened();
                            socket = again;
                            lost.send_replace(false);
                        }
                        Err(error) => {
                            failures.log_once(&error);
                            lost.send_replace(true);
                        }
                    }
                },
            }
        }
    });
    ReceiverStream::new(receive)
}

/// Connections of a TCP socket.
pub fn tcp_connections(
    listener: TcpListener,
    metrics: Arc<Metrics>,
    tasks: &mut JoinSet<()>,
) -> Connections<TcpStream> {
    let (send, receive) = mpsc::channel(1);
    tasks.spawn(async move {
        while let Ok(room) = send.reserve().await {
            tokio::select! {
                () = send.closed() => return,
                accepted = listener.accept() => match accepted {
                    Ok((stream, _)) => {
                        // Answers are small: waiting for more to send would only delay them.
                        let _ = stream.set_nodelay(true);
                        room.send(Ok(stream));
                    }
                    Err(error) => could_not_accept(&error, &metrics).await,
                },
            }
        }
    });
    ReceiverStream::new(receive)
}

async fn could_not_accept(error: &io::Error, metrics: &Metrics) {
    metrics.connection_not_accepted();
    tracing::warn!(%error, "a connection could not be accepted; those that are open go on");
    sleep(ACCEPT_PAUSE).await;
}

/// Logs each reason once.
#[derive(Default)]
struct ReopenFailures {
    last: String,
}

impl ReopenFailures {
    fn log_once(&mut self, error: &ListenError) {
        let text = error.to_string();
        if text != self.last {
            tracing::error!(%error, "the socket's file has gone and cannot be opened again yet; it is tried on");
            self.last = text;
        }
    }
}

/// The file of our Unix socket. Removed when this is dropped, unless another process has put its own there by then.
#[derive(Debug)]
struct SocketFile {
    path: PathBuf,
    identity: Identity,
}

/// A number alone may be given to the next file.
type Identity = (u64, u64, Option<SystemTime>);

fn identity(path: &Path) -> io::Result<Identity> {
    let found = fs::symlink_metadata(path)?;
    Ok((found.dev(), found.ino(), found.created().ok()))
}

impl SocketFile {
    fn of(path: &Path) -> io::Result<Self> {
        Ok(Self { path: path.to_owned(), identity: identity(path)? })
    }

    fn is_there(&self) -> bool {
        identity(&self.path).is_ok_and(|found| found == self.identity)
    }
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        if self.is_there() {
            let _ = fs::remove_file(&self.path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_mode_is_set_and_the_file_goes_with_its_owner() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.sock");
        let socket = unix(&path, 0o600).await.unwrap();
        let mode = fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        drop(socket);
        assert!(!path.exists());
    }

    #[tokio::test]
    async fn a_stale_socket_is_replaced_a_living_one_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.sock");
        drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
        assert!(path.exists());
        let _socket = unix(&path, 0o660).await.unwrap();
        assert!(matches!(unix(&path, 0o660).await, Err(ListenError::InUse(_))));
        assert!(path.exists());
    }

    #[tokio::test]
    async fn a_file_that_is_no_socket_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("precious.txt");
        fs::write(&path, "keep me").unwrap();
        assert!(matches!(unix(&path, 0o660).await, Err(ListenError::NoSocket(_))));
        assert_eq!(fs::read_to_string(&path).unwrap(), "keep me");
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&path, &link).unwrap();
        assert!(matches!(unix(&link, 0o660).await, Err(ListenError::NoSocket(_))));
    }

    #[tokio::test]
    async fn a_successors_socket_is_not_removed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.sock");
        let UnixSocket { listener, file, .. } = unix(&path, 0o660).await.unwrap();
        drop(listener);
        let _successor = unix(&path, 0o660).await.unwrap();
        drop(file);
        assert!(path.exists());
    }

    #[tokio::test]
    async fn an_impossible_path_says_so() {
        let long = PathBuf::from(format!("/tmp/{}", "x".repeat(200)));
        let e = unix(&long, 0o660).await.unwrap_err().to_string();
        assert!(e.contains("108 bytes"), "{e}");
        let e = unix(Path::new("/nowhere/at/all.sock"), 0o660).await.unwrap_err();
        assert!(matches!(e, ListenError::Unix { .. }));
    }
}
