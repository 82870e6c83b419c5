//! Opens the sockets. A Unix socket that a dead process left behind is removed; anything else in its place is not.

use std::{
    fs, io,
    net::SocketAddr,
    os::unix::{
        fs::{FileTypeExt, MetadataExt, PermissionsExt},
        net::UnixStream,
    },
    path::{Path, PathBuf},
};

use tokio::net::{TcpListener, UnixListener};

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

/// Opens a Unix socket with these permissions.
///
/// # Errors
/// When the path is taken by a living process or by something that is no socket, or cannot be used.
pub fn unix(path: &Path, mode: u32) -> Result<(UnixListener, SocketFile), ListenError> {
    let failed = |cause| ListenError::Unix { path: path.to_owned(), cause };
    match fs::symlink_metadata(path) {
        Ok(found) if !found.file_type().is_socket() => {
            return Err(ListenError::NoSocket(path.to_owned()));
        }
        Ok(_) => match UnixStream::connect(path) {
            Err(e) if e.kind() == io::ErrorKind::ConnectionRefused => {
                tracing::info!(path = %path.display(), "removing the socket that a dead process left");
                fs::remove_file(path).map_err(failed)?;
            }
            Ok(_) => return Err(ListenError::InUse(path.to_owned())),
            Err(e) => return Err(failed(e)),
        },
        Err(e) if e.kind() == io::ErrorKind::NotFound => {}
        Err(e) => return Err(failed(e)),
    }
    let listener = UnixListener::bind(path).map_err(failed)?;
    let file = SocketFile::of(path).map_err(failed)?;
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).map_err(failed)?;
    Ok((listener, file))
}

/// Opens a TCP socket; port 0 takes a free one.
///
/// # Errors
/// When the address cannot be used.
pub async fn tcp(setting: &'static str, address: SocketAddr) -> Result<TcpListener, ListenError> {
    TcpListener::bind(address).await.map_err(|cause| ListenError::Tcp { setting, address, cause })
}

/// The file of our Unix socket. Removed when this is dropped, unless another process has put its own there by then.
#[derive(Debug)]
pub struct SocketFile {
    path: PathBuf,
    inode: u64,
}

impl SocketFile {
    fn of(path: &Path) -> io::Result<Self> {
        Ok(Self { path: path.to_owned(), inode: fs::symlink_metadata(path)?.ino() })
    }

    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        if fs::symlink_metadata(&self.path).is_ok_and(|found| found.ino() == self.inode) {
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
        let (_listener, file) = unix(&path, 0o600).unwrap();
        let mode = fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        drop(file);
        assert!(!path.exists());
    }

    #[tokio::test]
    async fn a_stale_socket_is_replaced_a_living_one_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.sock");
        drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
        assert!(path.exists());
        let (_listener, _file) = unix(&path, 0o660).unwrap();
        assert!(matches!(unix(&path, 0o660), Err(ListenError::InUse(_))));
        assert!(path.exists());
    }

    #[tokio::test]
    async fn a_file_that_is_no_socket_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("precious.txt");
        fs::write(&path, "keep me").unwrap();
        assert!(matches!(unix(&path, 0o660), Err(ListenError::NoSocket(_))));
        assert_eq!(fs::read_to_string(&path).unwrap(), "keep me");
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&path, &link).unwrap();
        assert!(matches!(unix(&link, 0o660), Err(ListenError::NoSocket(_))));
    }

    #[tokio::test]
    async fn a_successors_socket_is_not_removed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.sock");
        let (listener, file) = unix(&path, 0o660).unwrap();
        let keep_inode = fs::hard_link(&path, folder.path().join("held"));
        keep_inode.unwrap();
        drop(listener);
        let (_successor, _its_file) = unix(&path, 0o660).unwrap();
        drop(file);
        assert!(path.exists());
    }

    #[tokio::test]
    async fn an_impossible_path_says_so() {
        let long = PathBuf::from(format!("/tmp/{}", "x".repeat(200)));
        let e = unix(&long, 0o660).unwrap_err().to_string();
        assert!(e.contains("108 bytes"), "{e}");
        let e = unix(Path::new("/nowhere/at/all.sock"), 0o660).unwrap_err();
        assert!(matches!(e, ListenError::Unix { .. }));
    }
}
