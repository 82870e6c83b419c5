//! What a call is for, guessed from the tool's name. In tools that do many things, it is guessed from the argument that names the
//! action. This only protects calls that wait, ask for a state or move on. It makes no verdict stronger.

use std::borrow::Cow;

use memchr::memmem::Finder;
use sentinel_llm_api::json::{self, Raw};
use serde::{Deserialize, Serialize};

use super::{
    acknowledging::has,
    known::is_one_of,
    phrases::{self, Says},
};
use crate::{
    Sought,
    words::{english, programs},
};

/// What a call is for. Except for `Any`, its repetition is normal work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub(crate) enum Purpose {
    /// Anything else.
    Any,
    /// Each call moves something on: the same call with the same short result is the next step of the work.
    MoveOn,
    /// It asks how something stands, which may stay as it is for long.
    AskState,
    /// It lets time pass.
    Wait,
}

/// Longer arguments are not searched for an action (bytes).
const MAX_ARGUMENTS: usize = 4_096;
/// Arguments that say "wait" and are not longer than this say nothing else (bytes).
const MAX_WAIT: usize = 20;
/// A longer text is no short command such as "move right" (bytes).
const MAX_SAYING: usize = 48;
/// Commands in one line of a shell that are looked at.
const MAX_COMMANDS: usize = 16;

impl Purpose {
    /// `arguments`: JSON, or what the model wrote.
    pub fn of(name: &str, arguments: &str) -> Self {
        // `{"type": "wait"}`, and nothing else.
        let says_wait = arguments.len() <= MAX_WAIT && arguments.contains("\"wait\"");
        if says_wait || types_nothing(arguments) {
            return Self::Wait;
        }
        let by_name = Self::of_words(name);
        // `{"to": "next player"}`.
        if by_name == Self::Any && takes_next(name, arguments) {
            return Self::MoveOn;
        }
        match (by_name, deed(arguments)) {
            (Self::Wait, _) | (_, None) => by_name,
            // The argument decides if the name says little ("run", "computer") or asks for a state.
            (Self::Any | Self::AskState, Some(deed)) => deed.purpose().unwrap_or(by_name),
            _ => by_name,
        }
    }

    /// What a few words that an agent says are for: "move right", "wait".
    pub fn of_saying(said: &str) -> Self {
        const MOST: usize = 4;
        if said.len() > MAX_SAYING || name_words(said).nth(MOST).is_some() {
            Self::Any
        } else {
            Self::of_words(said)
        }
    }

    /// What a command of a shell, or a line of code, is for.
    pub fn of_command(command: &str) -> Self {
        of_command(command).unwrap_or(Self::Any)
    }

    fn of_words(name: &str) -> Self {
        let has = |verbs: &[&str]| name_words(name).any(|word| is_one_of(word, verbs));
        if has(english::WAIT) || (!name.is_ascii() && phrases::says(name, Says::Waits)) {
            Self::Wait
        } else if has(english::ASKS_STATE) || has(english::ASKS_STATE_BY_NAME) {
            Self::AskState
        } else if (has(english::MOVE_ON) || moves(name)) && !has(english::FILES) {
            Self::MoveOn
        } else {
            Self::Any
        }
    }
}

/// The argument that names the action.
enum Deed {
    /// A word or two: `"action": "scroll"`.
    Verb(String),
    /// A line of a shell or of code.
    Command(String),
}

impl Deed {
    fn purpose(&self) -> Option<Purpose> {
        match self {
            Self::Verb(verb) => match Purpose::of_words(verb) {
                // A verb that is not known here says nothing.
                Purpose::Any => None,
                purpose => Some(purpose),
            },
            Self::Command(command) => of_command(command),
        }
    }
}

