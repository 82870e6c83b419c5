//! What pages load: a style sheet, scripts, an icon. All of it is built in, and named by its content, so that a browser keeps it for good.

/// A file that pages load.
#[derive(Debug)]
pub struct Asset {
    pub name: &'static str,
    pub content_type: &'static str,
    pub content: &'static str,
}

const SCRIPT: &str = "text/javascript; charset=utf-8";

/// Morphs a page into a newer one. From npm, as `tests/assets.rs` says.
pub const IDIOMORPH: Asset = Asset {
    name: "idiomorph-0.8.0.min.js",
    content_type: SCRIPT,
    content: include_str!("../assets/idiomorph-0.8.0.min.js"),
};
pub const LIVE: Asset =
    Asset { name: "live.js", content_type: SCRIPT, content: include_str!("../assets/live.js") };
pub const KEYS: Asset =
    Asset { name: "keys.js", content_type: SCRIPT, content: include_str!("../assets/keys.js") };
pub const REPLAY: Asset =
    Asset { name: "replay.js", content_type: SCRIPT, content: include_str!("../assets/replay.js") };
pub const STYLE: Asset = Asset {
    name: "console.css",
    content_type: "text/css; charset=utf-8",
    content: include_str!("../assets/console.css"),
};
pub const ICON: Asset =
    Asset { name: "icon.svg", content_type: "image/svg+xml", content: include_str!("../assets/icon.svg") };
/// The licence of what is not ours.
pub const IDIOMORPH_LICENCE: Asset = Asset {
    name: "idiomorph-0.8.0.LICENSE.txt",
    content_type: "text/plain; charset=utf-8",
    content: include_str!("../assets/idiomorph-0.8.0.LICENSE.txt"),
};

pub const ALL: [&Asset; 7] = [&IDIOMORPH, &LIVE, &KEYS, &REPLAY, &STYLE, &ICON, &IDIOMORPH_LICENCE];

impl Asset {
    /// Where it is served; another path for another content.
    #[must_use]
    pub fn path(&self) -> String {
        format!("/console/assets/{:016x}/{}", self.tag(), self.name)
    }

    /// FNV-1a of the content.
    #[must_use]
    pub fn tag(&self) -> u64 {
        let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        self.content.bytes().fold(0xcbf2_9ce4_8422_2325, step)
    }

    /// The one with this tag and name.
    #[must_use]
    pub fn find(tag: &str, name: &str) -> Option<&'static Self> {
        ALL.into_iter().find(|asset| asset.name == name && format!("{:016x}", asset.tag()) == tag)
    }
}

/// Sent with every page: nothing runs, loads or is sent anywhere but from here, and no style or script stands in a page.
pub const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; \
    connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// For the page that runs the core of the replay: it may also compile WebAssembly, which is served from here like any script.
pub const CONTENT_SECURITY_POLICY_OF_REPLAY: &str = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; \
    img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";
