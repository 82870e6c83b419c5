//! What an error of the Redis client or of the server means to this service. Decided by the error's kind and code; the
//! text after a code is read only where the server gives nothing better, and then from its beginning.

use std::{error::Error, sync::Arc};

use redis::{ErrorKind, RedisError, ServerErrorKind};

use super::super::StoreError;

/// Stands for the index's name, which only the store knows.
const UNNAMED: &str = "for this search";

/// The error of a call. Server messages can quote their input, so only the code of one that is not known is passed on.
pub fn store_error(e: &RedisError) -> StoreError {
    if let Some(problem) = tls_problem(e) {
        return StoreError::Unreachable(problem);
    }
    if e.is_timeout() {
        return unreachable("no answer in time");
    }
    if is_silence(e) {
        return unreachable(e.category());
    }
    let detail = e.detail().unwrap_or_default();
    let known = match e.kind() {
        ErrorKind::Server(ServerErrorKind::ResponseError) => of_general_error(detail),
        ErrorKind::Server(kind) => of_kind(kind),
        ErrorKind::Extension => of_code(e.code().unwrap_or_default(), detail),
        ErrorKind::AuthenticationFailed => Some(wrong_credentials()),
        ErrorKind::ClusterConnectionNotFound => Some(cluster_down()),
        _ => None,
    };
    known.unwrap_or_else(|| StoreError::Refused(e.code().unwrap_or(e.category()).to_owned()))
}

/// Whether nothing was answered: there is nobody, or who is there went away.
pub fn is_silence(e: &RedisError) -> bool {
    tls_problem(e).is_none() && (e.is_io_error() || e.is_connection_dropped() || e.is_connection_refusal())
}

/// Whether an index could not be made because there is one of that name.
pub fn index_exists(e: &RedisError) -> bool {
    // "Index already exists": the search module gives no code, so the client takes the first word for one.
    e.code() == Some("Index") && e.detail() == Some("already exists")
        || e.code() == Some("SEARCH_INDEX_EXISTS")
}

/// A code that the client knows.
fn of_kind(kind: ServerErrorKind) -> Option<StoreError> {
    Some(match kind {
        ServerErrorKind::NoPerm => missing_rights(),
        ServerErrorKind::ReadOnly => StoreError::Replica,
        ServerErrorKind::BusyLoading => unreachable("it is still loading its data"),
        ServerErrorKind::ClusterDown => cluster_down(),
        ServerErrorKind::MasterDown => unreachable("it is a replica without its primary"),
        ServerErrorKind::Moved | ServerErrorKind::Ask | ServerErrorKind::CrossSlot => {
            StoreError::WrongKind("this Redis is a node of a cluster: set REDIS_CLUSTER=true")
        }
        _ => return None,
    })
}

/// A code that the client does not know, or what it takes for one: the search module's errors begin with a word of their
/// text.
fn of_code(code: &str, detail: &str) -> Option<StoreError> {
    Some(match (code, detail) {
        ("OOM", _) => StoreError::Full,
        ("NOAUTH" | "WRONGPASS", _) => wrong_credentials(),
        ("SEARCH_INDEX_NOT_FOUND", _) | ("Unknown", "index name" | "Index name") => {
            StoreError::IndexMissing(UNNAMED)
        }
        (name, "no such index") if name.ends_with(':') => StoreError::IndexMissing(UNNAMED),
        ("No", text) if text.starts_with("such index") => StoreError::IndexMissing(UNNAMED),
        _ => return None,
    })
}

/// `ERR`, which says everything else in words.
fn of_general_error(text: &str) -> Option<StoreError> {
    if let Some(error) = within_script(text) {
        return Some(error);
    }
    if let Some(command) = text.strip_prefix("unknown command ") {
        let name = command.trim_start_matches(['\'', '`']).get(..3);
        return name
            .is_some_and(|name| name.eq_ignore_ascii_case("FT."))
            .then_some(StoreError::NoSearchModule);
    }
    if text.starts_with("This instance has cluster support disabled") {
        return Some(StoreError::WrongKind("this Redis is no cluster: set REDIS_CLUSTER=false"));
    }
    text.starts_with("ACL failure in script").then(missing_rights)
}

/// Servers before Redis 7 wrap the error of a script's command: "Error running script ...: -CODE its text".
fn within_script(text: &str) -> Option<StoreError> {
    let (_, error) = text.strip_prefix("Error running script")?.split_once(": -")?;
    let reply = redis::parse_redis_value(format!("-{error}\r\n").as_bytes()).ok()?;
    reply.extract_error().err().map(|e| store_error(&e))
}

fn unreachable(why: &str) -> StoreError {
    StoreError::Unreachable(why.to_owned())
}

fn cluster_down() -> StoreError {
    unreachable("a part of the cluster is down")
}

fn wrong_credentials() -> StoreError {
    unreachable("it wants other credentials; check REDIS_URL and REDIS_PASSWORD_FILE")
}

