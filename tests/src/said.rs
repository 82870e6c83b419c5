//! How the programs of this crate speak to a person.

/// A failure ends the program with its sentence alone, without the words of a panic.
pub fn plainly() {
    std::panic::set_hook(Box::new(|panic| {
        let said = panic.payload_as_str().unwrap_or("unknown failure");
        eprintln!("{said}");
    }));
}

/// At most `width` characters of `text`, in one line.
pub fn short(text: &str, width: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= width {
        return line;
    }
    let kept: String = line.chars().take(width.saturating_sub(3)).collect();
    format!("{kept}...")
}