fn deed(arguments: &str) -> Option<Deed> {
    // Most calls have none of these, and need not be read again.
    static KEYS: [Sought; 6] = [
        Sought::new(|| Finder::new("\"action\"")),
        Sought::new(|| Finder::new("\"operation\"")),
        Sought::new(|| Finder::new("\"command\"")),
        Sought::new(|| Finder::new("\"cmd\"")),
        Sought::new(|| Finder::new("\"code\"")),
        Sought::new(|| Finder::new("\"script\"")),
    ];
    if arguments.len() > MAX_ARGUMENTS
        || !arguments.trim_start().starts_with('{')
        || !KEYS.iter().any(|key| key.is_in(arguments))
    {
        return None;
    }
    let text = |raw: Option<Raw<'_>>| raw.and_then(text_of).filter(|text| !text.is_empty());
    let names = ["action", "operation", "command", "cmd", "code", "script"];
    let [action, operation, command, cmd, code, script] = json::pick(arguments, names).ok()?;
    if let Some(verb) = text(action).or_else(|| text(operation)) {
        return Some(Deed::Verb(verb));
    }
    text(command).or_else(|| text(cmd)).or_else(|| text(code)).or_else(|| text(script)).map(Deed::Command)
}

/// A string, or a list of strings such as `["bash", "-lc", "ls"]`.
fn text_of(raw: Raw<'_>) -> Option<String> {
    if raw.is_list() {
        let words: Option<Vec<_>> = raw.elements().map(json::string).collect();
        return Some(words?.join(" ; "));
    }
    json::string(raw).map(Cow::into_owned)
}

/// Whether a call waits for minutes before it is made: `{"url": "...", "delay": "1h"}`, `{"sku": "...", "wait_s": 300}`. Less
/// than a minute does not count, because any call in a browser may wait for some seconds.
pub(super) fn waits_for_minutes(arguments: &str) -> bool {
    let is_long = |name: &str, value: &str| {
        let end = value.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(value.len());
        let (number, unit) = value.split_at_checked(end).unwrap_or_default();
        let units = if unit.is_empty() { name } else { unit };
        let minute = [(english::MINUTES_AND_HOURS, 1.0), (english::SECONDS, 60.0), (&["ms"], 60_000.0)];
        let least_of =
            |unit| minute.iter().find(|(units, _)| is_one_of(unit, units)).map(|(_, least)| *least);
        let least = name_words(units).find_map(least_of);
        number.parse::<f64>().is_ok_and(|number| least.is_some_and(|least| number >= least))
            && name_words(name).any(|word| is_one_of(word, english::WAIT) || is_one_of(word, &["after"]))
    };
    // The names in quotes, and what stands between them.
    let mut pieces = arguments.split('"').skip(1);
    while let Some((name, between)) = pieces.next().zip(pieces.next()) {
        let Some(value) = between.trim_start().strip_prefix(':').map(str::trim) else { continue };
        let value = match value.split([',', '}', ' ']).next() {
            Some("") | None => pieces.clone().next().unwrap_or_default(),
            Some(number) => number,
        };
        if is_long(name, value) {
            return true;
        }
    }
    false
}

/// `{"keystrokes": "", "duration": 30}`: a terminal is left alone for a time.
fn types_nothing(arguments: &str) -> bool {
    /// Longer arguments say more (bytes).
    const MOST: usize = 128;
    let is_time = |word: &str| {
        [english::UNITS_OF_TIME, english::DURATIONS, &["timeout"]].iter().any(|list| is_one_of(word, list))
    };
    if arguments.len() > MOST || !arguments.contains("\"\"") {
        return false;
    }
    let rest = arguments.replace("\"\"", "");
    !rest.contains(":\"") && !rest.contains(": \"") && name_words(&rest).any(is_time)
}

/// Whether a name says that the call moves something on. No verb of reading may come first: "get_step" reads.
#[inline(never)]
fn moves(name: &str) -> bool {
    name_words(name)
        .take_while(|word| !is_one_of(word, english::READ))
        .any(|word| is_one_of(word, english::MOVES))
}

/// Whether the call is given the next of something, and does not read it.
#[inline(never)]
fn takes_next(name: &str, arguments: &str) -> bool {
    /// Longer arguments say more (bytes).
    const MOST: usize = 256;
    arguments.len() <= MOST && (has(arguments, "\"next ") || has(arguments, "\"another ")) && !reads(name)
}

