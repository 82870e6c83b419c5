//! Finds the model and its tokeniser on disk. Opens neither.

use std::path::{Path, PathBuf};

use super::error::ModelError;

/// Both files of a model, existing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelFiles {
    pub graph: PathBuf,
    pub tokeniser: PathBuf,
}

impl ModelFiles {
    /// `path` is an .onnx file or a folder that holds `model.onnx`; `tokenizer.json` lies beside the graph.
    ///
    /// # Errors
    /// When one of the files is not there.
    pub fn find(path: &Path) -> Result<Self, ModelError> {
        let wrong = |path: &Path, problem: &str| ModelError::Path {
            path: path.display().to_string(),
            problem: problem.to_owned(),
        };
        let graph = if path.is_dir() { path.join("model.onnx") } else { path.to_path_buf() };
        if !graph.is_file() {
            return Err(wrong(
                &graph,
                "is not there. Give an .onnx file, or a folder with model.onnx and tokenizer.json",
            ));
        }
        let tokeniser = graph.with_file_name("tokenizer.json");
        if !tokeniser.is_file() {
            return Err(wrong(
                &tokeniser,
                "is not there. Put the model's tokenizer.json beside its .onnx file",
            ));
        }
        Ok(Self { graph, tokeniser })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_or_its_folder_and_the_tokeniser_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let graph = folder.path().join("model.onnx");
        let missing = ModelFiles::find(folder.path()).unwrap_err().to_string();
        assert!(missing.contains("model.onnx is not there"), "{missing}");

        std::fs::write(&graph, b"x").unwrap();
        let missing = ModelFiles::find(&graph).unwrap_err().to_string();
        assert!(missing.contains("tokenizer.json is not there"), "{missing}");

        std::fs::write(folder.path().join("tokenizer.json"), b"x").unwrap();
        let by_file = ModelFiles::find(&graph).unwrap();
        assert_eq!(by_file, ModelFiles::find(folder.path()).unwrap());
        assert_eq!(by_file.graph, graph);
    }
}
