//! Names of the members of JSON that APIs and tools answer with, and the labels of agents that act in text.

/// Members that hold an error: with something in them, the call failed.
pub const ERROR: &[&str] = &["error", "errors"];
/// Flags of an error.
pub const IS_ERROR: &[&str] = &["isError", "is_error"];
/// Members that hold an HTTP status.
pub const STATUS: &[&str] = &["status", "statusCode", "status_code", "http_status"];
/// Members that hold an exit code: any but 0 is a failure.
pub const EXIT_CODE: &[&str] = &["exit_code", "exitCode", "exit_status", "returncode", "return_code"];
/// Members that hold an exit code, of which 0 is an acknowledgement. Case-sensitive.
pub const EXIT_CODE_OF_RECEIPT: &[&str] = &["exit_code", "exitCode", "returncode", "code"];
/// Words in the names of members whose value differs each time and tells nothing.
pub const PASSING: &[&str] = &[
    "id", "ids", "uuid", "guid", "ts", "time", "timestamp", "date", "datetime", "at", "ms", "seconds", "secs", "took",
    "elapsed", "duration", "latency", "attempt", "attempts", "retry", "trace", "nonce",
];
/// Members that come with a list: the query, how to get more, that all is well. A list with nothing else is empty.
pub const ROUND_A_LIST: &[&str] = &[
    "cursor", "token", "next", "page", "offset", "limit", "query", "q", "more", "etag", "ok", "success", "object", "kind",
];
/// Values that say that all is well.
pub const OK: &[&str] = &["ok", "success"];
/// Labels before the result of a tool. A result with a label equals the same one without.
pub const RESULT_LABELS: &[&str] = &["observation", "output", "result", "response", "stdout"];

/// Labels before the action that an agent writes.
pub const ACTION: &[&str] = &["action", "act", "function", "tool", "tool_name", "tool_call", "action_name"];
/// Labels before its arguments.
pub const INPUT: &[&str] = &[
    "action_input", "tool_input", "tool_args", "tool_arguments", "action_args", "arguments", "args", "parameters", "input",
];
/// Labels before its outcome.
pub const OBSERVATION: &[&str] =
    &["observation", "observations", "obs", "tool_result", "tool_output", "tool_response", "action_result"];
/// The same, in words that agents also use for other things.
pub const RESULT: &[&str] = &["output", "result", "response"];
/// Labels before a command.
pub const COMMAND: &[&str] = &["command"];
/// Labels before anything else. The text before them ends there.
pub const OTHER: &[&str] =
    &["thought", "thoughts", "reasoning", "final_answer", "answer", "question", "next_thought", "plan", "step"];
/// Members of written JSON that name the action. Case-sensitive.
pub const ACTION_MEMBERS: &[&str] =
    &["action", "actions", "tool", "tool_name", "tool_call", "function", "command", "tool_calls"];
/// Headings of an action, with their last sign. Case-sensitive.
pub const ACTION_HEADINGS: &[&str] = &["# Action", "# ACTION", "# Command", "# Tool"];
/// Labels of an action at the beginning of a line. Case-sensitive.
pub const ACTION_LABELS: &[&str] = &["Action:", "Action :", "ACTION:", "Command:", "COMMAND:"];
/// Elements of a page, and elements that hold what the agent thinks. They are no actions.
pub const NO_ACTIONS: &[&str] = &[
    "p", "b", "i", "a", "ul", "ol", "li", "td", "tr", "em", "div", "span", "table", "strong", "body", "html", "think",
    "thinking", "thought", "reasoning", "analysis", "answer",
];