/// Whether the name of a tool says that it reads: `get_step`, `find_invoice`.
pub(crate) fn reads(name: &str) -> bool {
    name_words(name).any(|word| is_one_of(word, english::READ))
}

/// What a command of the line waits or asks for.
fn of_command(line: &str) -> Option<Purpose> {
    let mut found = None;
    for command in line.split([';', '&', '|', '\n']).take(MAX_COMMANDS) {
        // `sudo sleep 5`, `await asyncio.sleep(5)`, `TZ=UTC date`, `timeout 60 tail`.
        let is_number = |word: &str| word.starts_with(|c: char| c.is_ascii_digit());
        // `reward = env.step(1)`.
        let mut words = command
            .split_once(" = ")
            .map_or(command, |(_, value)| value)
            .split_whitespace()
            .skip_while(|word| programs::BEFORE.contains(word) || word.contains('=') || is_number(word));
        let Some(program) = words.next() else { continue };
        // `time.sleep(30)`, `Start-Sleep 30`: what stands in the brackets is an argument.
        let called = program.split('(').next().unwrap_or(program);
        let base = program.rsplit('/').next().unwrap_or(program);
        // `inotifywait`.
        if base.ends_with("wait") || name_words(called).any(|word| is_one_of(word, english::WAIT)) {
            return Some(Purpose::Wait);
        }
        if programs::SEARCH.contains(&base) {
            continue;
        }
        // `continue`, `n`: a debugger goes on to where it stops next.
        if programs::STEPS.contains(&command.trim()) {
            found = found.or(Some(Purpose::MoveOn));
        }
        // A script or a function: `./process_next.sh`, `turtle.forward(10)`, `env.step(1)`. `walk north` may be a game's.
        if program.contains(['.', '(', '/']) && moves(called) {
            found = found.or(Some(Purpose::MoveOn));
        }
        // `kubectl wait`, `gh run watch`.
        if words.clone().take(2).any(|word| programs::WAIT_COMMANDS.contains(&word)) {
            return Some(Purpose::Wait);
        }
        // The end of a log is another line each time. The end of what a program prints into a pipe is not.
        let is_log = programs::LOG.contains(&base) || words.clone().next() == Some("logs");
        if is_log && command.contains(" -f") {
            return Some(Purpose::Wait);
        }
        if is_log && !line.get(..super::place(line, command)).is_some_and(|before| before.contains('|')) {
            found = found.or(Some(Purpose::MoveOn));
        }
        let asks = programs::STATE.contains(&base)
            || base.ends_with("-smi")
            || words.clone().next().is_some_and(|first| programs::STATE_COMMANDS.contains(&first))
            || words.take(8).any(is_state_word);
        if asks {
            found = Some(Purpose::AskState);
        }
    }
    found
}

/// Whether one part of the word asks for a state: `status`, `--health`, `localhost:80/healthz`.
fn is_state_word(word: &str) -> bool {
    word.split(|c: char| !c.is_ascii_alphabetic()).any(|part| is_one_of(part, english::ASKS_STATE))
}

