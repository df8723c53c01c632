//! A chart as SVG, and that as PNG.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow};
use plotters::coord::Shift;
use plotters::coord::types::RangedCoordf64;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree};

use super::chart::{Bar, Chart};

/// Colours that most colour-blind people can distinguish (Okabe and Ito), and shades of them.
const COLOURS: [RGBColor; 12] = [
    RGBColor(0, 114, 178),
    RGBColor(153, 153, 153),
    RGBColor(86, 180, 233),
    RGBColor(0, 158, 115),
    RGBColor(240, 228, 66),
    RGBColor(213, 94, 0),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(0, 57, 89),
    RGBColor(102, 51, 0),
    RGBColor(0, 79, 58),
    RGBColor(60, 60, 60),
];
const FONT: &str = "sans-serif";
const FONT_SIZE: i32 = 14;
/// Average width of a character.
const CHARACTER_WIDTH: i32 = 7;
/// Height of title, bars and legend, without the names below the bars.
const HEIGHT: i32 = 380;
/// Pixels of the PNG for each of the SVG.
const SCALE: f32 = 2.0;

type Canvas<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Plot<'a, 'b> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<RangedCoordf64, RangedCoordf64>>;

/// Writes `name.svg` and `name.png` into `folder`.
pub(super) fn write(chart: &Chart, folder: &Path, name: &str) -> anyhow::Result<[PathBuf; 2]> {
    let svg = svg(chart).map_err(|error| anyhow!("{name}: {error}"))?;
    let paths = ["svg", "png"].map(|kind| folder.join(format!("{name}.{kind}")));
    fs::write(&paths[0], &svg).with_context(|| paths[0].display().to_string())?;
    let png = png(&svg).with_context(|| name.to_owned())?;
    fs::write(&paths[1], png).with_context(|| paths[1].display().to_string())?;
    Ok(paths)
}

fn svg(chart: &Chart) -> Result<String, Box<dyn std::error::Error>> {
    let bars_in_group = if chart.is_stacked {
        1
    } else {
        chart.series.len()
    };
    let group_width = 24.max(12 * bars_in_group as i32 + 14);
    let legend: i32 = chart
        .series
        .iter()
        .map(|(name, _)| legend_width(name))
        .sum();
    let width = (100 + group_width * chart.groups.len() as i32)
        .max(legend + 40)
        .max(480);
    let labels = chart.groups.iter().map(|group| group.label.chars().count());
    let label_height = CHARACTER_WIDTH * labels.max().unwrap_or(0) as i32 + 16;

    let height = HEIGHT + label_height;

    let mut svg = String::new();
    {
        let canvas = SVGBackend::with_string(&mut svg, (width as u32, height as u32));
        let canvas = canvas.into_drawing_area();
        canvas.fill(&WHITE)?;
        draw_legend(&canvas, chart, height - 24)?;
        let range = chart.range();
        let mut plot = ChartBuilder::on(&canvas)
            .caption(&chart.title, (FONT, FONT_SIZE + 4))
            .margin(10)
            // The legend is below the names.
            .x_label_area_size(label_height + 24)
            .y_label_area_size(64)
            .build_cartesian_2d(0.0..chart.groups.len() as f64, range.clone())?;
        plot.configure_mesh()
            .disable_x_mesh()
            .x_labels(0)
            .y_desc(chart.unit)
            .y_label_formatter(&|&value| format!("{}", (value * 1e3).round() / 1e3))
            .light_line_style(TRANSPARENT)
            .bold_line_style(BLACK.mix(0.15))
            .label_style((FONT, FONT_SIZE))
            .axis_desc_style((FONT, FONT_SIZE))
            .draw()?;
        draw_groups(&mut plot, chart)?;
        draw_labels(&canvas, &plot, chart)?;
        canvas.present()?;
    }
    Ok(svg)
}

fn draw_legend(
    canvas: &Canvas<'_>,
    chart: &Chart,
    top: i32,
) -> Result<(), Box<dyn std::error::Error>> {
    let mut left = 20;
    for (name, colour) in &chart.series {
        let square = [(left, top), (left + 12, top + 12)];
        canvas.draw(&Rectangle::new(square, fill(*colour).filled()))?;
        let style = (FONT, FONT_SIZE).into_font().color(&BLACK);
        let style = style.pos(Pos::new(HPos::Left, VPos::Center));
        canvas.draw(&Text::new(name.clone(), (left + 17, top + 6), style))?;
        left += legend_width(name);
    }
    Ok(())
}

