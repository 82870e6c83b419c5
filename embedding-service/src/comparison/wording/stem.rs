//! The stem of an English word: what its inflections have in common. Endings only; a word that looks inflected and is not may
//! lose its end, which does no harm as long as no other word has that stem.

/// Forms that no ending explains.
const IRREGULAR: [(&str, &[&str]); 56] = [
    ("begin", &["began", "begun"]),
    ("break", &["broke", "broken"]),
    ("bring", &["brought"]),
    ("build", &["built"]),
    ("buy", &["bought"]),
    ("catch", &["caught"]),
    ("child", &["children"]),
    ("choose", &["chose", "chosen"]),
    ("draw", &["drew", "drawn"]),
    ("eat", &["ate", "eaten"]),
    ("fall", &["fell", "fallen"]),
    ("feel", &["felt"]),
    ("find", &["found"]),
    ("forget", &["forgot", "forgotten"]),
    ("freeze", &["froze", "frozen"]),
    ("get", &["got", "gotten", "getting"]),
    ("give", &["gave", "given"]),
    ("go", &["goes", "went", "gone", "going"]),
    ("grow", &["grew", "grown"]),
    ("hang", &["hung"]),
    ("hide", &["hid", "hidden"]),
    ("hold", &["held"]),
    ("index", &["indices", "indexes"]),
    ("keep", &["kept"]),
    ("know", &["knew", "known"]),
    ("leave", &["left"]),
    ("lose", &["lost"]),
    ("make", &["made"]),
    ("man", &["men"]),
    ("mean", &["meant"]),
    ("meet", &["met"]),
    ("pay", &["paid"]),
    ("person", &["people", "persons"]),
    ("run", &["ran"]),
    ("say", &["said"]),
    ("see", &["saw", "seen"]),
    ("sell", &["sold"]),
    ("send", &["sent"]),
    ("show", &["shown"]),
    ("sleep", &["slept"]),
    ("speak", &["spoke", "spoken"]),
    ("spend", &["spent"]),
    ("stand", &["stood"]),
    ("steal", &["stole", "stolen"]),
    ("stick", &["stuck"]),
    ("swim", &["swam", "swum"]),
    ("take", &["took", "taken"]),
    ("teach", &["taught"]),
    ("tell", &["told"]),
    ("think", &["thought"]),
    ("throw", &["threw", "thrown"]),
    ("understand", &["understood"]),
    ("win", &["won"]),
    ("woman", &["women"]),
    ("write", &["wrote", "written"]),
    ("zero", &["zeros", "zeroes"]),
];

/// The stem of a word in lower case. Words of other scripts and with signs in them stay as they are.
pub(crate) fn of(word: &str) -> String {
    if !word.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return word.to_owned();
    }
    let regular = IRREGULAR.iter().find(|(_, forms)| forms.contains(&word)).map_or(word, |(base, _)| base);
    let bare = without_ending(&with_z(regular));
    without_final_e(&bare).to_owned()
}

/// "organise" becomes "organize". Words that only look like it ("raise") get a z too, but in all their forms, so these still match.
fn with_z(word: &str) -> String {
    for ending in ["ise", "ises", "ised", "ising", "isation", "isations"] {
        if let Some(rest) = word.strip_suffix(ending)
            && rest.len() > 2
        {
            return format!("{rest}{}", ending.replacen('s', "z", 1));
        }
    }
    word.to_owned()
}

fn without_ending(word: &str) -> String {
    if word.len() < 4 {
        return word.to_owned();
    }
    if let Some(rest) = word.strip_suffix("ies").or_else(|| word.strip_suffix("ied"))
        && rest.len() > 1
    {
        return format!("{rest}y");
    }
    if let Some(rest) = word.strip_suffix("ing") {
        return without_inflection(rest, word);
    }
    if let Some(rest) = word.strip_suffix("ed")
        && !rest.ends_with('e')
    {
        return without_inflection(rest, word);
    }
    for ending in ["sses", "xes", "ches", "shes"] {
        if word.ends_with(ending)
            && let Some(rest) = word.strip_suffix("es")
        {
            return rest.to_owned();
        }
    }
    if let Some(rest) = word.strip_suffix("ly")
        && rest.len() > 3
    {
        return rest.to_owned();
    }
    if let Some(rest) = word.strip_suffix('s')
        && !rest.ends_with(['s', 'u', 'i'])
        && word != "news"
    {
        return rest.to_owned();
    }
    word.to_owned()
}

