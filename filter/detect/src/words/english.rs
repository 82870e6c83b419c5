//! English, which most tools speak whatever the agent's language.

// A result merely says that something was done, or may be done. Equal ones prove little.

/// First words of a short text that say that something was done.
pub const DONE: &[&str] = &[
    "ok", "okay", "done", "success", "successful", "successfully", "true", "yes", "y", "sent", "approved", "confirmed",
    "accepted", "acknowledged", "ack", "sure", "proceed", "continue", "go", "noted", "approve", "accept", "allow",
    "allowed", "granted", "understood", "roger", "lgtm", "yep",
];
/// Last words of a short text that say so.
pub const DONE_AT_END: &[&str] = &["ok", "okay", "done", "complete", "success", "successful", "successfully"];
/// Words that permit something, anywhere in a short text.
pub const PERMITTED: &[&str] = &["approved", "accepted", "confirmed", "granted", "allowed"];
/// Words that tell somebody to go on.
pub const GO_ON: &[&str] = &["proceed", "continue", "go", "ahead"];
/// Verbs for what tools have done: at the end of a sentence, or behind one of `WAS`.
pub const DEEDS: &[&str] = &[
    "clicked", "pressed", "tapped", "typed", "updated", "performed", "completed", "executed", "sent", "added",
    "removed", "created", "saved", "deleted", "selected", "registered", "recorded", "logged", "loaded", "toggled",
    "moved", "increased", "decreased", "enabled", "disabled", "applied", "written", "posted", "published", "uploaded",
    "stored", "inserted", "changed", "modified", "scrolled", "dispatched", "spoken", "played", "edited", "replaced",
    "copied", "renamed", "delivered", "appended", "wrote", "processed", "affected",
    "archived", "printed", "migrated", "exported", "purged", "made", "taken", "built", "bought", "fed", "entered", "filled",
    "submitted", "checked", "dragged", "dropped", "released", "switched", "focused", "captured", "scanned",
];
/// Endings of such verbs, beside a number of things.
pub const DONE_TO: &[&str] = &["imported", "adas", "ados", "idas", "idos", "iert", "ées", "ati", "ано", "ено"];
/// Words before a verb that say that something was done.
pub const WAS: &[&str] = &["was", "been", "were"];
/// Words with the ending of such a verb that are none: names, and what went wrong. A text that begins with one tells something.
pub const NO_DEEDS: &[&str] = &[
    "united", "alfred", "ahmed", "mohamed", "mohammed", "hundred", "failed", "denied", "refused", "rejected",
    "declined", "expired", "blocked", "aborted", "crashed", "exceeded", "killed", "locked", "timed", "malformed",
    "unsupported", "unauthorized", "undefined", "limited", "unlimited", "advanced", "related", "estimated", "combined",
];
/// Words of a remark in brackets that nobody has said: "[silence]", "(no answer)".
pub const STAGE_DIRECTIONS: &[&str] = &["silence", "inaudible", "noise", "answer", "response", "reply", "speech"];

// A result says that nothing is there, or that nothing new has come. It may say so for long.

/// Something is not there.
pub const NONE: &[&str] = &["no", "none", "nothing", "null"];
/// Something is empty, or as it was.
pub const EMPTY: &[&str] = &["empty", "unchanged"];
/// Things that have not come, behind one of `NONE`: "no new messages".
pub const NEW: &[&str] = &[
    "new", "unread", "more", "further", "pending", "change", "changes", "updates", "empty", "left", "remaining", "unchanged",
    "happened", "detected", "motion", "alerts", "events", "messages", "emails", "mails", "notifications", "replies",
];
/// Everything is known already.
pub const UP_TO_DATE: &[&str] = &["up to date", "up-to-date"];
/// Beside "output": the program has printed nothing.
pub const NO_OUTPUT: &[&str] = &["no", "not", "without", "empty", "none"];
/// Behind "output" they say that there is none.
pub const NOTHING_THERE: &[&str] = &["empty", "none", "nothing"];
/// A state in one word, which may stay the same for long.
pub const OFF: &[&str] = &["false", "offline"];
/// An agent has taken an old observation out of its history: it says so with one of these and one of `CUT_OUT_THING`.
pub const CUT_OUT: &[&str] = &["omitted", "elided", "cleared", "truncated", "removed", "masked"];
/// What it has taken out.
pub const CUT_OUT_THING: &[&str] = &["old", "output", "observation", "content", "lines", "context"];

// A result says that something is still to come. Asking again is what the agent should do.