fn missing_rights() -> StoreError {
    StoreError::WrongKind(
        "this Redis user may not do what is needed: EVAL, PING and the keys that begin with loop: (with control also those that begin with sentinel:, with the response cache those that begin with cache:, and with REDIS_LOOKUP=search FT.CREATE, FT.INFO and FT.SEARCH)",
    )
}

/// What is wrong with TLS, if that is what went wrong.
fn tls_problem(e: &RedisError) -> Option<String> {
    // The client gives its shared pointer to the cause as the cause.
    let source: &Arc<dyn Error + Send + Sync> = e.source()?.downcast_ref()?;
    let tls: &rustls::Error = match source.downcast_ref::<std::io::Error>() {
        Some(io) => io.get_ref()?.downcast_ref()?,
        None => source.downcast_ref()?,
    };
    Some(match tls {
        rustls::Error::InvalidCertificate(why) => {
            format!(
                "its certificate is not accepted ({}); check REDIS_CA_FILE and the host in REDIS_URL",
                first_word(why)
            )
        }
        rustls::Error::AlertReceived(why) => {
            format!("it ended TLS ({why:?}); check REDIS_CERT_FILE and REDIS_KEY_FILE")
        }
        rustls::Error::InvalidMessage(_) => {
            "it does not speak TLS; give redis:// instead of rediss://".to_owned()
        }
        _ => "TLS failed".to_owned(),
    })
}

/// The name of the reason without what was in the certificate.
fn first_word(why: &impl std::fmt::Debug) -> String {
    format!("{why:?}").chars().take_while(char::is_ascii_alphanumeric).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error_of(line: &str) -> StoreError {
        let value = redis::parse_redis_value(format!("-{line}\r\n").as_bytes()).unwrap();
        store_error(&value.extract_error().unwrap_err())
    }

    #[test]
    fn what_servers_say_is_understood() {
        for line in [
            "OOM command not allowed when used memory > 'maxmemory'. script: f00, on @user_script:1.",
            "ERR Error running script: @user_script:1: -OOM command not allowed when used memory > 'maxmemory'.",
        ] {
            assert_eq!(error_of(line), StoreError::Full);
        }
        for line in [
            "READONLY You can't write against a read only replica.",
            "ERR Error running script (call to f_17): @user_script:1: -READONLY You can't write against a read only replica.",
        ] {
            assert_eq!(error_of(line), StoreError::Replica);
        }
        for line in
            ["Unknown index name", "loop:embeddings: no such index", "SEARCH_INDEX_NOT_FOUND Index not found"]
        {
            assert_eq!(error_of(line), StoreError::IndexMissing(UNNAMED), "{line}");
        }
        let no_module = "ERR unknown command 'FT.INFO', with args beginning with: 'loop:embeddings' ";
        assert_eq!(error_of(no_module), StoreError::NoSearchModule);
        for (line, words) in [
            ("MOVED 1234 10.0.0.1:6379", "REDIS_CLUSTER=true"),
            ("CROSSSLOT Keys in request don't hash to the same slot", "REDIS_CLUSTER=true"),
            ("ERR This instance has cluster support disabled", "REDIS_CLUSTER=false"),
            ("NOPERM this user has no permissions", "EVAL"),
            ("ERR ACL failure in script: User u has no permissions to run the 'hset' command", "EVAL"),
            ("WRONGPASS invalid username-password pair", "REDIS_PASSWORD_FILE"),
            ("NOAUTH Authentication required.", "REDIS_PASSWORD_FILE"),
            ("LOADING Redis is loading the dataset in memory", "loading"),
            ("CLUSTERDOWN The cluster is down", "part of the cluster"),
            ("MASTERDOWN Link with MASTER is down", "replica without its primary"),
        ] {
            assert!(error_of(line).to_string().contains(words), "{line}");
        }
    }

    #[test]
    fn a_word_inside_a_message_is_no_code() {
        for line in [
            "ERR there is no room left in the buffer",
            "ERR the key was removed",
            "ERR across all slots",
            "ERR value is not an integer: 'readonly'",
            "ERR wrong number of arguments, noperm",
            "ERR Error running script: @user_script:1: the room left",
            "ERR unknown command 'HSET', with args beginning with: 'FT.INFO' ",
        ] {
            assert_eq!(error_of(line), StoreError::Refused("ERR".to_owned()), "{line}");
        }
        assert_eq!(error_of("MISCONF loading OOM MOVED"), StoreError::Refused("MISCONF".to_owned()));
        assert_eq!(error_of("other no such index"), StoreError::Refused("other".to_owned()));
    }

    #[test]
    fn a_message_that_quotes_a_prompt_is_not_passed_on() {
        let odd = error_of("ODD do not quote 'my secret prompt'").to_string();
        assert!(odd.contains("ODD") && !odd.contains("secret"), "{odd}");
    }

    #[test]
    fn an_index_that_is_there_already_is_told_from_other_errors() {
        let exists = |line: &str| {
            let value = redis::parse_redis_value(format!("-{line}\r\n").as_bytes()).unwrap();
            index_exists(&value.extract_error().unwrap_err())
        };
        assert!(exists("Index already exists"));
        assert!(!exists("ERR it already exists"));
    }
}