/// The base form, from what stands before "ing" or "ed": "runn" becomes "run", "cod" becomes "code".
fn without_inflection(rest: &str, word: &str) -> String {
    if !rest.contains(is_vowel) && !rest.contains('y') || rest.len() < 2 {
        return word.to_owned();
    }
    let mut last = rest.chars().rev();
    let (end, before) = (last.next(), last.next());
    let doubled = end == before && !matches!(end, Some('l' | 's' | 'z' | 'f' | 'e' | 'o'));
    if doubled && rest.len() > 3 {
        return rest.strip_suffix(|_: char| true).unwrap_or(rest).to_owned();
    }
    if is_short(rest) { format!("{rest}e") } else { rest.to_owned() }
}

/// Whether a word ends in one vowel and one consonant, with at most two consonants before. Without a final "e" it is often another word
/// (plan, plane).
fn is_short(rest: &str) -> bool {
    let mut last = rest.chars().rev();
    last.next().is_some_and(|c| !is_vowel(c) && !matches!(c, 'w' | 'x' | 'y'))
        && last.next().is_some_and(is_vowel)
        && rest.len() <= 4
        && last.all(|c| !is_vowel(c))
}

/// Cuts a final "e": "creating" has none, so "create" must lose it too.
fn without_final_e(word: &str) -> &str {
    let word = if word.len() > 5 {
        word.strip_suffix('l').filter(|rest| rest.ends_with('l')).unwrap_or(word)
    } else {
        word
    };
    match word.strip_suffix('e') {
        Some(rest) if rest.len() > 3 && !is_short(rest) => rest,
        _ => word,
    }
}

fn is_vowel(c: char) -> bool {
    matches!(c, 'a' | 'e' | 'i' | 'o' | 'u')
}

#[cfg(test)]
mod tests {
    use super::of;

    #[test]
    fn inflections_have_one_stem() {
        for forms in [
            &["fail", "fails", "failed", "failing"][..],
            &["report", "reports", "reported", "reporting"],
            &["create", "creates", "created", "creating"],
            &["run", "runs", "ran", "running"],
            &["use", "uses", "used", "using"],
            &["code", "codes", "coded", "coding"],
            &["plan", "plans", "planned", "planning"],
            &["retry", "retries", "retried", "retrying"],
            &["process", "processes", "processed", "processing"],
            &["cancel", "cancels", "cancelled", "canceled", "cancelling"],
            &["install", "installs", "installed", "installing"],
            &["write", "writes", "wrote", "written", "writing"],
            &["fix", "fixes", "fixed", "fixing"],
            &["organisation", "organizations"],
            &["quick", "quickly"],
            &["see", "sees", "seen", "seeing"],
        ] {
            let stems: Vec<String> = forms.iter().map(|form| of(form)).collect();
            assert!(stems.windows(2).all(|pair| pair[0] == pair[1]), "{forms:?}: {stems:?}");
        }
    }

    #[test]
    fn other_words_have_other_stems() {
        for (a, b) in [
            ("test", "tester"),
            ("use", "user"),
            ("plan", "plane"),
            ("not", "note"),
            ("string", "strong"),
            ("new", "news"),
            ("red", "read"),
            ("king", "kin"),
            ("bus", "bug"),
            ("house", "horse"),
            ("stare", "star"),
            ("code", "cod"),
            ("bed", "bing"),
            ("add", "ad"),
        ] {
            assert_ne!(of(a), of(b), "{a} {b}");
        }
    }
}
