//! What the files beside the ONNX graph say: how the vectors of the tokens become one vector, and how many tokens the
//! model reads. The files come from other tools (sentence-transformers, transformers), so fields that are not needed
//! are ignored.

use std::path::Path;

use serde_json::Value;

use super::error::ModelError;

/// How the vectors of the tokens become that of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pooling {
    /// Their mean.
    Mean,
    /// The first token's.
    First,
}

/// What is written beside a graph; `None` where nothing is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ModelConfig {
    pub pooling: Option<Pooling>,
    /// Tokens that the model reads, its special ones included.
    pub max_tokens: Option<usize>,
}

impl ModelConfig {
    /// Reads `1_Pooling/config.json`, `sentence_bert_config.json`, `config.json` and `tokenizer_config.json` in the folder
    /// of the graph, as far as they are there.
    ///
    /// # Errors
    /// When one of them is no JSON, or asks for a pooling that there is not.
    pub fn read(graph: &Path) -> Result<Self, ModelError> {
        let pooling = json(graph, "1_Pooling/config.json")?
            .map(|(name, file)| pooling(&file).map_err(|problem| ModelError::Path { path: name, problem }));
        let mut max_tokens = None;
        for (file, field) in [
            ("sentence_bert_config.json", "max_seq_length"),
            ("tokenizer_config.json", "model_max_length"),
            ("config.json", "max_position_embeddings"),
        ] {
            let Some((_, file)) = json(graph, file)? else { continue };
            // Where there is no limit, people write 1e30.
            let Some(mut limit) =
                file.get(field).and_then(Value::as_u64).and_then(|n| usize::try_from(n).ok())
            else {
                continue;
            };
            if field == "max_position_embeddings" {
                limit = limit.saturating_sub(positions_lost(&file));
            }
            max_tokens = Some(max_tokens.map_or(limit, |known: usize| known.min(limit)));
        }
        Ok(Self { pooling: pooling.transpose()?, max_tokens })
    }
}

/// RoBERTa and its kin count positions from the padding's id on.
fn positions_lost(config: &Value) -> usize {
    let kind = config.get("model_type").and_then(Value::as_str).unwrap_or_default();
    let padding = config.get("pad_token_id").and_then(Value::as_u64).and_then(|id| usize::try_from(id).ok());
    match kind {
        "roberta" | "xlm-roberta" | "camembert" | "mpnet" => padding.map_or(2, |id| id.saturating_add(1)),
        _ => 0,
    }
}

fn pooling(config: &Value) -> Result<Pooling, String> {
    let named = config.get("pooling_mode").and_then(Value::as_str);
    let set = |name: &str| config.get(name).and_then(Value::as_bool) == Some(true);
    let kinds: Vec<&str> = match named {
        Some(named) => named.split('+').collect(),
        None => [
            "cls_token",
            "mean_tokens",
            "max_tokens",
            "mean_sqrt_len_tokens",
            "weightedmean_tokens",
            "lasttoken",
        ]
        .into_iter()
        .filter(|kind| set(&format!("pooling_mode_{kind}")))
        .collect(),
    };
    match kinds.as_slice() {
        ["mean" | "mean_tokens"] => Ok(Pooling::Mean),
        ["cls" | "cls_token"] => Ok(Pooling::First),
        [] => Err("names no pooling; say pooling_mode_mean_tokens or pooling_mode_cls_token".to_owned()),
        _ => Err("asks for a pooling other than mean or cls; use a graph that pools by itself".to_owned()),
    }
}

/// The file `name` in the folder of `graph` and its path, if it is there.
fn json(graph: &Path, name: &str) -> Result<Option<(String, Value)>, ModelError> {
    let path = graph.with_file_name(name);
    let shown = path.display().to_string();
    match std::fs::read(&path) {
        Ok(bytes) => match serde_json::from_slice(&bytes) {
            Ok(value) => Ok(Some((shown, value))),
            Err(e) => Err(ModelError::Path { path: shown, problem: format!("is no JSON: {e}") }),
        },
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(e) => Err(ModelError::Path { path: shown, problem: format!("cannot be read: {e}") }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(files: &[(&str, &str)]) -> Result<ModelConfig, ModelError> {
        let folder = tempfile::tempdir().unwrap();
        for (name, content) in files {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, content).unwrap();
        }
        ModelConfig::read(&folder.path().join("model.onnx"))
    }

    #[test]
    fn nothing_beside_the_graph_says_nothing() {
        assert_eq!(read(&[]).unwrap(), ModelConfig::default());
    }

    #[test]
    fn pooling_is_read_in_both_ways_it_is_written() {
        for (config, wanted) in [
            (r#"{"pooling_mode_cls_token": true, "pooling_mode_mean_tokens": false}"#, Pooling::First),
            (r#"{"pooling_mode_cls_token": false, "pooling_mode_mean_tokens": true}"#, Pooling::Mean),
            (r#"{"word_embedding_dimension": 384, "pooling_mode": "mean"}"#, Pooling::Mean),
            (r#"{"pooling_mode": "cls"}"#, Pooling::First),
        ] {
            assert_eq!(read(&[("1_Pooling/config.json", config)]).unwrap().pooling, Some(wanted), "{config}");
        }
    }

    #[test]
    fn a_pooling_that_there_is_not_is_named() {
        for config in [
            "{}",
            r#"{"pooling_mode": "lasttoken"}"#,
            r#"{"pooling_mode_cls_token": true, "pooling_mode_max_tokens": true}"#,
        ] {
            let e = read(&[("1_Pooling/config.json", config)]).unwrap_err().to_string();
            assert!(e.contains("1_Pooling/config.json") && e.contains("pooling"), "{e}");
        }
        let e = read(&[("config.json", "{")]).unwrap_err().to_string();
        assert!(e.contains("config.json is no JSON"), "{e}");
    }

    #[test]
    fn the_shortest_of_the_limits_holds() {
        let bert = ("config.json", r#"{"model_type": "bert", "max_position_embeddings": 512}"#);
        let max_tokens = |files: &[(&str, &str)]| read(files).unwrap().max_tokens;
        assert_eq!(max_tokens(&[bert]), Some(512));
        assert_eq!(
            max_tokens(&[bert, ("sentence_bert_config.json", r#"{"max_seq_length": 100}"#)]),
            Some(100)
        );
        assert_eq!(
            max_tokens(&[bert, ("tokenizer_config.json", r#"{"model_max_length": 1e30}"#)]),
            Some(512)
        );
        let roberta = (
            "config.json",
            r#"{"model_type": "roberta", "max_position_embeddings": 514, "pad_token_id": 1}"#,
        );
        assert_eq!(max_tokens(&[roberta]), Some(512));
    }
}
