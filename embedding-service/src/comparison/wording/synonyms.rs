//! Words that stand for one another in requests. A group holds what can be exchanged without asking for something else: no
//! opposites, no names, no things of which there are several sorts. When in doubt a word is left out: a rewording that is
//! missed costs less than a healthy batch that is hinted.

use std::{collections::HashMap, sync::LazyLock};

use super::stem;

/// One group a line.
const GROUPS: &str = "\
use usage employ utilise apply leverage serve
get obtain fetch retrieve acquire receive access load download
give pass provide supply furnish offer return yield show display present demonstrate illustrate tell list enumerate
create make generate produce build construct
inform notify alert
explain describe clarify outline
find search look locate discover
specify indicate define designate set configure
change modify alter adjust amend modification alteration adjustment
convert transform cast
fix repair resolve solve correct
remove delete erase
add append
start begin initiate launch commence
stop halt terminate
finish complete conclude
run execute perform
check verify inspect examine review
save store persist
allow enable permit
require need demand
contain include hold comprise consist feature
fail break crash
happen occur arise
error failure
issue problem trouble
cause reason
combine merge join unite integrate incorporate amalgamate
split divide separate
select choose pick
determine ascertain deduce infer
compute calculate
estimate approximate
improve enhance
increase raise
reduce decrease lower
avoid prevent
help assist aid
answer reply respond response
ask inquire enquire
buy purchase
cheap inexpensive
expensive costly
big large huge
small little tiny
fast quick rapid swift speedy
simple straightforward easy
hard difficult
important essential key crucial
whole entire
total overall aggregate
appropriate suitable applicable
extra additional further
purpose goal aim objective
way method technique approach
advantage benefit
part section portion
option choice
configuration settings
detail information info
amount quantity number
summary overview synopsis
summarise recap
brief short concise
parameter argument
instruction direction guidance
specific particular certain
ideal perfect
upload submit
gather collect
kind sort type
example instance
assume presuppose suppose
support accommodate
capability ability
accurate precise exact
common usual standard normal
basic elementary rudimentary
knowledge understanding
debug troubleshoot diagnose
rewrite rephrase reword
depend base
shut close
consider view regard
think believe
wish desire
manage handle
work function operate
keep retain
mean signify
compose write draft
organise arrange
associate link relate
extract unpack decompress
explore investigate
override supersede
traverse iterate navigate
situation case scenario
position location place
unique distinct distinctive
assess evaluate
recommend suggest advise";

/// The key of a stem: the same for all stems of one group. A stem that is in no group is its own key.
pub(super) fn key_of(stem: &str) -> String {
    static KEYS: LazyLock<HashMap<String, String>> = LazyLock::new(|| {
        GROUPS
            .lines()
            .flat_map(|group| {
                let mut stems = group.split_ascii_whitespace().map(stem::of);
                let key = stems.next().unwrap_or_default();
                std::iter::once(key.clone()).chain(stems).map(move |stem| (stem, key.clone()))
            })
            .collect()
    });
    KEYS.get(stem).cloned().unwrap_or_else(|| stem.to_owned())
}
