//! Placing a control-flow graph in layers. The work is done by the `layout-rs` crate; here is what goes in
//! (blocks and edges worth showing) and what comes out (boxes and curves), free of its types.

use layout::core::base::Orientation;
use layout::core::format::{ClipHandle, RenderBackend};
use layout::core::geometry::Point;
use layout::core::style::StyleAttr;
use layout::std_shapes::shapes::{Arrow, Element, ShapeKind};
use layout::topo::layout::VisualGraph;
use trodden_numbering::{BlockId, EdgeRef, FlowGraph};

use crate::view::MethodView;

/// Graphs with more blocks are cut down to their hot part.
pub(crate) const MAX_BLOCKS: usize = 150;
const FONT_SIZE: usize = 13;

/// A placed graph.
pub(crate) struct Drawing {
    pub width: f64,
    pub height: f64,
    pub blocks: Vec<Placed>,
    pub edges: Vec<Curve>,
    /// Blocks left out because there were too many.
    pub hidden: usize,
}

/// A placed block; `x`, `y` is the top left corner.
pub(crate) struct Placed {
    pub block: usize,
    pub x: f64,
    pub y: f64,
    pub width: f64,
    pub height: f64,
    pub label: String,
}

/// A routed edge.
pub(crate) struct Curve {
    pub edge: EdgeRef,
    /// SVG path data.
    pub data: String,
    /// The curve runs from target to source (an upward edge): the arrow head belongs at its start.
    pub reversed: bool,
    /// Where a label next to the source fits.
    pub label_at: (f64, f64),
}

/// The label of a block: its lines, or its bytecode range.
pub(crate) fn label(view: &MethodView, block: usize) -> String {
    let info = &view.map.blocks[block];
    match (view.map.line(info.start), view.map.line(info.last)) {
        (Some(first), Some(last)) if first < last => format!("lines {first}–{last}"),
        (Some(first), Some(last)) if first > last => format!("lines {first}, {last}"),
        (Some(line), _) => format!("line {line}"),
        _ => format!("bytecode {}–{}", info.start, info.last),
    }
}

/// The blocks to show: all, or the busiest [`MAX_BLOCKS`] and those of the hottest path (as far as they fit).
pub(crate) fn shown(view: &MethodView) -> Vec<usize> {
    let mut blocks: Vec<usize> = (0..view.map.blocks.len()).collect();
    if blocks.len() > MAX_BLOCKS {
        let mut hot = vec![false; blocks.len()];
        for block in view.hottest().iter().flat_map(|p| &p.description.blocks) {
            hot[block.index()] = true;
        }
        let entry = view.map.graph.entry().index();
        blocks.sort_by_key(|&b| (b != entry, !hot[b], std::cmp::Reverse(view.edges.blocks[b]), b));
        blocks.truncate(MAX_BLOCKS);
        blocks.sort_unstable();
    }
    blocks
}

/// Lays out the graph of a method whose counts are readable. `None` if there is nothing to place.
pub(crate) fn place(view: &MethodView) -> Option<Drawing> {
    let shown = shown(view);
    if shown.is_empty() || view.map.graph.num_blocks() != view.map.blocks.len() {
        return None;
    }
    let mut graph = VisualGraph::new(Orientation::TopToBottom);
    let mut look = StyleAttr::simple();
    look.font_size = FONT_SIZE;
    let mut handle_of = vec![None; view.map.blocks.len()];
    for &block in &shown {
        let label = label(view, block);
        // layout-rs reckons a character as wide as it is high; real ones are about 0.6 of that.
        let reckoned = "m".repeat((label.chars().count() * 6).div_ceil(10).max(5)) + "\nm";
        let shape = ShapeKind::new_box(&reckoned);
        let element = Element::create(
            shape,
            look.clone(),
            Orientation::TopToBottom,
            Point::new(1.0, 1.0),
        );
        handle_of[block] = Some(graph.add_node(element));
    }
    let mut edges = Vec::new();
    for &block in &shown {
        let from = BlockId::new(block);
        for (index, to) in view.map.graph.successors(from).iter().enumerate() {
            if let (Some(&Some(source)), Some(&Some(target))) =
                (handle_of.get(block), handle_of.get(to.index()))
            {
                // The property travels to the back end and tells which edge a curve is.
                let arrow = Arrow::simple_with_properties("", edges.len().to_string());
                edges.push(EdgeRef {
                    from,
                    index: index as u32,
                });
                graph.add_edge(arrow, source, target);
            }
        }
    }
    let mut recorder = Recorder {
        edges: &edges,
        curves: Vec::new(),
        bounds: Bounds::default(),
    };
    graph.do_it(false, false, false, &mut recorder);
    let Recorder {
        mut curves,
        mut bounds,
        ..
    } = recorder;
    let mut blocks: Vec<Placed> = shown
        .iter()
        .filter_map(|&block| {
            let (low, high) = graph.pos(handle_of[block]?).bbox(false);
            bounds.grow(low);
            bounds.grow(high);
            Some(Placed {
                block,
                x: low.x,
                y: low.y,
                width: high.x - low.x,
                height: high.y - low.y,
                label: label(view, block),
            })
        })
        .collect();
    // Move everything so that the corner is (MARGIN, MARGIN); curves are kept as points until here.
    const MARGIN: f64 = 12.0;
    let (dx, dy) = (MARGIN - bounds.low.0, MARGIN - bounds.low.1);
    for block in &mut blocks {
        block.x += dx;
        block.y += dy;
    }
    let edges = curves.drain(..).map(|raw| raw.moved(dx, dy)).collect();
    Some(Drawing {
        width: bounds.high.0 - bounds.low.0 + 2.0 * MARGIN,
        height: bounds.high.1 - bounds.low.1 + 2.0 * MARGIN,
        blocks,
        edges,
        hidden: view.map.blocks.len() - shown.len(),
    })
}

