//! `#[pair]`: one module of restricted Rust, read twice: lifted to SIMD lanes, and printed as CUDA C++.
