//! What the documents promise: README.md, CONTRIBUTING.md and the book that `make docs` makes of docs/. Links, anchors, code
//! blocks, pictures, names of metrics and settings. One module a subject.

mod blocks;
mod book;
mod events;
mod how_do_i;
mod markdown;
mod names;
mod pictures;
mod readme;
mod signals;
