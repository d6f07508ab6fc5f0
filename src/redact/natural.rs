//! How much a text looks as if somebody had thought of it.
//!
//! Names, words and paths follow the habits of languages and programmers; keys follow none. A
//! table says how surprising each character is after the one before it, and a text's mean
//! surprise tells one from the other: of random letters and digits, 99 % lie above the limits
//! here, of half a million names and words in source code 99 % below.

/// The characters that the table knows apart; a digit counts as `0`, all others as `+`.
const SIGNS: &[u8; 58] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0_-./+";

/// Surprise of the column's character after the row's, one hex digit each, in 0.8 bits. Counted
/// over the identifiers, file names and words of Python's library and Rust crates.
const TABLE: &[&[u8; SIGNS.len()]; SIGNS.len()] = &[
    b"c656d96d6e9454e5f45389998affdffffffffeffffffdfffffffd7b9bf",
    b"49793a9c56d49949c7594beb6dceccefffeffceefefdcdfffeffb697bf",
    b"5c7a4ad47f549b37d5746bde7fcfdddeffdfeedffdfedeffffffd6a7bf",
    b"49a6297c4ac8aa68d7697bbb9fabaaabddbfecbcbbebaadccffec376cf",
    b"6a65878daeb464b89444b8969fbcabbccebfecbccafbaadcdfffe586bf",
    b"5b9865ad3fc6aa4af6776dce8fdfeeeeffeffedffffdedffefffb692df",
    b"7b5c2b875fd7867be5586ccfa4bdacbcbecdeccddbfbabfdefffe5867f",
    b"3aa93bcd4fc97b3ac6857cbf9cbcabbcbfcfebbdcbbcaaeddfffd586bf",
    b"6656676fcda56347c744d7f8f7ffffffeffffffffffffffffffff9bacf",
    b"4b982bdd6e889a38db3a6bafffffffeffffffeefffffffffffffd796cf",
    b"6a98289c5fd8878ada586b88abacabbbde9fdbbccbfb8becdbffd466af",
    b"5aa634ad3fc5cb47fb6669df7ebebcdcefdffdddecfcbcfeffffe697cf",
    b"36a83cce5fc66a54ca696ccdadcecdddffdffedeecfcbcfdfeffe5879f",
    b"5b54464c6d89a769eb4377c9aebdbbbcdeceecccdbfbabedefffe577bf",
    b"8765b88d8b855376f466487abdffeefeffeffeefffffcefffffff7a9cf",
    b"4b874bb66fb5a846e4756bcd4ecfdddcefcffdddedfccdfdffffe697df",
    b"99898aaebff5b9abc7691abffebdcdddfffffdefededfffeffffc5b6bf",
    b"4b67396d4f79774af65578bd7fcdbccceecfedcddbfcbcedefffe596cf",
    b"7c6b3aa65e98aa66ab536bae7fcdcccbefcffddddcfcccfdffffe4959f",
    b"4c7a3ad54fe99b59f5678c9a6cababaacdaeecbccafa9adcdfffe486bf",
    b"7675588f6fe45495f454cdf9feffffffffffffffffffffffffffbacbef",
    b"3b9b2a9d3ffb8a78fb9adedbcfdfefefefefffffdfffdfffffff96b7bf",
    b"4ba84ab64fb8a54ad459cc7dafbdabbccebfebcebbfcabdcefffe486cf",
    b"7b6a59eb6fea7ca4db93bbdb9d8a9a87efcffbceecfcbdfeefff65759f",
    b"79588b9c9fe75693fa54dc9dcb9b9a9aacadeaaba9e99acadffed3659f",
    b"4ca71ad95fca9a4cdcaa9fdd78afeedfffffffeffbfdfefffffec698af",
    b"fa68faaedff788f8f7788ccdff9756986e7ea565d6d55468869da5aaff",
    b"4fde7dff7ff7fe6ff7ff5fff7f597768ad57c58b68f6656ace8d96b9df",
    b"6fff9ef7aff6cd3cf6bb9fffcf597858957e667a57b77599cc9fa5bbdf",
    b"6cef3ffe5efffc7df9bf9fffaf6786479b5cc88a78d77789bcaf94a9ef",
    b"dedbfcefdff9a6eda6bdb8f6ff6956777b9ea675988455a7968fa4aaff",
    b"6feb9fff5ff6db5ef7cf6fffff587765ad5fd4aa68c7578dbdaf84abff",
    b"6ece3ffeaff8fd9ef4cc8efffd899a4b975fa78789d5588bcccfb3c7ff",
    b"5fdc5fff7fffef6fffc88fef9f4c8848cb5f998a59e5857c6e78b498ff",
    b"dfe7fbcffffe84bafe97cfffff8865856ebfd66346d765c8b8f7e7ecdf",
    b"5caf8fdf8fdffd2bfc4e6fcfbf7bbb4abf6f8b9b67fc4a7bddffb5c8ff",
    b"8fde4ffa6ffc99afeadfab9fef8877288a5fe87898b867899cccb3a9ff",
    b"6efe6fff4ffeff6fffceceffff4997499c4d969a57e97679cf9c85aaef",
    b"4fee5ecf7ffcdd5cfebe7fffaf3887499a5fa88955c9678cdccfd5a9ff",
    b"6fff7efdcfffff5fffdf8fffff5a65555a7e84b859d66478dcadc4baff",
    b"f8bff8ffffecd7f6f7bb8abfff8746a78c9c956475f465686bdfe5bcff",
    b"4eff7ffa8ff8ff5ff5bb8bff8f5a7958a76f978b56e47588cd9fb4caef",
    b"cfffeeffbefc9fbeffdd2cefdf79997a7d9fc47899a88a2adfdcc4b8df",
    b"7ffe4fffaffffc7fffee7fffff5b77378f5f987757c76589aa7fd4baef",
    b"8f7f5ff87fcab988ced47dce8f7a6a4a975f878a67a8647aac6cc4b9cf",
    b"6fef6ff87ffdff7ff7ffafdf6d5b7948c65fb77967f4767bb86dc39aef",
    b"fefcffffcffdd5f6f969efffff8786678f6fe564a5f554aef9ff88dbff",
    b"4ece5eff5ffece77ffbccffdff4a6936b85fd76887c988fdd8ff95dbff",
    b"5fff6ff64ffefd5ff5dfefefef4a7869b85ab78668b648bdbbefc5aaff",
    b"bebaa9ffbffdaf9efcc7eedefe6966579a7fd6798688749bd88da287df",
    b"9fff8fffaffffdaffeffbfffff8b8a99bfaff875a3f827ce8f8ac288ef",
    b"7bbc5bca7ffbcb3eec9c9cdfde6d892bac7fd98a6cbc8bdf7b99b6a7cf",
    b"999999eedefedefcfdbcedfbff888787deefedceecfdccfeffff55749f",
    b"565666786a966676b655778bcb7978989a8eb97897c878a9acfdb7fcff",
    b"6656677869966775a646777acaab9babcbbedbbccada9accbefb8e9fff",
    b"5846674759977774c65687899dbcabbccdaedcbbcbfbabadefff85f8ff",
    b"6656777859a55785b5568876bb6889aaaaaba989a9c989abbdde89caaf",
    b"7867669988889786b958a885b9986798aa8dbdabb9dd99a9badd8995d5",
];

