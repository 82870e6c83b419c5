//! What the console's page Replay runs in the browser: a line of a file of runs comes in, a verdict and its drawing go out. Runs are read
//! and judged as `make eval` does it, and drawn as the console's page of a run.
//!
//! | module | what is in it |
//! |---|---|
//! | [`abi`] | how a page calls this: buffers by address and length |
//! | [`judge`] | a line, judged |
//! | [`draw`] | a judged run as the console's structs |
//!
//! A call that fails by a fault of ours traps; the page then starts the module anew. So nothing here outlives a call but the thresholds.

mod abi;
mod draw;
mod judge;
