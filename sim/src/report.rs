//! The HTML report and its JSON twin.
//!
//! In: an [`Outcome`], and the lossless reference where there is one. Out: a self-contained page with plots (sequence over
//! time by path, windows, resends) and the same data as JSON. Guarantees: no outside resources; errors name the file.
use crate::recorder::Series;
use crate::world::{NodeOutcome, Outcome};
use plotters::prelude::*;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// A report could not be made.
#[derive(Debug, Error)]
pub enum ReportError {
    #[error("cannot write {}: {cause}; choose a file in a folder that exists and may be written", file.display())]
    Write { file: PathBuf, cause: std::io::Error },
    #[error("cannot draw {plot}: {reason}")]
    Plot { plot: String, reason: String },
    #[error("cannot encode the report as JSON")]
    Json(#[from] serde_json::Error),
}

const WIDTH: u32 = 900;
const HEIGHT: u32 = 360;

fn colour(i: usize) -> RGBColor {
    const COLOURS: [RGBColor; 8] = [
        RGBColor(31, 119, 180),
        RGBColor(255, 127, 14),
        RGBColor(44, 160, 44),
        RGBColor(214, 39, 40),
        RGBColor(148, 103, 189),
        RGBColor(140, 86, 75),
        RGBColor(227, 119, 194),
        RGBColor(23, 190, 207),
    ];
    COLOURS[i % COLOURS.len()]
}

struct Line<'a> {
    label: String,
    series: &'a Series,
    marks: Option<&'a Series>,
}

fn plot(title: &str, y: &str, lines: &[Line]) -> Result<String, ReportError> {
    let mut svg = String::new();
    let fail = |e: String| ReportError::Plot { plot: title.into(), reason: e };
    let all = || lines.iter().flat_map(|l| l.series.points.iter().chain(l.marks.iter().flat_map(|m| m.points.iter())));
    let x_max = all().map(|p| p.0).fold(1.0, f64::max);
    let x_min = all().map(|p| p.0).fold(x_max, f64::min);
    let y_max = all().map(|p| p.1).fold(1.0, f64::max);
    {
        let root = SVGBackend::with_string(&mut svg, (WIDTH, HEIGHT)).into_drawing_area();
        root.fill(&WHITE).map_err(|e| fail(e.to_string()))?;
        let mut chart = ChartBuilder::on(&root)
            .margin(8)
            .caption(title, ("sans-serif", 16))
            .x_label_area_size(34)
            .y_label_area_size(54)
            .build_cartesian_2d(x_min..x_max, 0.0..y_max * 1.05)
            .map_err(|e| fail(e.to_string()))?;
        chart.configure_mesh().x_desc("time, us").y_desc(y).light_line_style(WHITE).draw().map_err(|e| fail(e.to_string()))?;
        for (i, l) in lines.iter().enumerate() {
            let c = colour(i);
            chart
                .draw_series(LineSeries::new(l.series.points.iter().copied(), &c))
                .map_err(|e| fail(e.to_string()))?
                .label(l.label.clone())
                .legend(move |(x, y)| PathElement::new([(x, y), (x + 16, y)], c));
            if let Some(m) = l.marks {
                chart.draw_series(m.points.iter().map(|p| Circle::new(*p, 3, c.filled()))).map_err(|e| fail(e.to_string()))?;
            }
        }
        chart
            .configure_series_labels()
            .position(SeriesLabelPosition::UpperLeft)
            .background_style(WHITE.mix(0.8))
            .draw()
            .map_err(|e| fail(e.to_string()))?;
        root.present().map_err(|e| fail(e.to_string()))?;
    }
    Ok(svg)
}

fn plots(node: &NodeOutcome) -> Result<String, ReportError> {
    let mut html = String::new();
    let mut peers: Vec<_> = node.paths.iter().map(|p| p.peer).collect();
    peers.dedup();
    for peer in peers {
        let paths: Vec<_> = node.paths.iter().filter(|p| p.peer == peer).collect();
        let sent: Vec<_> = paths
            .iter()
            .map(|p| Line {
                label: format!("path {} (plane {})", p.path, p.stats.plane),
                series: &p.series.sent,
                marks: Some(&p.series.resent),
            })
            .collect();
        let windows: Vec<_> =
            paths.iter().map(|p| Line { label: format!("path {}", p.path), series: &p.series.window, marks: None }).collect();
        let from = node.node;
        html += &plot(&format!("Sequence over time by path, node {from} to node {peer} (dots: resends)"), "packets", &sent)?;
        html += &plot(&format!("Windows, node {from} to node {peer}"), "packets", &windows)?;
    }
    Ok(html)
}

