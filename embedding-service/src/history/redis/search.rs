//! Looking up by the search module: the index over the prompts' hashes, and the question that is asked of it.

use std::{collections::HashMap, sync::Once};

use redis::{Cmd, FromRedisValue, Value, cmd, from_redis_value};

use super::{
    command::{MAX_HISTORY, vector_bytes},
    keys::{INDEX, PREFIX},
    reply::convert,
};
use crate::store::{
    StoreError,
    redis::{Connection, Index, index_exists, store_error},
};

/// The index over the vectors of all prompts.
pub struct PromptIndex {
    dimension: usize,
    warned_of_graph: Once,
}

impl PromptIndex {
    /// Over vectors with `dimension` components.
    pub fn new(dimension: usize) -> Self {
        Self { dimension, warned_of_graph: Once::new() }
    }
}

#[tonic::async_trait]
impl Index for PromptIndex {
    async fn ensure(&self, connection: &mut Connection) -> Result<(), StoreError> {
        if ensure_index(connection, self.dimension).await? == Algorithm::Hnsw {
            self.warned_of_graph.call_once(|| {
                tracing::warn!(
                    "the index {0} keeps a graph (HNSW), which makes writes slow and is of no use to this service; after FT.DROPINDEX {0} (without DD, so that no prompt is lost) it makes one without",
                    INDEX
                );
            });
        }
        Ok(())
    }
}

/// How the index stores vectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Algorithm {
    /// As they are: a write is cheap. What this service makes.
    Flat,
    /// In an HNSW graph. Every write updates it, and the service never searches over all prompts.
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
        .arg(vector_bytes(vector))
        .arg(&["RETURN", "4", "distance", "moment", "prompt", "unseen"])
        .arg(&["LIMIT", "0"])
        .arg(MAX_HISTORY)
        .arg(&["DIALECT", "2"]);
    command
}

/// Makes the index where it is missing, and checks that one that is there fits.
async fn ensure_index(connection: &mut Connection, dimension: usize) -> Result<Algorithm, StoreError> {
    match info(connection).await {
        Ok(info) => return algorithm_of(info, dimension),
        Err(StoreError::IndexMissing(_)) => {}
        Err(e) => return Err(e),
    }
    match create(dimension).query_async::<Value>(connection).await {
        Ok(_) => Ok(Algorithm::Flat),
        // Another replica was faster.
        Err(e) if index_exists(&e) => algorithm_of(info(connection).await?, dimension),
        Err(e) => Err(store_error(&e)),
    }
}

async fn info(connection: &mut Connection) -> Result<Value, StoreError> {
    cmd("FT.INFO").arg(INDEX).query_async(connection).await.map_err(|e| store_error(&e))
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

/// How an existing index stores vectors. An error if it does not suit this service.
fn algorithm_of(info: Value, dimension: usize) -> Result<Algorithm, StoreError> {
    let unfit = |problem: String| StoreError::IndexUnfit { index: INDEX, problem };
    let mut info: Table = convert(info, "FT.INFO is no list of names and values")?;
    let mut definition: Table =
        convert(taken(&mut info, "index_definition"), "FT.INFO without a definition of the index")?;
    let prefixes: Vec<String> = convert(taken(&mut definition, "prefixes"), "FT.INFO without prefixes")?;
    if !prefixes.iter().any(|prefix| prefix == PREFIX) {
        return Err(unfit(format!("it does not cover keys that begin with {PREFIX}")));
    }
    let attributes: Vec<Attribute> = match info.remove("attributes") {
        Some(attributes) => convert(attributes, "FT.INFO with attributes that are no lists")?,
        None => return Err(StoreError::Unreadable("FT.INFO without attributes")),
    };
    let value = |attribute: &str, name: &str| {
        let found = attributes.iter().find(|found| found.get("attribute").is_some_and(|n| n == attribute))?;
        found.get(name)
    };
    for (name, kind) in [("scope", "TAG"), ("moment", "NUMERIC"), ("vec", "VECTOR")] {
        if value(name, "type").is_none_or(|found| found != kind) {
            return Err(unfit(format!("it has no field {name} of the type {kind}")));
        }
    }
    for (name, wanted) in [
        ("dim", dimension.to_string()),
        ("data_type", "FLOAT32".to_owned()),
        ("distance_metric", "COSINE".to_owned()),
    ] {
        let found = value("vec", name).unwrap_or_default();
        if found != wanted {
            return Err(unfit(format!("its vectors have {name} {found}, the model needs {wanted}")));
        }
    }
    match value("vec", "algorithm").unwrap_or_default() {
        "FLAT" => Ok(Algorithm::Flat),
        "HNSW" => Ok(Algorithm::Hnsw),
        other => Err(unfit(format!("its vectors have algorithm {other}, which is neither FLAT nor HNSW"))),
    }
}

type Table = HashMap<String, Value>;

fn taken(table: &mut Table, name: &str) -> Value {
    table.remove(name).unwrap_or(Value::Nil)
}

/// What FT.INFO says of a field: names and values, and behind them words that stand alone (SORTABLE), so that it is no map
/// to the client.
struct Attribute(Vec<String>);

impl Attribute {
    fn get(&self, name: &str) -> Option<&str> {
        self.0.as_chunks::<2>().0.iter().find(|[known, _]| known == name).map(|[_, value]| value.as_str())
    }
}

impl FromRedisValue for Attribute {
    fn from_redis_value(value: Value) -> Result<Self, redis::ParsingError> {
        // Values that are not scalars are not needed.
        let values: Vec<Value> = from_redis_value(value)?;
        Ok(Self(values.into_iter().map(|value| from_redis_value(value).unwrap_or_default()).collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(words: &[&str]) -> Value {
        Value::Array(words.iter().map(|word| Value::SimpleString((*word).to_owned())).collect())
    }

    /// FT.INFO as the search module 2.10 gives it, as far as it is read.
    fn info(prefix: &str, vector: &[&str]) -> Value {
        let name = |name: &str| Value::SimpleString(name.to_owned());
        let common = ["identifier", "vec", "attribute", "vec", "type", "VECTOR"];
        Value::Array(vec![
            name("index_definition"),
            Value::Array(vec![name("key_type"), name("HASH"), name("prefixes"), words(&[prefix])]),
            name("attributes"),
            Value::Array(vec![
                words(&["identifier", "scope", "attribute", "scope", "type", "TAG", "CASESENSITIVE"]),
                words(&["identifier", "moment", "attribute", "moment", "type", "NUMERIC", "SORTABLE", "UNF"]),
                words(&[&common, vector].concat()),
            ]),
            name("num_docs"),
            Value::Int(0),
        ])
    }

    const FLAT: [&str; 8] =
        ["algorithm", "FLAT", "data_type", "FLOAT32", "dim", "4", "distance_metric", "COSINE"];

    #[test]
    fn an_index_that_suits_is_taken_and_any_other_is_named() {
        assert_eq!(algorithm_of(info("loop:", &FLAT), 4), Ok(Algorithm::Flat));
        let problem = |info: Value, dimension| algorithm_of(info, dimension).unwrap_err().to_string();
        assert!(problem(info("other:", &FLAT), 4).contains("does not cover keys that begin with loop:"));
        assert!(problem(info("loop:", &FLAT), 5).contains("its vectors have dim 4, the model needs 5"));
        assert!(problem(info("loop:", &[]), 4).contains("its vectors have dim , the model needs 4"));
        for odd in [Value::Okay, Value::Array(vec![]), words(&["attributes"])] {
            assert!(algorithm_of(odd, 4).is_err());
        }
    }
}
