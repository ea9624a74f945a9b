//! Connections past the limit: told to come back later, and closed.

use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::Semaphore;

/// So many refused connections are listened to at the same time, until they have heard.
pub(super) const LISTENING: usize = 64;
/// For so long each.
const TIME: Duration = Duration::from_secs(1);

const BODY: &str = r#"{"error":"cloud_runtime_unavailable","message":"the server has as many connections as it can take; try again","requestId":"","retryable":true,"details":{"reason":"too_many_connections"}}"#;

/// Tells a connection that it cannot be taken.
pub(super) fn refuse(mut stream: TcpStream, listening: &Arc<Semaphore>) {
    let answer = answer();
    let Ok(place) = Arc::clone(listening).try_acquire_owned() else {
        // A new connection takes so few bytes at once. Whoever has sent a request already may see a reset instead.
        let _ = stream.try_write(answer.as_bytes());
        return;
    };
    tokio::spawn(async move {
        let _place = place;
        let told = async {
            stream.write_all(answer.as_bytes()).await?;
            stream.shutdown().await?;
            // Closed on a request that is not read, the connection would be reset, and the answer lost with it.
            let mut request = [0; 1024];
            while stream.read(&mut request).await? > 0 {}
            Ok::<_, std::io::Error>(())
        };
        // One that does not listen is left alone.
        let _ = tokio::time::timeout(TIME, told).await;
    });
}

fn answer() -> String {
    format!(
        "HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/json\r\ncontent-length: {}\r\nretry-after: \
         1\r\nconnection: close\r\n\r\n{BODY}",
        BODY.len()
    )
}
