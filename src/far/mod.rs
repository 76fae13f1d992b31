//! Long-range forces: Barnes-Hut gravity.
