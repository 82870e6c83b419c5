//! What is built in and not ours is what npm has published.

/// Each file, and the SHA-256 that it has in its npm package: `npm pack idiomorph@0.8.0`, then `sha256sum package/dist/idiomorph.min.js`
/// and `package/LICENSE`.
const PUBLISHED: [(&str, &[u8], &str); 2] = [
    (
        "idiomorph-0.8.0.min.js",
        include_bytes!("../assets/idiomorph-0.8.0.min.js"),
        "4cbd535caf7663a51eda9bce6595371c384fc430d54b8d414e29a61167f19f96",
    ),
    (
        "idiomorph-0.8.0.LICENSE.txt",
        include_bytes!("../assets/idiomorph-0.8.0.LICENSE.txt"),
        "d3d2456f76414f2456104660ebd65aff1c04cd7966b942bdabd63f3cdb316a38",
    ),
];

#[test]
fn what_is_not_ours_is_unchanged() {
    use sha2::{Digest as _, Sha256};
    for (name, content, wanted) in PUBLISHED {
        let digest: String = Sha256::digest(content).iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(digest, wanted, "{name}");
    }
}
