//! Varied texts, the same on every run: the lines that the model is measured on, written out with other words each time.

const LINES: &str = include_str!("../../../model/texts/check.txt");
const WORDS: &str = include_str!("../../../model/texts/words.txt");

/// Text number `number`; numbers apart by less than about a thousand give different texts.
pub fn text(number: usize) -> String {
    let lines: Vec<&str> = content(LINES).collect();
    let mut turn = number * 7 + number / lines.len();
    let mut text = String::new();
    let mut rest = lines[number % lines.len()];
    while let Some((before, slot)) = rest.split_once('{') {
        text.push_str(before);
        let (name, after) = slot.split_once('}').unwrap_or((slot, ""));
        match values(name) {
            Some(values) => text.push_str(values[turn % values.len()]),
            None => text.extend(["{", name, "}"]),
        }
        turn += 7;
        rest = after;
    }
    text.push_str(rest);
    text.replace("\\n", "\n")
}

/// About `words` words of text about one thing: the same few lines for each `number`, with other words put in.
pub fn report(number: usize, words: usize) -> String {
    let lines = content(LINES).count();
    fill(words, |part| text(number * lines + 6 + part))
}

/// About `words` words of running text, other ones for each `number`.
pub fn page(number: usize, words: usize) -> String {
    fill(words, |part| text(number * 31 + part * 5))
}

fn fill(words: usize, part: impl Fn(usize) -> String) -> String {
    let (mut page, mut count) = (String::new(), 0);
    for next in (0..).map(part) {
        if count >= words {
            break;
        }
        count += next.split_whitespace().count();
        page.push_str(&next);
        page.push('\n');
    }
    page
}

fn content(file: &'static str) -> impl Iterator<Item = &'static str> {
    file.lines().filter(|line| !line.is_empty() && !line.starts_with("# "))
}

fn values(name: &str) -> Option<Vec<&'static str>> {
    content(WORDS).find_map(|line| {
        let (known, values) = line.split_once(':')?;
        (known == name).then(|| values.split('|').map(str::trim).collect())
    })
}