/// The table by path, as rows of text.
pub fn path_table(outcome: &Outcome) -> Vec<[String; 11]> {
    let mut rows =
        vec![["node", "to", "path", "plane", "packets", "resent", "duplicates", "CE marks", "RTT us", "window", "state"]
            .map(String::from)];
    for n in &outcome.nodes {
        for p in &n.paths {
            let s = &p.stats;
            rows.push([
                n.node.to_string(),
                p.peer.to_string(),
                p.path.to_string(),
                s.plane.to_string(),
                s.packets.to_string(),
                s.resent.to_string(),
                s.duplicates.to_string(),
                s.ce_marks.to_string(),
                format!("{:.1}", s.rtt_ns as f64 / 1000.0),
                s.window_pkts.to_string(),
                state_name(s.state).into(),
            ]);
        }
    }
    rows
}

fn state_name(state: u64) -> &'static str {
    match state {
        1 => "UP",
        2 => "SUSPECT",
        3 => "DOWN",
        _ => "-",
    }
}

/// The page.
pub fn html(outcome: &Outcome, description: &str, reference: Option<&Outcome>) -> Result<String, ReportError> {
    let mut s = String::from(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>mrnic report</title><style>\
         body{font-family:sans-serif;margin:24px;max-width:960px;color:#222}table{border-collapse:collapse;font-size:13px}\
         td,th{border-bottom:1px solid #ddd;padding:3px 10px;text-align:right}svg{max-width:100%;height:auto}</style></head><body>",
    );
    let _ = write!(s, "<h1>{}</h1><p>{}</p><ul>", escape(&outcome.scenario), escape(description));
    let _ = write!(s, "<li>memory: verified {} bytes</li>", outcome.bytes_verified);
    let _ = write!(s, "<li>lockstep: {} commits, 0 mismatches</li>", outcome.commits);
    let _ = write!(s, "<li>{:.1} us, {:.2} Gbit/s</li>", outcome.duration_ns as f64 / 1000.0, outcome.goodput_gbps());
    if let Some(r) = reference {
        let _ = write!(s, "<li>goodput: {:.1} % of the lossless run</li>", goodput_percent(outcome, r));
    }
    let _ = write!(s, "<li>seed {}</li></ul><h2>Paths</h2><table>", outcome.seed);
    for (i, row) in path_table(outcome).iter().enumerate() {
        let tag = if i == 0 { "th" } else { "td" };
        s.push_str("<tr>");
        for cell in row {
            let _ = write!(s, "<{tag}>{}</{tag}>", escape(cell));
        }
        s.push_str("</tr>");
    }
    s.push_str("</table><h2>Plots</h2>");
    for n in &outcome.nodes {
        s += &plots(n)?;
    }
    s.push_str("<h2>Planes</h2><table><tr><th>plane</th><th>sent</th><th>delivered</th><th>lost</th><th>lost (down)</th><th>marked</th><th>longest queue, bytes</th></tr>");
    for (i, p) in outcome.planes.iter().enumerate() {
        let _ = write!(
            s,
            "<tr><td>{i}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>",
            p.sent,
            p.delivered,
            p.dropped(),
            p.lost_down,
            p.marked,
            p.max_queue_bytes
        );
    }
    s.push_str("</table></body></html>\n");
    Ok(s)
}

fn escape(s: &str) -> String {
    s.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// Duration of the reference against that of the run, in percent.
pub fn goodput_percent(outcome: &Outcome, reference: &Outcome) -> f64 {
    100.0 * reference.duration_ns as f64 / outcome.duration_ns.max(1) as f64
}

/// The JSON that goes with a report.
pub fn json_beside(file: &Path) -> PathBuf {
    file.with_extension("json")
}

/// Writes page and JSON (same name, other extension). Returns the JSON's path.
pub fn write(file: &Path, outcome: &Outcome, description: &str, reference: Option<&Outcome>) -> Result<PathBuf, ReportError> {
    let put =
        |file: &Path, text: &str| std::fs::write(file, text).map_err(|cause| ReportError::Write { file: file.into(), cause });
    put(file, &html(outcome, description, reference)?)?;
    let json = json_beside(file);
    put(&json, &serde_json::to_string_pretty(outcome)?)?;
    Ok(json)
}