/// Only so many characters of a long text are looked at.
const ENOUGH: usize = 256;

/// The mean surprise of a text's characters, on a scale where words have 4 to 6 and random
/// letters and digits 9 to 12.
#[expect(clippy::cast_precision_loss, reason = "at most 256 small numbers are added")]
pub(super) fn surprise(text: &str) -> f32 {
    let bytes = &text.as_bytes()[..text.len().min(ENOUGH)];
    let sum: u32 = bytes.windows(2).map(|two| pair(two[0], two[1])).sum();
    let steps = bytes.len().saturating_sub(1).max(1);
    sum as f32 / steps as f32
}

/// Whether a text is more likely drawn at random than thought of. Texts under six characters
/// never are: too little can be seen.
pub(super) fn looks_random(text: &str) -> bool {
    let limit = match text.len() {
        0..=5 => return false,
        6..=8 => 8.6,
        9..=11 => 8.2,
        12..=15 => 7.8,
        16..=19 => 7.5,
        _ => 7.2,
    };
    surprise(text) > limit
}

/// How surprising the second of two bytes is, 0 to 15.
pub(super) fn pair(before: u8, after: u8) -> u32 {
    let digit = TABLE[place(before)][place(after)];
    char::from(digit).to_digit(16).unwrap_or_default()
}

fn place(byte: u8) -> usize {
    match byte {
        b'a'..=b'z' => usize::from(byte - b'a'),
        b'A'..=b'Z' => usize::from(byte - b'A') + 26,
        b'0'..=b'9' => 52,
        _ => SIGNS.iter().position(|s| *s == byte).unwrap_or(SIGNS.len() - 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_words_are_not_random() {
        for name in [
            "get_user_name",
            "password",
            "tokenizer.ggml.bos_token",
            "HTTPServerError",
            "existingSecret",
            "db-credentials",
            "authorization",
            "node_modules/react-dom",
            "ModelBackend",
            "prompt_tokens",
            "expired",
            "camelCaseIdentifier",
            "feature/login",
        ] {
            assert!(!looks_random(name), "{name}: {}", surprise(name));
        }
    }

    #[test]
    fn drawn_texts_are_random() {
        for drawn in ["qLggaacrhq32ohADlp7UTgC7S03y", "x9K2pQ7vLm3T", "wJ8rXk2ZbQ9d"] {
            assert!(looks_random(drawn), "{drawn}: {}", surprise(drawn));
        }
    }
}
