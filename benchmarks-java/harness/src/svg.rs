//! Bars and lines as SVG, readable on light and on dark ground.

use std::fmt::Write as _;

const WIDTH: f64 = 860.0;
const HEIGHT: f64 = 400.0;
const LEFT: f64 = 62.0;
const TOP: f64 = 44.0;
const BOTTOM: f64 = 84.0;
/// Right of the plot, for names at the ends of lines.
const RIGHT: f64 = 120.0;

/// Colours that differ for colour-blind readers too: on light ground, on dark.
const COLOURS: [(&str, &str); 8] = [
    ("#0072b2", "#56b4e9"),
    ("#d55e00", "#ff9a4d"),
    ("#009e73", "#3fd6a6"),
    ("#b0468a", "#f0a0d0"),
    ("#8a6d00", "#e6c84a"),
    ("#555555", "#c8c8c8"),
    ("#3b2fa0", "#a9a2ff"),
    ("#a00000", "#ff7a7a"),
];

/// A series: its name, and a value for each place of the axis, if there is one.
pub type Series = (String, Vec<Option<f64>>);

/// What a plot is of.
pub struct Plot<'a> {
    /// Title.
    pub title: &'a str,
    /// What the upright axis shows.
    pub axis: &'a str,
    /// Names of the groups of bars, or of the places of lines.
    pub places: &'a [String],
    /// The bars of each group, or the lines.
    pub series: &'a [Series],
    /// Dashed lines across: name and value.
    pub marks: &'a [(String, f64)],
    /// A logarithmic upright axis.
    pub log: bool,
}