struct Bounds {
    low: (f64, f64),
    high: (f64, f64),
}

impl Default for Bounds {
    fn default() -> Self {
        Bounds {
            low: (f64::MAX, f64::MAX),
            high: (f64::MIN, f64::MIN),
        }
    }
}

impl Bounds {
    fn grow(&mut self, p: Point) {
        self.low = (self.low.0.min(p.x), self.low.1.min(p.y));
        self.high = (self.high.0.max(p.x), self.high.1.max(p.y));
    }
}

struct RawCurve {
    edge: EdgeRef,
    points: Vec<(Point, Point)>,
    reversed: bool,
}

impl RawCurve {
    fn moved(self, dx: f64, dy: f64) -> Curve {
        let at = |p: Point| (p.x + dx, p.y + dy);
        let text = |p: Point| format!("{:.1} {:.1}", p.x + dx, p.y + dy);
        let mut data = String::new();
        for (i, &(a, b)) in self.points.iter().enumerate() {
            data += &match i {
                0 => format!("M{} C{}", text(a), text(b)),
                1 => format!(", {}, {}", text(a), text(b)),
                _ => format!(" S{}, {}", text(a), text(b)),
            };
        }
        // The pairs are (point, control) at the start and (control, point) after that.
        let (near, towards) = match (self.reversed, self.points.as_slice()) {
            (false, [(start, control), ..]) => (at(*start), at(*control)),
            (true, [.., (control, end)]) => (at(*end), at(*control)),
            _ => ((0.0, 0.0), (0.0, 0.0)),
        };
        let part = |a: f64, b: f64| a + (b - a) * 0.35;
        Curve {
            edge: self.edge,
            data,
            reversed: self.reversed,
            label_at: (
                part(near.0, towards.0),
                near.1 + (towards.1 - near.1).signum() * 12.0,
            ),
        }
    }
}

/// Takes the arrows from layout-rs; boxes are read from the graph afterwards.
struct Recorder<'e> {
    edges: &'e [EdgeRef],
    curves: Vec<RawCurve>,
    bounds: Bounds,
}

impl RenderBackend for Recorder<'_> {
    fn draw_rect(&mut self, _: Point, _: Point, _: &StyleAttr, _: Option<String>, _: Option<ClipHandle>) {}
    fn draw_line(&mut self, _: Point, _: Point, _: &StyleAttr, _: Option<String>) {}
    fn draw_circle(&mut self, _: Point, _: Point, _: &StyleAttr, _: Option<String>) {}
    fn draw_text(&mut self, _: Point, _: &str, _: &StyleAttr) {}

    fn draw_arrow(
        &mut self,
        path: &[(Point, Point)],
        _dashed: bool,
        head: (bool, bool),
        _look: &StyleAttr,
        properties: Option<String>,
        _text: &str,
    ) {
        let index = properties.and_then(|p| p.parse::<usize>().ok());
        let Some(&edge) = index.and_then(|i| self.edges.get(i)) else {
            return;
        };
        for &(a, b) in path {
            self.bounds.grow(a);
            self.bounds.grow(b);
        }
        self.curves.push(RawCurve {
            edge,
            points: path.to_vec(),
            reversed: head.0 && !head.1,
        });
    }

    fn create_clip(&mut self, _: Point, _: Point, _: usize) -> ClipHandle {
        0
    }
}
