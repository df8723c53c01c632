//! The analysis as a whole: from events to waits and their aggregation.

mod aggregation;
mod delivery;
mod figures;
mod forgetting;
mod forward_refs;
mod found;
mod freezes;
mod history;
mod hostile_files;
mod inputs;
mod names;
mod owner_samples;
mod owner_times;
mod parallel;
mod park;
mod random_programs;
mod reference;
mod retirement;
mod roots;
mod script;
mod selections;
mod simulator;
mod small_traces;
mod still_blocked;
mod truth;
mod what_if;
