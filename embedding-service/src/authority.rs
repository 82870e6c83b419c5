//! Clients on a Unix socket whose calls have no valid authority. Some clients (grpc-python, for one) send the
//! percent-encoded path of the socket as the authority, or none. The transport would reset such a call. On these
//! connections this module puts `localhost` in its place. On all other connections it changes nothing, once it has seen
//! the first call.

mod rewriter;

use std::{
    io,
    pin::Pin,
    task::{Context, Poll, ready},
};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tonic::transport::server::Connected;

use self::rewriter::Rewriter;

/// A connection whose calls have an authority that the transport accepts.
pub struct WithAuthority<S> {
    stream: S,
    rewriter: Rewriter,
}

impl<S> WithAuthority<S> {
    pub fn new(stream: S) -> Self {
        Self { stream, rewriter: Rewriter::default() }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for WithAuthority<S> {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let Self { stream, rewriter } = self.get_mut();
        loop {
            let ready = rewriter.take(buf.remaining());
            if !ready.is_empty() {
                buf.put_slice(&ready);
                return Poll::Ready(Ok(()));
            }
            if rewriter.is_done() {
                return Pin::new(stream).poll_read(cx, buf);
            }
            let mut chunk = [0; 4096];
            let mut chunk = ReadBuf::new(&mut chunk);
            ready!(Pin::new(&mut *stream).poll_read(cx, &mut chunk))?;
            if chunk.filled().is_empty() {
                return Poll::Ready(Ok(()));
            }
            rewriter.add(chunk.filled())?;
        }
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for WithAuthority<S> {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().stream).poll_write(cx, buf)
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_shutdown(cx)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().stream).poll_write_vectored(cx, bufs)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}

impl<S: Connected> Connected for WithAuthority<S> {
    type ConnectInfo = S::ConnectInfo;

    fn connect_info(&self) -> Self::ConnectInfo {
        self.stream.connect_info()
    }
}
