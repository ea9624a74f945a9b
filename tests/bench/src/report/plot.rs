//! Lines in an SVG: so little that a plotting crate would be more to read.

use std::fmt::Write as _;

/// A line.
#[derive(Debug, Clone)]
pub(crate) struct Line {
    /// What it shows.
    pub(crate) name: String,
    /// Its points.
    pub(crate) points: Vec<(f64, f64)>,
}

/// A chart of lines.
#[derive(Debug)]
pub(crate) struct Chart<'a> {
    /// What it shows.
    pub(crate) title: &'a str,
    /// What goes to the right.
    pub(crate) right: &'a str,
    /// What goes up.
    pub(crate) up: &'a str,
    /// Whether both go by factors of ten.
    pub(crate) logarithmic: bool,
    /// The lines.
    pub(crate) lines: &'a [Line],
}

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 400.0;
const LEFT: f64 = 80.0;
const BELOW: f64 = 50.0;
const LEGEND: f64 = 220.0;
const COLOURS: [&str; 12] = [
    "#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e", "#17becf", "#8c564b", "#e377c2", "#7f7f7f", "#bcbd22",
    "#000000", "#98df8a",
];

/// One of the two directions.
struct Axis {
    least: f64,
    most: f64,
    logarithmic: bool,
    marks: Vec<f64>,
}

impl Axis {
    fn new(numbers: impl Iterator<Item = f64> + Clone, logarithmic: bool) -> Self {
        let numbers = numbers.filter(move |number| number.is_finite() && (!logarithmic || *number > 0.0));
        let least = numbers.clone().fold(f64::INFINITY, f64::min);
        let most = numbers.fold(f64::NEG_INFINITY, f64::max);
        if logarithmic {
            let (low, high) = (least.log10().floor(), most.log10().ceil().max(least.log10().floor() + 1.0));
            let marks = (low as i32..=high as i32).map(|power| 10_f64.powi(power)).collect();
            return Self { least: 10_f64.powf(low), most: 10_f64.powf(high), logarithmic, marks };
        }
        let most = if most > 0.0 { most } else { 1.0 };
        let rough = most / 5.0;
        let power = 10_f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0].map(|times| times * power).into_iter().find(|step| *step >= rough);
        let step = step.unwrap_or(most);
        let count = (most / step).ceil();
        let marks = (0..=count as u32).map(|mark| f64::from(mark) * step).collect();
        Self { least: 0.0, most: step * count, logarithmic, marks }
    }

    /// Where a number lies, from 0 to 1.
    fn place(&self, number: f64) -> f64 {
        let scale = |number: f64| if self.logarithmic { number.max(self.least).log10() } else { number };
        (scale(number) - scale(self.least)) / (scale(self.most) - scale(self.least))
    }
}

/// A number at an axis.
fn label(number: f64) -> String {
    match number {
        n if n >= 1e6 => format!("{} M", n / 1e6),
        n if n >= 1e3 => format!("{} k", n / 1e3),
        n => format!("{n}"),
    }
}

impl Chart<'_> {
    /// The chart as a picture.
    pub(crate) fn svg(&self) -> String {
        let points = self.lines.iter().flat_map(|line| &line.points);
        let right = Axis::new(points.clone().map(|point| point.0), self.logarithmic);
        let up = Axis::new(points.map(|point| point.1), self.logarithmic);
        let x = |number: f64| LEFT + right.place(number) * WIDTH;
        let y = |number: f64| 40.0 + (1.0 - up.place(number)) * HEIGHT;
        let (whole, high) = (LEFT + WIDTH + LEGEND, 40.0 + HEIGHT + BELOW);
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {whole} {high}\" font-family=\"sans-serif\" \
             font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
        );
        let mut text = |x: f64, y: f64, anchor: &str, words: &str| {
            let _ = writeln!(svg, "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{words}</text>");
        };
        text(LEFT, 20.0, "start", self.title);
        text(LEFT + WIDTH / 2.0, high - 10.0, "middle", self.right);
        text(LEFT - 10.0, 34.0, "end", self.up);
        for mark in &right.marks {
            text(x(*mark), 40.0 + HEIGHT + 18.0, "middle", &label(*mark));
        }
        for mark in &up.marks {
            text(LEFT - 8.0, y(*mark) + 4.0, "end", &label(*mark));
        }
        for (at, line) in self.lines.iter().enumerate() {
            text(LEFT + WIDTH + 34.0, 52.0 + at as f64 * 20.0, "start", &line.name);
        }
        for mark in &right.marks {
            let _ = writeln!(svg, "<path d=\"M{0:.1} 40V{1:.1}\" stroke=\"#ddd\"/>", x(*mark), 40.0 + HEIGHT);
        }
        for mark in &up.marks {
            let _ = writeln!(svg, "<path d=\"M{LEFT} {:.1}H{:.1}\" stroke=\"#ddd\"/>", y(*mark), LEFT + WIDTH);
        }
        for ((at, line), colour) in self.lines.iter().enumerate().zip(COLOURS.iter().cycle()) {
            let path: Vec<_> = line.points.iter().map(|point| format!("{:.1},{:.1}", x(point.0), y(point.1))).collect();
            let _ = writeln!(
                svg,
                "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>",
                path.join(" ")
            );
            let (left, high) = (LEFT + WIDTH + 12.0, 48.0 + at as f64 * 20.0);
            let _ = writeln!(svg, "<path d=\"M{left} {high}h16\" stroke=\"{colour}\" stroke-width=\"2\"/>");
        }
        svg.push_str("</svg>\n");
        svg
    }
}
