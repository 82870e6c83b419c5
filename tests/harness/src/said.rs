//! Output for people, used by the programs in `tools`.

/// Makes a failure end the program with its message alone, without the text of a panic.
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
