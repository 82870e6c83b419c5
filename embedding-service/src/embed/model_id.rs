//! Which model made a vector. Vectors of two models cannot be compared, even if they have the same length. So whatever
//! stores vectors stores this with them.

use std::{ffi::OsString, fmt, fs::File, io, path::Path};

use super::{
    error::ModelError,
    model_config::{ModelConfig, Pooling},
    model_files::ModelFiles,
};

/// To be counted up when this program makes other vectors of the same files.
const VECTORS: u32 = 1;

/// A digest of all that decides what the vector of a text is. Shown as 8 hex digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModelId([u8; 4]);

impl ModelId {
    /// Of the model in these files, its weights outside the graph included. Reads them whole.
    ///
    /// # Errors
    /// When one of them cannot be read.
    pub fn of(files: &ModelFiles) -> Result<Self, ModelError> {
        let mut all = blake3::Hasher::new();
        all.update(written_out(ModelConfig::read(&files.graph)?).as_bytes());
        let beside = |suffix: &str| {
            let mut path = OsString::from(&files.graph);
            path.push(suffix);
            path
        };
        for path in [files.tokeniser.clone().into(), beside(""), beside("_data"), beside(".data")] {
            all.update(&digest(Path::new(&path))?);
        }
        Ok(Self::from(&all))
    }

    /// Of an embedder without files.
    #[must_use]
    pub fn named(name: &str) -> Self {
        Self::from(blake3::Hasher::new().update(name.as_bytes()))
    }

    fn from(hasher: &blake3::Hasher) -> Self {
        let mut id = [0; 4];
        hasher.finalize_xof().fill(&mut id);
        Self(id)
    }
}

/// What is said beside the graph, as the digest takes it. Vectors that are stored are found by it: it must stay as it is.
fn written_out(ModelConfig { pooling, max_tokens }: ModelConfig) -> String {
    let pooling = match pooling {
        None => "None",
        Some(Pooling::Mean) => "Some(Mean)",
        Some(Pooling::First) => "Some(First)",
    };
    let max_tokens = max_tokens.map_or("None".to_owned(), |limit| format!("Some({limit})"));
    format!("{VECTORS} {pooling} {max_tokens}")
}

/// Zeros where there is no such file.
fn digest(path: &Path) -> Result<[u8; blake3::OUT_LEN], ModelError> {
    let read = || blake3::Hasher::new().update_reader(File::open(path)?).map(|h| h.finalize());
    match read() {
        Ok(digest) => Ok(digest.into()),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok([0; blake3::OUT_LEN]),
        Err(e) => Err(ModelError::Path {
            path: path.display().to_string(),
            problem: format!("cannot be read: {e}"),
        }),
    }
}

impl fmt::Display for ModelId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn the_words_in_the_digest_are_those_of_vectors_that_are_stored() {
        let words = |pooling, max_tokens| written_out(ModelConfig { pooling, max_tokens });
        assert_eq!(words(None, None), "1 None None");
        assert_eq!(words(Some(Pooling::Mean), Some(128)), "1 Some(Mean) Some(128)");
        assert_eq!(words(Some(Pooling::First), Some(512)), "1 Some(First) Some(512)");
    }

    #[test]
    fn whatever_decides_the_vectors_counts_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
        let id = || ModelId::of(&ModelFiles::find(folder.path()).unwrap()).unwrap();
        fs::create_dir(folder.path().join("1_Pooling")).unwrap();
        write("model.onnx", "graph");
        write("tokenizer.json", "words");
        let mut seen = vec![id()];
        for (name, text) in [
            ("model.onnx", "another graph"),
            ("tokenizer.json", "other words"),
            ("model.onnx_data", "weights"),
            ("model.onnx.data", "weights"),
            ("1_Pooling/config.json", r#"{"pooling_mode": "cls"}"#),
            ("sentence_bert_config.json", r#"{"max_seq_length": 128}"#),
        ] {
            write(name, text);
            let now = id();
            assert!(!seen.contains(&now), "{name}");
            seen.push(now);
        }
        write("sentence_bert_config.json", r#"{"max_seq_length": 128, "do_lower_case": false}"#);
        write("MODEL.md", "about it");
        assert_eq!(seen.last(), Some(&id()));
        assert_eq!(id().to_string().len(), 8);
    }
}