/// States in which something is still to come.
pub const STATES: &[&str] = &[
    "running", "pending", "queued", "waiting", "awaiting", "processing", "preparing", "building", "deploying",
    "provisioning", "initializing", "initialising", "starting", "stopping", "terminating", "restarting", "rebooting",
    "resizing", "modifying", "migrating", "restoring", "scaling", "draining", "scheduled", "ongoing", "working",
    "loading", "creating", "generating", "converting", "encoding", "importing", "exporting", "downloading",
    "uploading", "syncing", "connecting", "reconnecting", "retrying", "executing", "progress", "progressing",
    "inprogress", "in_progress", "validating", "verifying", "containercreating", "installing", "compiling",
    "rendering", "training", "indexing", "busy", "started", "submitted", "paused", "finalizing", "runnable", "retry",
    "transit",
];
/// Words that end in "ing" like a state and are none. They do not protect.
pub const NO_STATES: &[&str] = &["missing", "failing", "warning", "existing", "nothing", "outstanding"];
/// What holds a state: the last word of a member's name, or a label.
pub const STATE_NAMES: &[&str] = &["status", "state", "phase", "stage", "health"];
/// Of these, names whose value only tells a state.
pub const STANDS: &[&str] = &["state", "phase", "stage"];
/// Words before a state that make it one.
pub const STILL: &[&str] = &["still", "currently", "is", "are", "being", "now", "in", "status"];
/// A state of one of these words is an end: nothing is to come. And what follows one of them was not done.
pub const FAILURES: &[&str] =
    &["error", "failed", "failure", "exception", "denied", "invalid", "cannot", "refused", "unable"];
/// Names of flags that are `false` as long as something is to come.
pub const TO_COME: &[&str] = &[
    "done", "finished", "ready", "complete", "completed", "exists", "available", "acquired", "online", "present",
    "changed", "connected", "arrived", "received", "delivered", "updated",
];
/// With one of `TIMES`, the name of a member that is `null` until the end: `finished_at`.
pub const ENDS: &[&str] = &["finished", "completed", "ended", "end", "finish", "completion"];
/// See `ENDS`.
pub const TIMES: &[&str] = &["at", "time", "on", "date"];
/// With one of `WHOLE`, the name of a member that says how far something has come: `percent_done`.
pub const PERCENT: &[&str] = &["percent", "percentage", "pct"];
/// See `PERCENT`.
pub const WHOLE: &[&str] = &["complete", "done"];
/// What a number out of all counts: "3 of 10 completed".
pub const PARTS: &[&str] =
    &["completed", "complete", "done", "ready", "available", "finished", "processed", "updated", "healthy"];
/// With one of `TIME`, how long it still takes: "5 minutes left". With "more": "more rows remain".
pub const LEFT: &[&str] = &["remaining", "left", "remain", "remains"];
/// See `LEFT`.
pub const TIME: &[&str] = &["time", "minutes", "seconds"];
/// What has not come behind one of `NOT`: "not ready", "nothing yet".
pub const YET: &[&str] = &["yet", "ready", "finished", "complete", "completed", "done", "arrived"];
/// See `YET`.
pub const NOT: &[&str] = &["not", "no", "nothing", "isn't", "hasn't", "haven't"];
/// Between "on" and "way", "in" and "queue": "on its way".
pub const ARTICLES: &[&str] = &["the", "its", "their", "your"];
/// Before a participle: "being prepared".
pub const BEING: &[&str] = &["being"];
/// Before any state: "still compiling".
pub const GOES_ON: &[&str] = &["still"];
/// Behind "on" and one of `ARTICLES`: "on its way".
pub const ON_THE: &[&str] = &["way"];
/// Behind "in" and one of `ARTICLES`: "in the queue".
pub const IN_THE: &[&str] = &["queue"];
/// Two words that say so wherever they stand in a short text.
pub const WAITS: &[&str] = &[
    "please wait", "must wait", "in queue", "working on", "so far", "again later", "check later", "try later",
    "come later", "again back", "check back", "try back", "come back", "slow down", "too early",
];
/// Phrases of programs that keep running, anywhere in a short text.
pub const RUNS_ON: &[&str] = &["no new output", "wait longer", "no further output"];

/// A failure with one of these may pass by itself: the service is starting, or is busy for now. At most two words each.
pub const PASSES: &[&str] = &[
    "connection refused", "to connect", "connect to", "unavailable", "temporarily", "starting up", "recovery mode", "warming up", "state lock", "get lock",
    "too many", "overloaded", "retry in", "retry after", "again in", "if retried", "be retried", "serialize access", "out waiting",
];

// What a call is for, by the words in its tool's name. Such calls come again and again as part of the work.