impl Plot<'_> {
    /// Bars in groups.
    pub fn bars(&self) -> String {
        let mut svg = self.frame(true);
        let scale = self.scale();
        let group = self.plot_width() / self.places.len().max(1) as f64;
        let bar = group * 0.8 / self.series.len().max(1) as f64;
        let floor = scale.at(scale.floor());
        for (s, (_, values)) in self.series.iter().enumerate() {
            for (place, value) in values.iter().enumerate() {
                let Some(value) = value else { continue };
                let x = LEFT + group * (place as f64 + 0.1) + bar * s as f64;
                let y = scale.at(*value);
                let (top, height) = (y.min(floor), (y - floor).abs().max(0.5));
                let width = bar * 0.92;
                let _ = writeln!(
                    svg,
                    "<rect class=\"f{s}\" x=\"{x:.1}\" y=\"{top:.1}\" width=\"{width:.1}\" height=\"{height:.1}\"/>"
                );
            }
        }
        self.finish(svg, &scale, true)
    }

    /// Lines from place to place.
    pub fn lines(&self) -> String {
        let mut svg = self.frame(false);
        let scale = self.scale();
        let mut ends = Vec::new();
        for (s, (name, values)) in self.series.iter().enumerate() {
            let points: Vec<(f64, f64)> = values
                .iter()
                .enumerate()
                .filter_map(|(place, value)| Some((self.place(place), scale.at((*value)?))))
                .collect();
            let path: Vec<String> = points.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
            let _ = writeln!(
                svg,
                "<polyline class=\"l{}\" points=\"{}\"/>",
                s % COLOURS.len(),
                path.join(" ")
            );
            for (x, y) in &points {
                let _ = writeln!(
                    svg,
                    "<circle class=\"f{}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"2.5\"/>",
                    s % COLOURS.len()
                );
            }
            if let Some((x, y)) = points.last() {
                ends.push((*y, *x, s, name));
            }
        }
        // Names that would lie on each other are moved down.
        ends.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut last = f64::MIN;
        for (y, x, s, name) in ends {
            let at = y.max(last + 13.0);
            last = at;
            let _ = writeln!(
                svg,
                "<text class=\"f{}\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
                s % COLOURS.len(),
                x + 8.0,
                at + 4.0,
                escape(name)
            );
        }
        self.finish(svg, &scale, false)
    }

    fn plot_width(&self) -> f64 {
        WIDTH - LEFT - RIGHT
    }

    fn place(&self, place: usize) -> f64 {
        let steps = (self.places.len().max(2) - 1) as f64;
        LEFT + 12.0 + (self.plot_width() - 24.0) * place as f64 / steps
    }

    fn scale(&self) -> Scale {
        let values = self.series.iter().flat_map(|(_, values)| values).flatten();
        let values: Vec<f64> = values
            .copied()
            .chain(self.marks.iter().map(|(_, v)| *v))
            .collect();
        Scale::of(&values, self.log)
    }

    fn frame(&self, legend: bool) -> String {
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" width=\"{WIDTH}\" height=\"{HEIGHT}\" role=\"img\">\n\
             <title>{}</title>\n<style>\n\
             .ground{{fill:#ffffff}} text{{font:12px sans-serif;fill:#1f2328}} .title{{font-size:14px;font-weight:bold}} .grid{{stroke:#d0d7de;stroke-width:1}}\n\
             .mark{{stroke:#1f2328;stroke-width:1.2;stroke-dasharray:5 4;fill:none}}\n",
            escape(self.title)
        );
        let mut dark = String::new();
        for (s, (light, on_dark)) in COLOURS.iter().enumerate() {
            let _ = writeln!(
                svg,
                ".f{s},text.f{s}{{fill:{light}}} .l{s}{{stroke:{light};stroke-width:1.8;fill:none}}"
            );
            let _ = writeln!(
                dark,
                ".f{s},text.f{s}{{fill:{on_dark}}} .l{s}{{stroke:{on_dark}}}"
            );
        }
        let _ = write!(
            svg,
            "@media (prefers-color-scheme: dark){{\n.ground{{fill:#0d1117}} text{{fill:#e6edf3}} .grid{{stroke:#30363d}} .mark{{stroke:#e6edf3}}\n{dark}}}\n</style>\n\
             <rect class=\"ground\" width=\"{WIDTH}\" height=\"{HEIGHT}\"/>\n<text class=\"title\" x=\"{LEFT}\" y=\"20\">{}</text>\n",
            escape(self.title)
        );
        if legend {
            let mut x = LEFT;
            for (s, (name, _)) in self.series.iter().enumerate() {
                let y = HEIGHT - 14.0;
                let _ = writeln!(
                    svg,
                    "<rect class=\"f{s}\" x=\"{x:.1}\" y=\"{:.1}\" width=\"11\" height=\"11\"/>",
                    y - 10.0
                );
                let _ = writeln!(
                    svg,
                    "<text x=\"{:.1}\" y=\"{y:.1}\">{}</text>",
                    x + 15.0,
                    escape(name)
                );
                x += 40.0 + 7.0 * name.chars().count() as f64;
            }
        }
        svg
    }

    fn finish(&self, mut svg: String, scale: &Scale, bars: bool) -> String {
        for (value, label) in scale.ticks() {
            let y = scale.at(value);
            let _ = writeln!(
                svg,
                "<line class=\"grid\" x1=\"{LEFT}\" x2=\"{:.1}\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>\n<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{label}</text>",
                WIDTH - RIGHT,
                LEFT - 6.0,
                y + 4.0
            );
        }
        let group = self.plot_width() / self.places.len().max(1) as f64;
        for (place, name) in self.places.iter().enumerate() {
            let x = if bars {
                LEFT + group * (place as f64 + 0.5)
            } else {
                self.place(place)
            };
            let y = HEIGHT - BOTTOM + 16.0;
            // Long names of narrow groups are turned.
            let turned = if name.chars().count() as f64 * 7.0 > group {
                format!(" transform=\"rotate(-28 {x:.1} {y:.1})\" text-anchor=\"end\"")
            } else {
                " text-anchor=\"middle\"".to_owned()
            };
            let _ = writeln!(
                svg,
                "<text x=\"{x:.1}\" y=\"{y:.1}\"{turned}>{}</text>",
                escape(name)
            );
        }
        let mut last = f64::MIN;
        let mut marks: Vec<_> = self
            .marks
            .iter()
            .map(|(name, value)| (scale.at(*value), name))
            .collect();
        marks.sort_by(|a, b| a.0.total_cmp(&b.0));
        for (y, name) in marks {
            let at = y.max(last + 13.0);
            last = at;
            let _ = writeln!(
                svg,
                "<line class=\"mark\" x1=\"{LEFT}\" x2=\"{:.1}\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>",
                WIDTH - RIGHT
            );
            if bars {
                let _ = writeln!(
                    svg,
                    "<text x=\"{:.1}\" y=\"{:.1}\">{}</text>",
                    WIDTH - RIGHT + 4.0,
                    at + 4.0,
                    escape(name)
                );
            } else {
                let _ = writeln!(
                    svg,
                    "<text x=\"{:.1}\" y=\"{:.1}\">{}</text>",
                    LEFT + 4.0,
                    y - 4.0,
                    escape(name)
                );
            }
        }
        let _ = writeln!(
            svg,
            "<text x=\"{LEFT}\" y=\"36\">{}</text>\n</svg>",
            escape(self.axis)
        );
        svg
    }
}

