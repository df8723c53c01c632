//! How text for people stands out where it can.

use anstyle::{AnsiColor, Style};

/// What stands out.
pub const BOLD: Style = Style::new().bold();
/// What is not to distract.
pub const DIM: Style = Style::new().dimmed();
/// What must be seen.
pub const ALARM: Style = AnsiColor::Red.on_default().bold();
