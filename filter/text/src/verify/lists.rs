//! The small words of English by what they do to an answer. Words of content have no list here, but for those that say the same
//! (`equivalents.rs`).

use std::{collections::HashMap, sync::LazyLock};

/// What can go without changing what is asked for.
const DROPPED: &str = "a an the this that these those it its itself there here am is are was were be been being do does did doing has have had \
    having i me you we one ones someone somebody anybody anyone can could would will shall please kindly really actually \
    basically current currently now also some any and such possible which what";

/// What turns a statement into its opposite.
const NEGATIONS: &str = "not no never none nobody nothing neither nor without hardly barely scarcely nowhere lack lacking lacks \
    avoid avoiding avoids prevent preventing prevents prevention except excluding excludes exclude unless cannot";

/// How much of a thing is meant.
const QUANTITIES: &str = "all every each both either only most least many few fewer several half double twice whole entire \
    more less another other others else both everyone everybody everything anything something enough too always sometimes often \
    rarely usually ever almost nearly mostly mainly partly another";

/// What ranks things or sets one against the other.
const COMPARISONS: &str = "more less most least better best worse worst than same different versus vs compared similar unlike like \
    rather instead equal greater greatest lesser larger largest smaller smallest higher highest lower lowest bigger biggest";

/// When it is meant.
const TIMES: &str = "yesterday today tomorrow tonight before after during since until till ago last next previous previously former \
    formerly first second third final finally recent recently latest newest oldest earlier earliest later still yet already again once \
    soon past future upcoming following annually yearly monthly weekly daily hourly ever anymore";

/// How the answer is to be written.
const FORMATS: &str = "json xml yaml csv html markdown latex table list bullet bullets point points sentence sentences paragraph \
    paragraphs word words line lines page pages short shortly brief briefly long detail details detailed depth concise concisely \
    simple example examples step steps stepwise diagram chart code poem essay email story song tweet letter formal informal \
    outline summary tone style rhyme haiku numbered plain text";

/// Languages, as far as an answer may be asked for in one.
const LANGUAGES: &str = "english french german spanish italian portuguese dutch chinese mandarin cantonese japanese korean russian arabic \
    hindi bengali urdu turkish polish greek latin hebrew swedish norwegian danish finnish czech hungarian romanian ukrainian \
    vietnamese thai indonesian persian swahili";

/// Prepositions that say where something goes, comes from, or stands to another: none stands for another.
const STRICT_RELATIONS: &str = "to from into onto before after since until till by over under above below inside outside with without \
    against than between among through during via per versus vs towards toward off out up down across behind beyond within around \
    past like unlike instead despite because if unless while whether although or but except along near using as";

/// Prepositions that often stand for one another.
const LOOSE_RELATIONS: &str = "of in on at for about regarding concerning";

/// Question words inside a text, beside the one that asks.
const QUESTION_WORDS: &str = "how why who whom whose when where";

/// What is said of oneself, of the other, of third persons.
const OWNERS: [(&str, char); 14] = [
    ("my", '1'),
    ("mine", '1'),
    ("our", '1'),
    ("ours", '1'),
    ("your", '2'),
    ("yours", '2'),
    ("he", 'm'),
    ("him", 'm'),
    ("his", 'm'),
    ("she", 'f'),
    ("her", 'f'),
    ("hers", 'f'),
    ("they", 't'),
    ("their", 't'),
];

/// Each word of the lists with the lists that it stands in: they are asked for every word of every text.
fn lists_of(word: &str) -> u16 {
    static LISTS: LazyLock<HashMap<&'static str, u16>> = LazyLock::new(|| {
        let lists = [
            DROPPED,
            NEGATIONS,
            QUANTITIES,
            COMPARISONS,
            TIMES,
            FORMATS,
            LANGUAGES,
            STRICT_RELATIONS,
            LOOSE_RELATIONS,
            QUESTION_WORDS,
        ];
        let mut found = HashMap::new();
        for (list, bit) in lists.into_iter().zip(0_u32..) {
            for word in list.split_ascii_whitespace() {
                *found.entry(word).or_default() |= 1_u16.wrapping_shl(bit);
            }
        }
        found
    });
    LISTS.get(word).copied().unwrap_or_default()
}

pub(super) fn is_dropped(word: &str) -> bool {
    lists_of(word) & 1 != 0
}

pub(super) fn is_negation(word: &str) -> bool {
    lists_of(word) & 2 != 0
}

pub(super) fn is_quantity(word: &str) -> bool {
    lists_of(word) & 4 != 0
}

pub(super) fn is_comparison(word: &str) -> bool {
    lists_of(word) & 8 != 0 || word.len() > 5 && (word.ends_with("est") || word.ends_with("ier"))
}

pub(super) fn is_time(word: &str) -> bool {
    lists_of(word) & 16 != 0
}

pub(super) fn is_format(word: &str) -> bool {
    lists_of(word) & 32 != 0
}

pub(super) fn is_language(word: &str) -> bool {
    lists_of(word) & 64 != 0
}

pub(super) fn is_strict_relation(word: &str) -> bool {
    lists_of(word) & 128 != 0
}

pub(super) fn is_loose_relation(word: &str) -> bool {
    lists_of(word) & 256 != 0
}

pub(super) fn is_question_word(word: &str) -> bool {
    lists_of(word) & 512 != 0
}

pub(super) fn person_of(word: &str) -> Option<char> {
    OWNERS.iter().find(|(owner, _)| *owner == word).map(|(_, person)| *person)
}

/// Verbs of necessity and of leave, by what they say.
pub(super) fn modal_of(word: &str) -> Option<&'static str> {
    Some(match word {
        "should" | "ought" => "should",
        "must" => "must",
        "may" => "may",
        "might" => "might",
        _ => return None,
    })
}

/// Whether one relation may stand where another stands, between the same words.
pub(super) fn can_replace(a: &str, b: &str) -> bool {
    const LIKE: [(&str, &str); 16] = [
        ("using", "with"),
        ("using", "in"),
        ("using", "via"),
        ("with", "via"),
        ("of", "in"),
        ("of", "for"),
        ("of", "on"),
        ("in", "on"),
        ("in", "at"),
        ("on", "at"),
        ("about", "on"),
        ("about", "regarding"),
        ("about", "concerning"),
        ("about", "of"),
        ("in", "within"),
        ("to", ""),
    ];
    a == b
        || LIKE.contains(&(a, b))
        || LIKE.contains(&(b, a))
        || a.is_empty() && is_loose_relation(b)
        || b.is_empty() && is_loose_relation(a)
}
