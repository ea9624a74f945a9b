//! Numbers about the server, as Prometheus reads them.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::limits::Gate;
use super::projects::Projects;

/// Upper ends of the durations that are told apart, in seconds.
const BUCKETS: [f64; 10] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1.0, 10.0];

/// What was counted.
#[derive(Debug, Default)]
pub(super) struct Metrics(Mutex<Counted>);

#[derive(Debug, Default)]
struct Counted {
    /// By route, method and status.
    requests: BTreeMap<(&'static str, &'static str, u16), u64>,
    /// By route and method.
    durations: BTreeMap<(&'static str, &'static str), Durations>,
    connections: u64,
    refused_connections: u64,
}

#[derive(Debug, Default)]
struct Durations {
    /// How many took at most as long as each bucket; not summed up.
    buckets: [u64; BUCKETS.len()],
    count: u64,
    seconds: f64,
}

impl Metrics {
    /// A request was answered.
    pub(super) fn request(&self, method: &'static str, route: &'static str, status: u16, took: Duration) {
        let mut counted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *counted.requests.entry((route, method, status)).or_default() += 1;
        let durations = counted.durations.entry((route, method)).or_default();
        let seconds = took.as_secs_f64();
        durations.count += 1;
        durations.seconds += seconds;
        let bucket = BUCKETS.iter().zip(&mut durations.buckets).find(|(end, _)| seconds <= **end);
        if let Some((_, bucket)) = bucket {
            *bucket += 1;
        }
    }

    /// A connection was taken, or refused because there are too many.
    pub(super) fn connection(&self, taken: bool) {
        let mut counted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if taken { counted.connections += 1 } else { counted.refused_connections += 1 }
    }

    /// All of it.
    pub(super) fn text(&self, projects: &Projects, gate: &Gate) -> String {
        let mut out = Text(String::new());
        let counted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        out.head("bilinc_requests_total", "counter", "Requests answered.");
        for ((route, method, status), number) in &counted.requests {
            let labels = format!("{{route=\"{route}\",method=\"{method}\",status=\"{status}\"}}");
            out.line("bilinc_requests_total", &labels, number);
        }
        out.head("bilinc_request_duration_seconds", "histogram", "How long requests took.");
        for ((route, method), durations) in &counted.durations {
            out.histogram(route, method, durations);
        }
        out.head("bilinc_connections_total", "counter", "Connections taken.");
        out.line("bilinc_connections_total", "", &counted.connections);
        out.head("bilinc_refused_connections_total", "counter", "Connections refused because there were too many.");
        out.line("bilinc_refused_connections_total", "", &counted.refused_connections);
        drop(counted);
        out.head("bilinc_open_stores", "gauge", "Stores that are open.");
        out.line("bilinc_open_stores", "", &projects.open_stores());
        out.head("bilinc_log_position", "gauge", "Sum of the last positions of the open stores.");
        out.line("bilinc_log_position", "", &projects.positions());
        out.head("bilinc_free_places", "gauge", "Requests that could begin at once.");
        out.line("bilinc_free_places", "", &gate.free());
        out.0
    }
}

/// The text as it grows; writing to it cannot fail.
struct Text(String);

impl Text {
    fn head(&mut self, name: &str, kind: &str, help: &str) {
        let _ = writeln!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}");
    }

    fn line(&mut self, name: &str, labels: &str, value: &dyn std::fmt::Display) {
        let _ = writeln!(self.0, "{name}{labels} {value}");
    }

    fn histogram(&mut self, route: &str, method: &str, durations: &Durations) {
        const NAME: &str = "bilinc_request_duration_seconds";
        let labels = format!("route=\"{route}\",method=\"{method}\"");
        let mut sum = 0;
        for (end, number) in BUCKETS.iter().zip(durations.buckets) {
            sum += number;
            self.line(&format!("{NAME}_bucket"), &format!("{{{labels},le=\"{end}\"}}"), &sum);
        }
        self.line(&format!("{NAME}_bucket"), &format!("{{{labels},le=\"+Inf\"}}"), &durations.count);
        self.line(&format!("{NAME}_sum"), &format!("{{{labels}}}"), &durations.seconds);
        self.line(&format!("{NAME}_count"), &format!("{{{labels}}}"), &durations.count);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_summed_up_from_the_shortest() {
        let metrics = Metrics::default();
        for millis in [1, 3, 700, 60_000] {
            metrics.request("GET", "/r", 200, Duration::from_millis(millis));
        }
        let data = std::env::temp_dir();
        let text = metrics.text(&Projects::new(&data, false), &Gate::new(1, 1));
        for line in [
            "bilinc_requests_total{route=\"/r\",method=\"GET\",status=\"200\"} 4",
            "bilinc_request_duration_seconds_bucket{route=\"/r\",method=\"GET\",le=\"0.001\"} 1",
            "bilinc_request_duration_seconds_bucket{route=\"/r\",method=\"GET\",le=\"0.5\"} 2",
            "bilinc_request_duration_seconds_bucket{route=\"/r\",method=\"GET\",le=\"10\"} 3",
            "bilinc_request_duration_seconds_bucket{route=\"/r\",method=\"GET\",le=\"+Inf\"} 4",
        ] {
            assert!(text.lines().any(|found| found == line), "{line}\n{text}");
        }
    }
}
