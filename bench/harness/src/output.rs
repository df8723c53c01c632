//! The folder of results.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use anyhow::Context;
use serde::Serialize;

use crate::figures::Figures;
use crate::results::{FILE, Outcome, Results};
use crate::targets::{Target, Verdict, evaluate, percent};
use crate::{plots, tables};

/// The files written, and the verdict.
pub(crate) struct Written {
    files: Vec<PathBuf>,
    targets: Vec<Target>,
    remarks: Vec<String>,
}

/// The file of results, with all that follows from the measurements.
#[derive(Serialize)]
struct Document<'a> {
    #[serde(flatten)]
    results: &'a Results,
    figures: &'a Figures,
    targets: &'a [Target],
}

/// Writes results, tables and plots into `folder`.
pub(crate) fn write(results: &Results, folder: &Path) -> anyhow::Result<Written> {
    fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    let figures = Figures::of(results);
    let targets = evaluate(&figures);
    let document = Document {
        results,
        figures: &figures,
        targets: &targets,
    };
    let mut files = vec![write_json(folder, &document)?];
    let tables = folder.join("tables.md");
    fs::write(&tables, tables::render(results, &figures, &targets))
        .with_context(|| tables.display().to_string())?;
    files.push(tables);
    files.extend(plots::write(results, &figures, folder)?);
    Ok(Written {
        files,
        remarks: remarks(results, &figures),
        targets,
    })
}

/// Writes the file of results, replacing what is there in one step.
pub(crate) fn write_json(folder: &Path, document: &impl Serialize) -> anyhow::Result<PathBuf> {
    let path = folder.join(FILE);
    let in_file = || path.display().to_string();
    // As readable as any other file, which temporary ones are not.
    let mut file = tempfile::Builder::new()
        .permissions(fs::Permissions::from_mode(0o666))
        .tempfile_in(folder)
        .with_context(in_file)?;
    serde_json::to_writer_pretty(&mut file, document).with_context(in_file)?;
    file.persist(&path).with_context(in_file)?;
    Ok(path)
}

/// Returns remarks that must not be overlooked.
fn remarks(results: &Results, figures: &Figures) -> Vec<String> {
    let mut remarks = Vec::new();
    for missing in &results.unavailable {
        remarks.push(format!(
            "not measured: {}: {}",
            missing.configuration, missing.reason
        ));
    }
    let failed = results.jvms.iter();
    let failed = failed
        .filter(|run| matches!(run.outcome, Outcome::Failed { .. }))
        .count();
    if failed > 0 {
        remarks.push(format!(
            "{failed} of {} JVMs failed; tables.md says why",
            results.jvms.len()
        ));
    }
    for noisy in figures.noisy() {
        let baseline = figures.baseline;
        let spread = percent(noisy.baseline_spread.unwrap_or(0.0));
        remarks.push(format!(
            "noisy: {}: the quartiles of {baseline} are {spread} apart",
            noisy.workload
        ));
    }
    remarks
}

impl Written {
    /// A target was missed.
    pub(crate) fn targets_missed(&self) -> bool {
        self.targets
            .iter()
            .any(|target| target.verdict == Verdict::Missed)
    }

    /// Prints the results for the user.
    pub(crate) fn print(&self) {
        for target in &self.targets {
            let Target {
                number,
                demand,
                found,
                verdict,
            } = target;
            println!("target {number}: {}: {demand}: {found}", verdict.name());
        }
        for remark in &self.remarks {
            println!("{remark}");
        }
        for file in &self.files {
            println!("{}", file.display());
        }
    }
}
