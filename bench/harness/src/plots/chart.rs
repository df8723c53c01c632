//! A chart of bars in groups.

use std::ops::Range;

/// Bars, next to each other or on top of each other.
#[derive(Clone, Debug)]
pub(crate) struct Chart {
    pub(crate) title: String,
    /// The unit of the values.
    pub(crate) unit: &'static str,
    /// The meaning of the bars of each group, and the number of their colour.
    pub(crate) series: Vec<(String, usize)>,
    pub(crate) groups: Vec<Group>,
    /// The bars of a group are parts of one.
    pub(crate) is_stacked: bool,
}

/// The bars of a workload, or of a mean.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    pub(crate) label: String,
    /// A line separates sections.
    pub(crate) section: &'static str,
    /// One for each series.
    pub(crate) bars: Vec<Option<Bar>>,
}

/// A value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Bar {
    pub(crate) value: f64,
    /// From where to where it may lie.
    pub(crate) whiskers: Option<[f64; 2]>,
}

impl Chart {
    pub(crate) fn has_bars(&self) -> bool {
        self.bars().next().is_some()
    }

    /// The values that the axis shows. If a few bars are much longer than the rest
    /// they are cut off.
    pub(crate) fn range(&self) -> Range<f64> {
        if self.is_stacked {
            return 0.0..100.0;
        }
        let mut highs: Vec<f64> = self.bars().map(Bar::high).collect();
        highs.sort_by(f64::total_cmp);
        let highest = highs.last().copied().unwrap_or(0.0);
        let usual = highs.get(highs.len() * 9 / 10).copied().unwrap_or(0.0);
        let end = highest.min(3.0 * usual).max(f64::MIN_POSITIVE);
        let lowest = self.bars().map(Bar::low).fold(0.0, f64::min);
        let start = lowest.max(-end);
        let margin = 0.05 * (end - start);
        let below = if start < 0.0 { margin } else { 0.0 };
        start - below..end + margin
    }

    fn bars(&self) -> impl Iterator<Item = &Bar> {
        self.groups
            .iter()
            .flat_map(|group| group.bars.iter().flatten())
    }
}

impl Bar {
    fn high(&self) -> f64 {
        self.whiskers
            .map_or(self.value, |[_, high]| high.max(self.value))
    }

    fn low(&self) -> f64 {
        self.whiskers
            .map_or(self.value, |[low, _]| low.min(self.value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(values: impl IntoIterator<Item = f64>) -> Chart {
        let whiskers = None;
        let bars = values
            .into_iter()
            .map(|value| Some(Bar { value, whiskers }));
        Chart {
            title: String::new(),
            unit: "",
            series: Vec::new(),
            groups: vec![Group {
                label: String::new(),
                section: "",
                bars: bars.collect(),
            }],
            is_stacked: false,
        }
    }

    #[test]
    fn all_usual_bars_are_shown() {
        let range = chart([-2.0, 5.0, 10.0]).range();
        assert!(range.start < -2.0 && range.end > 10.0, "{range:?}");
    }

    #[test]
    fn a_bar_that_would_dwarf_the_rest_is_cut_off() {
        let values = (0..20).map(f64::from).chain([1000.0]);
        let range = chart(values).range();
        assert!((19.0..200.0).contains(&range.end), "{range:?}");
    }

    #[test]
    fn without_bars_there_still_is_a_range() {
        let empty = chart([]);
        assert!(!empty.has_bars());
        let range = empty.range();
        assert!(range.start < range.end, "{range:?}");
    }
}
