//! Looking up by the search module: the index over the prompts' hashes, and the question that is asked of it.

use redis::{Cmd, Value, cmd};

use super::{super::HistoryError, MAX_HISTORY, bytes, connection::Connection, reply};

/// Name of the index.
pub const INDEX: &str = "loop:embeddings";
/// Every hash with this prefix is indexed.
const PREFIX: &str = "loop:";

/// How the index keeps vectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    /// As they are: a write is cheap. What this service makes.
    Flat,
    /// In a graph, which every write has to mend. It serves searches over all prompts, which are none of ours.
    Hnsw,
}

/// One KNN search over the prompts of the scope, as the index knows it. They are a handful, so it is told to compare with
/// every one of them (`ADHOC_BF`): walking a graph under a filter this narrow is approximate, and here it must not be.
pub fn recall(scope: &str, vector: &[f32]) -> Cmd {
    let query =
        format!("(@scope:{{{scope}}})=>[KNN {MAX_HISTORY} @vec $vec HYBRID_POLICY ADHOC_BF AS distance]");
    let mut command = cmd("FT.SEARCH");
    command
        .arg(INDEX)
        .arg(query)
        .arg(&["PARAMS", "2", "vec"])
        .arg(bytes(vector))
        .arg(&["RETURN", "4", "distance", "moment", "prompt", "unseen"])
        .arg(&["LIMIT", "0"])
        .arg(MAX_HISTORY)
        .arg(&["DIALECT", "2"]);
    command
}

/// Makes the index where it is missing, and checks that one that is there fits.
pub async fn ensure_index(connection: &mut Connection, dimension: usize) -> Result<Algorithm, HistoryError> {
    match info(connection).await {
        Ok(info) => return fits(&info, dimension),
        Err(HistoryError::IndexMissing(_)) => {}
        Err(e) => return Err(e),
    }
    match create(dimension).query_async::<Value>(connection).await {
        Ok(_) => Ok(Algorithm::Flat),
        // Another replica was faster.
        Err(e) if e.detail().is_some_and(|e| e.ends_with("already exists")) => {
            fits(&info(connection).await?, dimension)
        }
        Err(e) => Err(reply::error(&e)),
    }
}

async fn info(connection: &mut Connection) -> Result<Value, HistoryError> {
    cmd("FT.INFO").arg(INDEX).query_async(connection).await.map_err(|e| reply::error(&e))
}

fn create(dimension: usize) -> Cmd {
    let mut command = cmd("FT.CREATE");
    command
        .arg(INDEX)
        .arg(&["ON", "HASH", "PREFIX", "1", PREFIX, "SCHEMA"])
        .arg(&["tenant_id", "TAG", "SEPARATOR", "\u{1}", "CASESENSITIVE"])
        .arg(&["scope", "TAG", "CASESENSITIVE"])
        .arg(&["moment", "NUMERIC", "SORTABLE"])
        .arg(&["vec", "VECTOR", "FLAT", "6", "TYPE", "FLOAT32", "DIM"])
        .arg(dimension)
        .arg(&["DISTANCE_METRIC", "COSINE"]);
    command
}

fn fits(info: &Value, dimension: usize) -> Result<Algorithm, HistoryError> {
    let unfit = |problem: String| HistoryError::IndexUnfit { index: INDEX, problem };
    let prefixes = reply::field(info, "index_definition").and_then(|d| reply::field(d, "prefixes"));
    if !matches!(prefixes, Some(Value::Array(list)) if list.iter().any(|p| reply::text(p).is_some_and(|p| p == PREFIX)))
    {
        return Err(unfit(format!("it does not cover keys that begin with {PREFIX}")));
    }
    let Some(Value::Array(attributes)) = reply::field(info, "attributes") else {
        return Err(HistoryError::Unreadable("FT.INFO without attributes"));
    };
    let attribute = |name: &str| {
        attributes
            .iter()
            .find(|a| reply::field(a, "attribute").and_then(reply::text).is_some_and(|n| n == name))
    };
    for (name, kind) in [("scope", "TAG"), ("moment", "NUMERIC"), ("vec", "VECTOR")] {
        let found = attribute(name).and_then(|a| reply::field(a, "type"));
        if found.and_then(reply::text).is_none_or(|t| t != kind) {
            return Err(unfit(format!("it has no field {name} of the type {kind}")));
        }
    }
    let vector = |name: &str| {
        attribute("vec").and_then(|a| reply::field(a, name)).and_then(reply::text).unwrap_or_default()
    };
    for (name, wanted) in [
        ("dim", dimension.to_string()),
        ("data_type", "FLOAT32".to_owned()),
        ("distance_metric", "COSINE".to_owned()),
    ] {
        let found = vector(name);
        if found != wanted {
            return Err(unfit(format!("its vectors have {name} {found}, the model needs {wanted}")));
        }
    }
    match &*vector("algorithm") {
        "FLAT" => Ok(Algorithm::Flat),
        "HNSW" => Ok(Algorithm::Hnsw),
        other => Err(unfit(format!("its vectors have algorithm {other}, which is neither FLAT nor HNSW"))),
    }
}
