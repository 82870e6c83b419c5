//! Names of programs, and what they are told and print. They are written as they stand in a command.

/// Programs that search for what they are given: their arguments name no action.
pub const SEARCH: &[&str] =
    &["grep", "egrep", "rg", "ag", "cat", "less", "find", "sed", "awk", "man", "which", "diff", "ls"];
/// Programs that print how things stand, which may stay as it is for long.
pub const STATE: &[&str] = &["ps", "pgrep", "top", "uptime", "jobs", "squeue", "qstat", "df", "free", "date"];
/// Programs that print the end of a log, which grows.
pub const LOG: &[&str] = &["tail", "journalctl"];
/// Subcommands that print how things stand: `kubectl get`, `docker ps`.
pub const STATE_COMMANDS: &[&str] = &["get", "describe", "inspect", "ps", "top"];
/// Subcommands that wait: `kubectl wait`, `gh run watch`.
pub const WAIT_COMMANDS: &[&str] = &["wait", "watch"];
/// Whole commands that let a debugger go on.
pub const STEPS: &[&str] = &["c", "cont", "continue", "n", "next", "s", "step"];
/// What stands before the program that does the work: `sudo sleep 5`, `await asyncio.sleep(5)`.
pub const BEFORE: &[&str] = &["sudo", "await", "time", "nohup", "timeout", "do", "then"];
/// Shells. How many lines an open shell has read differs each time (`bash: line 11376`).
pub const SHELLS: &[&str] = &["bash", "sh", "zsh", "dash", "ksh"];
/// What a database answers to a statement it has carried out: `INSERT 0 1`.
pub const STATEMENTS: &[&str] = &["insert", "update", "delete", "create", "alter", "drop", "begin", "commit"];
/// Answers of a server that has done what it was asked for. Case-sensitive.
pub const STATUSES: &[&str] = &["200", "201", "200 OK", "201 Created"];
/// The number behind one of these differs each time that a program runs.
pub const PROCESSES: &[&str] = &["pid", "pids", "pgid", "ppid", "port", "process", "thread", "tid", "goroutine"];
/// Folders for temporary files, whose names differ each time.
pub const TEMPORARY: &[&str] = &["tmp", "temp"];
/// Levels of a line in a log that say that something failed. In capitals.
pub const FAILURE_LEVELS: &[&str] = &["ERROR", "FATAL", "CRITICAL"];
/// Behind a program's name at the beginning of each line, these say that the program failed. Case-sensitive.
pub const FAILURE_MARGINS: &[&str] = &["ERR!", "error", "ERROR"];
/// Endings of the names of exceptions. Case-sensitive.
pub const EXCEPTIONS: &[&str] = &["Error", "Exception", "Timeout"];
/// Columns of a table that say how a row stands. Case-sensitive, because a word of a sentence is no head of a column.
pub const STATE_COLUMNS: &[&str] = &["STATUS", "STATE", "PHASE", "Status", "State", "Phase"];
/// Before an exit code in a text.
pub const EXIT_CODES: &[&str] =
    &["returncode", "return code", "exit code", "exit_code", "exit status", "exited with code"];
/// Values that say that there is nothing: `Error: (none)`.
pub const NO_VALUE: &[&str] = &["none", "empty", "null", "nil", "undefined", "n/a", "0", "false"];
/// A result that is one of these alone has nothing in it. Case-sensitive, because "Nil" may be a name.
pub const NOTHING: &[&str] = &["None", "none", "null", "undefined", "nil"];
/// A value of an argument that names nothing.
pub const BARE_VALUES: &[&str] = &["true", "false", "null", "none"];