fn legend_width(name: &str) -> i32 {
    CHARACTER_WIDTH * name.chars().count() as i32 + 36
}

fn draw_groups(plot: &mut Plot<'_, '_>, chart: &Chart) -> Result<(), Box<dyn std::error::Error>> {
    const GAP: f64 = 0.15;
    let range = chart.range();
    let shown = |value: f64| value.clamp(range.start, range.end);
    let bar_width = match chart.is_stacked {
        true => 1.0 - 2.0 * GAP,
        false => (1.0 - 2.0 * GAP) / chart.series.len() as f64,
    };
    for (at, group) in chart.groups.iter().enumerate() {
        let mut left = at as f64 + GAP;
        let mut bottom = 0.0;
        for (bar, (_, colour)) in group.bars.iter().zip(&chart.series) {
            let right = left + bar_width;
            let Some(Bar { value, whiskers }) = *bar else {
                left = if chart.is_stacked { left } else { right };
                continue;
            };
            let corners = [(left, shown(bottom)), (right, shown(bottom + value))];
            plot.draw_series([Rectangle::new(corners, fill(*colour).filled())])?;
            if let Some([low, high]) = whiskers {
                let middle = f64::midpoint(left, right);
                let line = vec![(middle, shown(low)), (middle, shown(high))];
                plot.draw_series([PathElement::new(line, BLACK)])?;
            }
            if value > range.end {
                let style = (FONT, FONT_SIZE - 4).into_font().color(&BLACK);
                let style = style.pos(Pos::new(HPos::Center, VPos::Top));
                let place = (f64::midpoint(left, right), range.end);
                plot.draw_series([Text::new(format!("{value:.0}"), place, style)])?;
            }
            if chart.is_stacked {
                bottom += value;
            } else {
                left = right;
            }
        }
        let is_first_of_section = at > 0 && chart.groups[at - 1].section != group.section;
        if is_first_of_section {
            let line = vec![(at as f64, range.start), (at as f64, range.end)];
            plot.draw_series([PathElement::new(line, BLACK.mix(0.5))])?;
        }
    }
    let zero = vec![(0.0, 0.0), (chart.groups.len() as f64, 0.0)];
    plot.draw_series([PathElement::new(zero, BLACK)])?;
    Ok(())
}

/// Names below the axis, from bottom to top.
fn draw_labels(
    canvas: &Canvas<'_>,
    plot: &Plot<'_, '_>,
    chart: &Chart,
) -> Result<(), Box<dyn std::error::Error>> {
    for (at, group) in chart.groups.iter().enumerate() {
        let (x, y) = plot.backend_coord(&(at as f64 + 0.5, chart.range().start));
        let style = (FONT, FONT_SIZE)
            .into_font()
            .transform(FontTransform::Rotate270);
        let style = style.color(&BLACK).pos(Pos::new(HPos::Right, VPos::Center));
        canvas.draw(&Text::new(group.label.clone(), (x, y + 8), style))?;
    }
    Ok(())
}

fn fill(colour: usize) -> RGBColor {
    COLOURS[colour % COLOURS.len()]
}

/// Renders with a font that comes with the program: the machine may have none.
fn png(svg: &str) -> anyhow::Result<Vec<u8>> {
    let mut options = Options::default();
    let fonts = options.fontdb_mut();
    fonts.load_font_data(dejavu::sans::regular().to_vec());
    fonts.set_sans_serif_family("DejaVu Sans");
    let tree = Tree::from_str(svg, &options)?;
    let size = tree.size();
    let pixels = |length: f32| (length * SCALE).ceil() as u32;
    let mut image = Pixmap::new(pixels(size.width()), pixels(size.height()))
        .context("the plot is too large")?;
    resvg::render(
        &tree,
        Transform::from_scale(SCALE, SCALE),
        &mut image.as_mut(),
    );
    Ok(image.encode_png()?)
}
