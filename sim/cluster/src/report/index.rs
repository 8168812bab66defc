//! The page that leads to the pages of several experiments: their figures and plots one below the other.
//!
//! In: results of experiments. Out: `index.html` (self-contained) beside their pages. Guarantees: no outside resources.
use super::{cell, escape, row, ReportError, Results, STYLE};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// What the page tells of an experiment.
#[derive(Debug, Clone)]
pub struct Entry {
    name: String,
    title: String,
    /// Figures in all, reached, and missed without a known reason.
    counts: [usize; 3],
    figures: Vec<[String; 4]>,
    /// SVG.
    plots: Vec<String>,
}

impl Entry {
    /// Of finished results.
    pub fn of(results: &Results<'_>) -> Result<Entry, ReportError> {
        let all = results.figures;
        let line = |f: &crate::figures::Figure| [f.name.clone(), cell(f.value), f.target(), f.verdict().into()];
        Ok(Entry {
            name: results.experiment.name.clone(),
            title: results.experiment.title.clone(),
            counts: [all.len(), all.iter().filter(|f| f.reached).count(), all.iter().filter(|f| f.fails()).count()],
            figures: all.iter().map(line).collect(),
            plots: results.experiment.plot.iter().map(|p| results.plot(p)).collect::<Result<_, _>>()?,
        })
    }
}

/// The page.
#[derive(Debug, Clone, Default)]
pub struct Index {
    pub entries: Vec<Entry>,
}

impl Index {
    /// As text.
    pub fn html(&self) -> String {
        let mut s = format!("{STYLE}<h1>Experiments on a simulated cluster</h1><table>");
        row(&mut s, "th", &["experiment", "figures", "reached", "missed, known why", "missed"].map(String::from));
        for e in &self.entries {
            let [all, reached, fails] = e.counts;
            let link = format!("<a href=\"#{}\">{}</a>", escape(&e.name), escape(&e.title));
            let _ = write!(s, "<tr><td>{link}</td><td>{all}</td><td>{reached}</td>");
            let _ = write!(s, "<td>{}</td><td>{fails}</td></tr>", all - reached - fails);
        }
        s.push_str("</table>");
        for e in &self.entries {
            let name = escape(&e.name);
            let _ = write!(s, "<h2 id=\"{name}\">{}</h2>", escape(&e.title));
            let _ = write!(s, "<p><a href=\"{name}.html\">every run</a>, <a href=\"{name}.json\">JSON</a></p><table>");
            row(&mut s, "th", &["figure", "measured", "to reach", ""].map(String::from));
            for f in &e.figures {
                row(&mut s, "td", f);
            }
            s.push_str("</table>");
            s.extend(e.plots.iter().map(String::as_str));
        }
        s.push_str("</body></html>\n");
        s
    }

    /// Writes index.html into `folder`.
    pub fn write(&self, folder: &Path) -> Result<PathBuf, ReportError> {
        let file = folder.join("index.html");
        match std::fs::write(&file, self.html()) {
            Ok(()) => Ok(file),
            Err(cause) => Err(ReportError::Write { file, cause }),
        }
    }
}
