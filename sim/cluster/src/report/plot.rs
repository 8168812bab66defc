//! Plots as SVG text.
//!
//! In: lines of points, with the spread of each where there is one. Out: SVG, or the reason why it could not be drawn.
use super::ReportError;
use plotters::coord::Shift;
use plotters::prelude::*;

const SIZE: (u32, u32) = (900, 380);
const COLOURS: [RGBColor; 6] = [
    RGBColor(31, 119, 180),
    RGBColor(214, 39, 40),
    RGBColor(44, 160, 44),
    RGBColor(255, 127, 14),
    RGBColor(148, 103, 189),
    RGBColor(140, 86, 75),
];

/// A point with its spread.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Dot {
    pub x: f64,
    pub y: f64,
    pub low: f64,
    pub high: f64,
}

impl Dot {
    /// Without a spread.
    pub fn at(x: f64, y: f64) -> Dot {
        Dot { x, y, low: y, high: y }
    }
}

/// A line.
pub struct Line {
    pub label: String,
    pub dots: Vec<Dot>,
    /// Mark each point.
    pub marks: bool,
}

/// Texts and axes.
pub struct Axes<'a> {
    pub title: &'a str,
    pub x: &'a str,
    pub y: &'a str,
    pub log_x: bool,
}

/// Draws the lines.
pub fn draw(axes: &Axes<'_>, lines: &[Line]) -> Result<String, ReportError> {
    let mut svg = String::new();
    let fail = |e: String| ReportError::Plot { plot: axes.title.into(), reason: e };
    let root = SVGBackend::with_string(&mut svg, SIZE).into_drawing_area();
    root.fill(&WHITE).map_err(|e| fail(e.to_string()))?;
    chart(&root, axes, lines).map_err(|e| fail(e.to_string()))?;
    root.present().map_err(|e| fail(e.to_string()))?;
    drop(root);
    Ok(svg)
}

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Failure<'a> = DrawingAreaErrorKind<<SVGBackend<'a> as DrawingBackend>::ErrorType>;

fn chart<'a>(root: &Area<'a>, axes: &Axes<'_>, lines: &[Line]) -> Result<(), Failure<'a>> {
    let dots = || lines.iter().flat_map(|l| &l.dots);
    let lowest = dots().map(|d| d.x).fold(f64::INFINITY, f64::min);
    let lowest = if lowest.is_finite() { lowest } else { 0.0 };
    let highest = dots().map(|d| d.x).fold(lowest, f64::max);
    let y_max = dots().map(|d| d.high).filter(|y| y.is_finite()).fold(1e-9, f64::max) * 1.08;
    let mut builder = ChartBuilder::on(root);
    builder.margin(8).caption(axes.title, ("sans-serif", 16)).x_label_area_size(36).y_label_area_size(64);
    macro_rules! lines {
        ($chart:expr) => {{
            let mut chart = $chart;
            chart.configure_mesh().x_desc(axes.x).y_desc(axes.y).light_line_style(WHITE).draw()?;
            for (i, line) in lines.iter().enumerate() {
                let colour = COLOURS[i % COLOURS.len()];
                chart
                    .draw_series(LineSeries::new(line.dots.iter().map(|d| (d.x, d.y)), &colour))?
                    .label(line.label.clone())
                    .legend(move |(x, y)| PathElement::new([(x, y), (x + 16, y)], colour));
                if line.marks {
                    chart.draw_series(line.dots.iter().map(|d| Circle::new((d.x, d.y), 3, colour.filled())))?;
                    let spread = line.dots.iter().filter(|d| d.high > d.low);
                    chart.draw_series(spread.map(|d| PathElement::new([(d.x, d.low), (d.x, d.high)], colour)))?;
                }
            }
            chart
                .configure_series_labels()
                .position(SeriesLabelPosition::LowerRight)
                .background_style(WHITE.mix(0.8))
                .draw()?;
        }};
    }
    if axes.log_x && lowest > 0.0 {
        lines!(builder.build_cartesian_2d((lowest..highest.max(lowest * 1.01)).log_scale(), 0.0..y_max)?);
    } else {
        let margin = ((highest - lowest) * 0.02).max(1e-9);
        lines!(builder.build_cartesian_2d(lowest - margin..highest + margin, 0.0..y_max)?);
    }
    Ok(())
}
