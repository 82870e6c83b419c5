//! The pages of the console: what each of them shows, as plain structs, and how that is drawn as HTML. Nothing here knows of a store, of a
//! network or of the time: whoever shows a page fills its struct. So everything can be drawn and tested with values made up for it.
//!
//! | module | what is in it |
//! |---|---|
//! | [`page`] | what all pages share: head, navigation, forms |
//! | [`now`], [`runs`], [`run`], [`agents`], [`budgets`], [`settings`], [`replay`], [`stop`], [`login`] | the pages, and the parts of them that are shown again elsewhere |
//! | [`words`] | states and findings as sentences |
//! | [`mark`] | digests as colours and short marks |
//! | [`chart`] | small charts, as SVG |
//! | [`text`], [`figure`] | texts from outside, and numbers, as people read them |
//! | [`asset`] | style sheet and scripts |
//!
//! All markup is made by `maud`, which escapes every text. What else a text from outside can do to a page (directions of writing, line
//! breaks, its length) is dealt with in [`text`]. No page has a style or a script of its own: the pages are served with a
//! Content-Security-Policy that forbids both.

pub mod agents;
pub mod asset;
pub mod budgets;
pub mod chart;
pub mod figure;
pub mod login;
pub mod mark;
pub mod now;
pub mod page;
pub mod replay;
pub mod run;
pub mod runs;
pub mod settings;
pub mod stop;
pub mod text;
pub mod words;
