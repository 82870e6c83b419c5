//! Names of programs, and what they are told and print. They are written as they stand in a command.

/// Programs that search what they are given: their arguments name no deed.
pub const SEARCH: &[&str] =
    &["grep", "egrep", "rg", "ag", "cat", "less", "find", "sed", "awk", "man", "which", "diff", "ls"];
/// Programs that print how things stand, which may stay as it is for long.
pub const STATE: &[&str] = &["ps", "pgrep", "top", "uptime", "jobs", "squeue", "qstat", "df", "free", "date"];
/// Programs that print the end of a log, which grows.
pub const LOG: &[&str] = &["tail", "journalctl"];
/// What a program is told where it is to print how things stand: `kubectl get`, `docker ps`.
pub const STATE_COMMANDS: &[&str] = &["get", "describe", "inspect", "ps", "top"];
/// What a program is told where it is to wait: `kubectl wait`, `gh run watch`.
pub const WAIT_COMMANDS: &[&str] = &["wait", "watch"];
/// What lets a debugger go on, as a whole command.
pub const STEPS: &[&str] = &["c", "cont", "continue", "n", "next", "s", "step"];
/// What stands before the program that does the work: `sudo sleep 5`, `await asyncio.sleep(5)`.
pub const BEFORE: &[&str] = &["sudo", "await", "time", "nohup", "timeout", "do", "then"];
/// Shells: how many lines one has read that stays open differs each time (`bash: line 11376`).
pub const SHELLS: &[&str] = &["bash", "sh", "zsh", "dash", "ksh"];
/// What a database answers to a statement it has carried out: `INSERT 0 1`.
pub const STATEMENTS: &[&str] = &["insert", "update", "delete", "create", "alter", "drop", "begin", "commit"];
/// What a server answers that has done it; in this case.
pub const STATUSES: &[&str] = &["200", "201", "200 OK", "201 Created"];
/// The number behind one of these differs each time that a program runs.
pub const PROCESSES: &[&str] = &["pid", "pids", "pgid", "ppid", "port", "process", "thread", "tid", "goroutine"];
/// Folders for files that are made for one time, whose names differ each time.
pub const TEMPORARY: &[&str] = &["tmp", "temp"];
/// Levels of a line in a log that say that something failed; in capitals.
pub const FAILURE_LEVELS: &[&str] = &["ERROR", "FATAL", "CRITICAL"];
/// Behind a program's name at the beginning of each line: the lines say that it failed. In this case.
pub const FAILURE_MARGINS: &[&str] = &["ERR!", "error", "ERROR"];
/// What the names of exceptions end with; in this case.
pub const EXCEPTIONS: &[&str] = &["Error", "Exception", "Timeout"];
/// Columns of a table that say how a row stands; in this case, for a word of a sentence is no head of a column.
pub const STATE_COLUMNS: &[&str] = &["STATUS", "STATE", "PHASE", "Status", "State", "Phase"];
/// Before an exit code in a text.
pub const EXIT_CODES: &[&str] =
    &["returncode", "return code", "exit code", "exit_code", "exit status", "exited with code"];
/// A value that says that there is none: `Error: (none)`.
pub const NO_VALUE: &[&str] = &["none", "empty", "null", "nil", "undefined", "n/a", "0", "false"];
/// A result that is one of these alone has nothing in it; in this case, for "Nil" may be a name.
pub const NOTHING: &[&str] = &["None", "none", "null", "undefined", "nil"];
/// A value of an argument that names nothing.
pub const BARE_VALUES: &[&str] = &["true", "false", "null", "none"];