/// It lets time pass; in other languages too, for names are not in English alone.
pub const WAIT: &[&str] = &[
    "sleep", "wait", "poll", "watch", "await", "delay", "pause", "listen", "timer", "wakeup", "warten", "attendre", "esperar", "aguardar",
    "aspettare", "wachten",
];
/// Each call moves something on.
pub const MOVE_ON: &[&str] =
    &["pop", "next", "press", "scroll", "move", "swipe", "advance", "dequeue", "keypress", "hotkey", "tail", "log", "logs"];
/// The same, in names that do not begin with a verb of reading: "get_step" tells something.
pub const MOVES: &[&str] = &[
    "next", "pop", "step", "walk", "forward", "backward", "turn", "roll", "spin", "draw", "tick", "undo", "redo", "more", "receive",
];
/// Verbs of reading. What follows one in a name moves nothing on: "read_step".
pub const READ: &[&str] = &[
    "get", "read", "list", "fetch", "search", "find", "view", "load", "retrieve", "lookup", "look", "describe",
    "count", "grep",
];
/// In the name of a tool that asks somebody (`PERSONS`). What that person says counts like a user's text.
pub const ASKS: &[&str] = &["ask", "confirm", "input", "question", "prompt", "request", "approval", "confirmation", "feedback"];
/// See `ASKS`.
pub const PERSONS: &[&str] = &["user", "human", "person", "operator", "customer", "guest", "people"];
/// What can be moved without moving on: "move_file" is a deed like any other.
pub const FILES: &[&str] = &["file", "directory", "folder"];
/// It asks how something stands: in a tool's name, and in the words of a command.
pub const ASKS_STATE: &[&str] = &[
    "status", "state", "progress", "health", "healthz", "healthcheck", "readiness", "alive", "heartbeat",
];
/// The same, in a tool's name only: in a command they are words like others.
pub const ASKS_STATE_BY_NAME: &[&str] = &[
    "ping", "ready", "output", "background", "sensor", "sensors", "telemetry", "metric", "metrics", "thermometer",
    "temperature", "position", "eta",
];

// Numbers and times: what differs from time to time, and how often a user wants something done.

/// Units of time: a number before one is how long something took.
pub const UNITS_OF_TIME: &[&str] = &[
    "ms", "s", "sec", "secs", "second", "seconds", "min", "mins", "minute", "minutes", "h", "hour", "hours", "us", "ns",
];
/// Units of time in which an agent waits for something: nobody waits so long for a page to load.
pub const MINUTES_AND_HOURS: &[&str] = &["m", "min", "mins", "minute", "minutes", "h", "hr", "hrs", "hour", "hours"];
/// Units of which a minute has sixty.
pub const SECONDS: &[&str] = &["s", "sec", "secs", "second", "seconds"];
/// What stands behind one of these is how long something took.
pub const DURATIONS: &[&str] = &["took", "elapsed", "duration", "latency", "ms", "uptime"];
/// The numbers from one on, in their order.
pub const FROM_ONE: &[&str] =
    &["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"];
/// Larger numbers that a user may ask for in words.
pub const NUMBERS: &[(&str, u32)] = &[
    ("fifteen", 15), ("twenty", 20), ("thirty", 30), ("forty", 40), ("fifty", 50), ("hundred", 100), ("dozen", 12),
];
/// The user wants something done until something happens, or wants to be told when it happens.
pub const OPEN_ENDED: &[&str] = &[
    "until", "till", "soon as", "the moment", "me when", "me once", "us when", "know when", "when it", "once it", "notify me",
    "alert me", "warn me", "watch the", "watch for", "keep watching", "keep checking", "keep trying", "keep an", "monitor the", "wait for",
];
/// Before a number and a unit of time: something is to be done again and again.
pub const EVERY: &[&str] = &["every", "each"];
/// Behind "until", these say how an agent works. It does not wait for them.
pub const OWN_WORK: &[&str] = &["task", "problem", "query", "question", "issue", "goal", "the answer", "an answer", "solution"];
/// Words for repetitions. A user who asks for ten runs wants ten.
pub const REPETITIONS: &[&str] = &[
    "times", "time", "samples", "sample", "runs", "rounds", "tries", "attempts", "repetitions", "repeats",
    "iterations", "trials", "readings", "measurements", "flips", "rolls", "tosses", "draws", "checks", "calls",
    "passes", "requests", "pings", "cycles", "executions", "values", "photos", "shots", "frames",
];
/// Signs of a percentage or a part of all, in a text whose numbers are written as 0.
pub const PART_OF: &[&str] = &["0%", "0 %", "percent", "0 of "];
/// Days and months: part of a date beside a number, whole or by their first three letters.
pub const CALENDAR: &[&str] = &[
    "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday", "january", "february", "march",
    "april", "may", "june", "july", "august", "september", "october", "november", "december",
];
/// Halves of a day.
pub const HALVES_OF_DAY: &[&str] = &["am", "pm"];
