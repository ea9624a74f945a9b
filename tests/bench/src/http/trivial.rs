//! What the generator can do at most: against a thread that answers every request with the same bytes.

use std::io;
use std::thread;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::runtime::Builder;

use super::client::Target;
use super::load::{Kind, Load};

const ANSWER: &[u8] =
    b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 16\r\n\r\n{\"success\":true}";

/// Requests a second.
pub(super) fn rate(time: Duration) -> io::Result<f64> {
    let listener = std::net::TcpListener::bind("127.0.0.1:0")?;
    listener.set_nonblocking(true)?;
    let target = Target { address: listener.local_addr()?, key: "bil_live_nobody".to_owned() };
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let server = thread::spawn(move || -> io::Result<()> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(async {
            let listener = TcpListener::from_std(listener)?;
            tokio::select! {
                end = serve(listener) => end,
                _ = stopped => Ok(()),
            }
        })
    });
    let measured = Load::new(32, &[(Kind::Commit, 100)]).run(&target, time);
    // A server that has ended already said why.
    let _ = stop.send(());
    server.join().unwrap_or_else(|_| Err(io::Error::other("the server broke off")))?;
    Ok(measured?.rate(Kind::Commit))
}

async fn serve(listener: TcpListener) -> io::Result<()> {
    loop {
        let (mut stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        tokio::spawn(async move {
            let mut request = Vec::with_capacity(4096);
            // A request is sent whole and is answered before the next one comes.
            while stream.read_buf(&mut request).await.is_ok_and(|read| read > 0) {
                if request.ends_with(b"}") {
                    request.clear();
                    if stream.write_all(ANSWER).await.is_err() {
                        return;
                    }
                }
            }
        });
    }
}