/// The words of `write_file`, `writeFile` and `fs.write`.
pub(super) fn name_words(name: &str) -> impl Iterator<Item = &str> {
    name.split(|c: char| !c.is_ascii_alphabetic()).flat_map(|part| {
        let mut rest = part;
        std::iter::from_fn(move || {
            let hump =
                |pair: &[u8]| matches!(pair, [a, b] if a.is_ascii_lowercase() && b.is_ascii_uppercase());
            let end = rest.as_bytes().windows(2).position(hump).map_or(rest.len(), |at| at.saturating_add(1));
            let (word, after) = rest.split_at_checked(end)?;
            rest = after;
            (!word.is_empty()).then_some(word)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn purpose(name: &str) -> Purpose {
        Purpose::of(name, "{}")
    }

    #[test]
    fn a_tool_is_known_by_the_verbs_in_its_name() {
        for (names, meant) in [
            (
                &["write_file", "fs.writeFile", "bash", "execute_code", "get_settings", "search"][..],
                Purpose::Any,
            ),
            (
                &["pop_queue", "press_key", "scrollDown", "next_page", "walk_forward", "roll_dice"],
                Purpose::MoveOn,
            ),
            (&["get_job_status", "checkHealth", "BashOutput", "read_state"], Purpose::AskState),
            (
                &[
                    "sleep",
                    "wait_for_build",
                    "pollJob",
                    "listen",
                    "set_timer",
                    "scheduleWakeup",
                    "warten",
                    "等待",
                ],
                Purpose::Wait,
            ),
            (&["move_file", "remove", "read_email", "search_code", "find_type"], Purpose::Any),
            (&["read_sensor", "get_metrics", "queue_position", "getEta"], Purpose::AskState),
        ] {
            for name in names {
                assert_eq!(purpose(name), meant, "{name}");
            }
        }
    }

    #[test]
    fn in_tools_that_do_many_things_the_argument_names_the_deed() {
        for (name, arguments, meant) in [
            ("computer", r#"{"action":"wait","duration":2}"#, Purpose::Wait),
            ("computer", r#"{"action":"scroll","coordinate":[1,2]}"#, Purpose::MoveOn),
            ("computer", r#"{"action":"left_click","coordinate":[1,2]}"#, Purpose::Any),
            ("bash", r#"{"command":"kubectl wait --for=condition=ready pod/a"}"#, Purpose::Wait),
            ("bash", r#"{"command":"gh run watch 7"}"#, Purpose::Wait),
            ("bash", r#"{"command":"until curl -sf localhost; do sleep 2; done"}"#, Purpose::Wait),
            ("bash", r#"{"command":"timeout 60 tail -n0 -f train.log"}"#, Purpose::Wait),
            ("bash", r#"{"command":"tail -n 9 train.log"}"#, Purpose::MoveOn),
            ("bash", r#"{"command":"inotifywait -t 60 -e create /inbox"}"#, Purpose::Wait),
            ("bash", r#"{"command":"timeout 60 pytest"}"#, Purpose::Any),
            ("computer_call", r#"{"type":"wait"}"#, Purpose::Wait),
            ("terminal", r#"{"keystrokes": "", "duration": 30}"#, Purpose::Wait),
            ("write_stdin", r#"{"session_id":7,"chars":"","yield_time_ms":30000}"#, Purpose::Wait),
            ("terminal", r#"{"keystrokes":"ls","duration":30}"#, Purpose::Any),
            ("list_files", r#"{"query": "", "page": 3}"#, Purpose::Any),
            ("run", r#"{"cwd":"","script":"make","timeout":30}"#, Purpose::Any),
            ("search", r#"{"type":"log","query":"a"}"#, Purpose::Any),
            ("bash", r#"{"command":"grep -rn status src/"}"#, Purpose::Any),
            ("browser", r#"{"action":"screenshot"}"#, Purpose::Any),
            ("bash", r#"{"command":"sleep 30; curl -s localhost:80/job/7"}"#, Purpose::Wait),
            ("bash", r#"{"command":"make && sudo sleep 5"}"#, Purpose::Wait),
            ("shell", r#"{"command":["bash","-lc","kubectl get pods"]}"#, Purpose::AskState),
            ("run", r#"{"cmd":"git status"}"#, Purpose::AskState),
            ("bash", r#"{"command":"curl -s http://localhost/healthz"}"#, Purpose::AskState),
            ("bash", r#"{"command":"docker ps"}"#, Purpose::AskState),
            ("python", r#"{"code":"import time\ntime.sleep(30)"}"#, Purpose::Wait),
            ("bash", r#"{"command":"grep -rn sleep src/"}"#, Purpose::Any),
            ("bash", r#"{"command":"pytest -x"}"#, Purpose::Any),
            ("bash", r#"{"command":17}"#, Purpose::Any),
            ("search", r#"{"query":"how to sleep"}"#, Purpose::Any),
        ] {
            assert_eq!(Purpose::of(name, arguments), meant, "{name} {arguments}");
        }
    }
}