/// The upright axis.
struct Scale {
    from: f64,
    to: f64,
    log: bool,
    step: f64,
}

impl Scale {
    fn of(values: &[f64], log: bool) -> Scale {
        let least = values.iter().copied().fold(f64::INFINITY, f64::min);
        let greatest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        if log {
            let from = 10f64.powf(least.max(1e-9).log10().floor());
            let to = 10f64.powf(greatest.max(1e-9).log10().ceil()).max(from * 10.0);
            return Scale {
                from,
                to,
                log,
                step: 10.0,
            };
        }
        let from = least.min(0.0);
        let rough = ((greatest.max(0.0) - from) / 5.0).max(1e-9);
        let power = 10f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 2.5, 5.0, 10.0]
            .map(|n| n * power)
            .into_iter()
            .find(|step| *step >= rough);
        let step = step.unwrap_or(rough);
        Scale {
            from: (from / step).floor() * step,
            to: (greatest.max(0.0) / step).ceil() * step,
            log,
            step,
        }
    }

    /// Where bars begin.
    fn floor(&self) -> f64 {
        if self.log { self.from } else { 0.0 }
    }

    fn at(&self, value: f64) -> f64 {
        let share = if self.log {
            (value.max(self.from) / self.from).ln() / (self.to / self.from).ln()
        } else {
            (value - self.from) / (self.to - self.from)
        };
        HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM)
    }

    fn ticks(&self) -> Vec<(f64, String)> {
        let mut ticks = Vec::new();
        let mut value = self.from;
        while value <= self.to * 1.000_001 + 1e-12 && ticks.len() < 20 {
            ticks.push((value, label(value)));
            value = if self.log {
                value * self.step
            } else {
                value + self.step
            };
        }
        ticks
    }
}

fn label(value: f64) -> String {
    match value.abs() {
        v if v >= 1e6 => format!("{} M", value / 1e6),
        v if v >= 1e4 => format!("{} k", value / 1e3),
        v if v < 1e-9 => "0".to_owned(),
        v if v < 1e-3 => format!("{value:.0e}"),
        _ => {
            let text = format!("{value:.3}");
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        }
    }
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plot<'a>(series: &'a [Series], places: &'a [String], log: bool) -> Plot<'a> {
        Plot {
            title: "a < b",
            axis: "times",
            places,
            series,
            marks: &[],
            log,
        }
    }

    #[test]
    fn axes_have_round_steps() {
        let labels = |values: &[f64], log| -> Vec<String> {
            Scale::of(values, log)
                .ticks()
                .into_iter()
                .map(|(_, label)| label)
                .collect()
        };
        assert_eq!(labels(&[0.3, 1.9], false), ["0", "0.5", "1", "1.5", "2"]);
        assert_eq!(labels(&[3.0, 250.0], true), ["1", "10", "100", "1000"]);
        assert_eq!(labels(&[-3.0, 7.0], false), ["-4", "-2", "0", "2", "4", "6", "8"]);
    }

    #[test]
    fn each_value_has_a_bar_or_a_point() {
        let places = ["x".to_owned(), "y".to_owned()];
        let series = [
            ("s".to_owned(), vec![Some(1.0), None]),
            ("t".to_owned(), vec![Some(2.0), Some(3.0)]),
        ];
        let bars = plot(&series, &places, false).bars();
        // Three bars, two squares of the legend and the ground.
        assert_eq!(bars.matches("<rect").count(), 6);
        assert!(bars.contains("a &lt; b") && bars.contains("prefers-color-scheme: dark"));
        let lines = plot(&series, &places, true).lines();
        assert_eq!(
            (
                lines.matches("<circle").count(),
                lines.matches("<polyline").count()
            ),
            (3, 2)
        );
    }
}
