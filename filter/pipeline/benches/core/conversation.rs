//! Conversations for the benches: OpenAI chat requests as an agent sends them, of a wanted size, the same in every run.
//! Used by the core's bench and by the bench on Envoy, so that both speak of the same bodies. No I/O, no measuring.

/// How a conversation ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// A user text of some twenty words, and `more` bytes: a prompt event.
    Prompt { more: usize },
    /// The results of a tool call: no prompt event.
    ToolResult,
}

/// Bytes of the last user text that a caller may write over, each time with other words, so that no request repeats.
pub const SLOT: usize = 160;
/// What stands in the slot, again and again.
const UNWRITTEN: &str = "~~~~~~~~";
const TIMES: usize = SLOT / UNWRITTEN.len();

/// Words of ordinary prompts.
const WORDS: &str = "account address after again agent archive balance before between branch budget build calendar cancel \
    change check client cluster column compare contract country create customer deliver deploy describe \
    draft email error estimate explain export failure figure filter finance first folder garden gather \
    harbour history house import index invoice kitchen language letter library machine market measure \
    meeting message minute module morning mountain network notice number object office order package \
    paper parser payment picture policy printer question quote reason record refund region report river \
    schedule season server shipment signal summary supplier table teacher ticket translate travel update \
    version winter";
const COUNT: u64 = 96;

/// Numbers that look random and are the same in every run.
#[derive(Clone, Debug)]
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub fn roll(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn word(&mut self) -> &'static str {
        let at = usize::try_from(self.roll() % COUNT).unwrap_or(0);
        WORDS.split(' ').nth(at).unwrap_or("word")
    }

    /// Words with spaces between them, `bytes` long to the byte.
    pub fn text(&mut self, bytes: usize) -> String {
        let mut text = String::with_capacity(bytes.saturating_add(16));
        while text.len() < bytes {
            text.push_str(self.word());
            text.push(' ');
        }
        text.truncate(bytes);
        text
    }

    /// Sentences with what stands in real ones: line ends, quotes, dates, ids, other scripts. As inside a JSON string.
    fn prose(&mut self, bytes: usize) -> String {
        let mut text = String::with_capacity(bytes.saturating_add(128));
        while text.len() < bytes {
            let id = self.roll();
            let begin = self.text(48);
            let end = self.text(40);
            text.push_str(&match id % 5 {
                0 => format!("{begin}, as \\\"{}\\\" says: {end}.\\n", self.word()),
                1 => format!("{begin} (since 2026-03-14T09:26:53Z, no. {}): {end}.\\n\\n", id % 100_000),
                2 => format!("- `{}_{}` \u{2192} {begin}; {end}\\n", self.word(), self.word()),
                3 => format!("{begin} f\u{fc}r 17,5 % \u{2013} {end}. "),
                _ => format!("{begin}. {end}? "),
            });
        }
        text
    }

    /// A tool's answer: JSON in a JSON string.
    fn rows(&mut self, bytes: usize) -> String {
        let mut text = String::from("[");
        while text.len() < bytes {
            let id = self.roll();
            let row = format!(
                "{}{{\\\"id\\\":\\\"{id:016x}\\\",\\\"name\\\":\\\"{}\\\",\\\"total\\\":{},\\\"note\\\":\\\"{}\\\"}}",
                if text.len() > 1 { "," } else { "" },
                self.word(),
                id % 10_000,
                self.text(40),
            );
            text.push_str(&row);
        }
        text.push(']');
        text
    }
}

/// A request body of `bytes` bytes or little more. The tools and the turns grow with it.
pub fn body(bytes: usize, ending: Ending) -> String {
    let mut dice = Dice::new(7);
    let end = match ending {
        Ending::Prompt { more: 0 } => user(&slot()),
        Ending::Prompt { more } => user(&format!("{}\\n\\n{}", slot(), dice.prose(more))),
        Ending::ToolResult => tool_turn(&mut dice, bytes / 8),
    };
    let mut head = String::from(r#"{"model":"gpt-5-mini","temperature":0.2,"#);
    for _ in 0..(bytes / 4_096).min(8) {
        head.push_str(if head.ends_with("0.2,") { r#""tools":["# } else { "," });
        head.push_str(&tool(&mut dice));
    }
    head.push_str(if head.ends_with("0.2,") { r#""messages":["# } else { r#"],"messages":["# });
    head.push_str(&format!(
        r#"{{"role":"system","content":"You are a careful assistant. {}"}},"#,
        dice.prose(bytes / 16)
    ));
    head.push_str(&user("Please work through the open orders of this week, one by one."));
    while head.len().saturating_add(end.len()) < bytes {
        let room = bytes.saturating_sub(head.len().saturating_add(end.len()));
        let turn = (bytes / 8).clamp(200, 4_000).min(room);
        head.push(',');
        head.push_str(&if turn > 600 { tool_turn(&mut dice, turn) } else { talk_turn(&mut dice, turn) });
    }
    // Whatever the history ended with, a prompt comes after an assistant's text.
    format!("{head},{}{end}],\"stream\":false}}", if ending == Ending::ToolResult { "" } else { ANSWERED })
}

const ANSWERED: &str = r#"{"role":"assistant","content":"Done. What is next?"},"#;

/// Where the slot lies in `body`. Returns `None` when it has no slot.
pub fn slot_of(body: &str) -> Option<usize> {
    body.find(UNWRITTEN)
}

fn slot() -> String {
    UNWRITTEN.repeat(TIMES)
}

fn user(text: &str) -> String {
    format!(r#"{{"role":"user","content":"{text}"}}"#)
}

fn tool(dice: &mut Dice) -> String {
    let (verb, noun) = (dice.word(), dice.word());
    format!(
        r#"{{"type":"function","function":{{"name":"{verb}_{noun}","description":"{}","parameters":{{"type":"object","properties":{{"{noun}":{{"type":"string","description":"{}"}},"limit":{{"type":"integer","minimum":1}}}},"required":["{noun}"],"additionalProperties":false}}}}}}"#,
        dice.text(160),
        dice.text(60),
    )
}

fn talk_turn(dice: &mut Dice, bytes: usize) -> String {
    format!(
        r#"{{"role":"assistant","content":"{}"}},{}"#,
        dice.prose(bytes / 2),
        user(&dice.prose(bytes / 3))
    )
}

fn tool_turn(dice: &mut Dice, bytes: usize) -> String {
    let (id, word) = (dice.roll(), dice.word());
    format!(
        r#"{{"role":"assistant","content":null,"tool_calls":[{{"id":"call_{id:016x}","type":"function","function":{{"name":"{word}_lookup","arguments":"{{\"{word}\":\"{}\",\"limit\":10}}"}}}}]}},{{"role":"tool","tool_call_id":"call_{id:016x}","content":"{}"}}"#,
        dice.word(),
        dice.rows(bytes / 2)
    ) + &format!(
        r#",{{"role":"assistant","content":"{}"}},{}"#,
        dice.prose(bytes / 4),
        tool_result(dice, bytes / 8)
    )
}

fn tool_result(dice: &mut Dice, bytes: usize) -> String {
    let id = dice.roll();
    format!(
        r#"{{"role":"assistant","content":null,"tool_calls":[{{"id":"call_{id:016x}","type":"function","function":{{"name":"next_page","arguments":"{{}}"}}}}]}},{{"role":"tool","tool_call_id":"call_{id:016x}","content":"{}"}}"#,
        dice.rows(bytes)
    )
}
