//! Metrics in Prometheus's text format.

/// One scrape.
#[derive(Clone, Debug)]
pub struct Metrics {
    samples: Vec<Sample>,
}

#[derive(Clone, Debug)]
pub struct Sample {
    pub name: String,
    pub labels: Vec<(String, String)>,
    pub value: f64,
}

impl Metrics {
    pub fn parse(text: &str) -> Self {
        Self { samples: text.lines().filter_map(sample).collect() }
    }

    /// The sum of all samples of this name with all these labels, or 0.
    pub fn sum(&self, name: &str, labels: &[(&str, &str)]) -> u64 {
        self.samples.iter().filter(|sample| sample.is(name, labels)).map(|sample| sample.value as u64).sum()
    }

    /// All samples whose name has this prefix, for error messages.
    pub fn beginning(&self, prefix: &str) -> Vec<&Sample> {
        self.samples.iter().filter(|sample| sample.name.starts_with(prefix) && sample.value != 0.0).collect()
    }
}

impl Sample {
    fn is(&self, name: &str, labels: &[(&str, &str)]) -> bool {
        self.name == name
            && labels.iter().all(|(key, value)| self.labels.iter().any(|(k, v)| k == key && v == value))
    }
}

fn sample(line: &str) -> Option<Sample> {
    if line.starts_with('#') {
        return None;
    }
    let (series, value) = line.rsplit_once(' ')?;
    let (name, labels) =
        series.split_once('{').map_or((series, ""), |(name, rest)| (name, rest.trim_end_matches('}')));
    // Our own label values have neither commas nor quotes. Other samples do not matter here.
    let labels = labels
        .split("\",")
        .filter_map(|pair| pair.split_once("=\""))
        .map(|(key, value)| (key.trim_matches(',').to_owned(), value.trim_end_matches('"').to_owned()))
        .collect();
    Some(Sample { name: name.to_owned(), labels, value: value.parse().ok()? })
}
