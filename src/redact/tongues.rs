//! Words that announce a secret in languages other than English, and in other scripts.
//!
//! Words that are written in plain letters and may be part of an identifier (`DB_SENHA`) are in
//! `name`; here are those that no identifier holds: several words, or letters beyond ASCII.

use super::name::Claim;

/// A word in lower case, and what it says of what follows it.
pub(super) const WORDS: &[(&str, Claim)] = &[
    ("contraseña", Claim::Password),
    ("la clave", Claim::Password),
    ("mi clave", Claim::Password),
    ("tu clave", Claim::Password),
    ("contrasenya", Claim::Password),
    ("palabra de paso", Claim::Password),
    ("mot de passe", Claim::Password),
    ("mots de passe", Claim::Password),
    ("phrase secrète", Claim::Password),
    ("palavra-passe", Claim::Password),
    ("palavra passe", Claim::Password),
    ("parola d'ordine", Claim::Password),
    ("parola chiave", Claim::Password),
    ("hasło", Claim::Password),
    ("heslá", Claim::Password),
    ("lösenord", Claim::Password),
    ("lösenordet", Claim::Password),
    ("lykilorð", Claim::Password),
    ("jelszó", Claim::Password),
    ("jelszavam", Claim::Password),
    ("jelszava", Claim::Password),
    ("parolă", Claim::Password),
    ("şifre", Claim::Password),
    ("şifrem", Claim::Password),
    ("şifresi", Claim::Password),
    ("wlan-schlüssel", Claim::Password),
    ("wifi-schlüssel", Claim::Password),
    ("netzwerkschlüssel", Claim::Password),
    ("slaptažodis", Claim::Password),
    ("parool on", Claim::Password),
    ("nenosiri", Claim::Password),
    ("code wifi", Claim::Password),
    ("salasõna", Claim::Password),
    ("kata sandi", Claim::Password),
    ("kata laluan", Claim::Password),
    ("mật khẩu", Claim::Password),
    ("비번", Claim::Password),
    ("p/w", Claim::Password),
    ("pass word", Claim::Password),
    ("пароль", Claim::Password),
    ("пасс", Claim::Password),
    ("пассворд", Claim::Password),
    ("пасворд", Claim::Password),
    ("🔑", Claim::Token),
    ("пароля", Claim::Password),
    ("паролем", Claim::Password),
    ("парола", Claim::Password),
    ("паролата", Claim::Password),
    ("лозинка", Claim::Password),
    ("құпиясөз", Claim::Password),
    ("κωδικός", Claim::Password),
    ("κωδικος", Claim::Password),
    ("συνθηματικό", Claim::Password),
    ("סיסמה", Claim::Password),
    ("סיסמא", Claim::Password),
    ("كلمة المرور", Claim::Password),
    ("كلمة مرور", Claim::Password),
    ("كلمة سر", Claim::Password),
    ("كلمة السر", Claim::Password),
    ("رمز عبور", Claim::Password),
    ("گذرواژه", Claim::Password),
    ("पासवर्ड", Claim::Password),
    ("পাসওয়ার্ড", Claim::Password),
    ("கடவுச்சொல்", Claim::Password),
    ("รหัสผ่าน", Claim::Password),
    ("密码", Claim::Password),
    ("密碼", Claim::Password),
    ("口令", Claim::Password),
    ("パスワード", Claim::Password),
    ("暗証番号", Claim::Password),
    ("パスフレーズ", Claim::Password),
    ("비밀번호", Claim::Password),
    ("암호", Claim::Password),
    ("패스워드", Claim::Password),
    ("clave de api", Claim::Secret),
    ("clave secreta", Claim::Secret),
    ("clave de acceso", Claim::Secret),
    ("token de acceso", Claim::Secret),
    ("chave de api", Claim::Secret),
    ("chave secreta", Claim::Secret),
    ("chave de acesso", Claim::Secret),
    ("chiave api", Claim::Secret),
    ("chiave segreta", Claim::Secret),
    ("clé api", Claim::Secret),
    ("clé d'api", Claim::Secret),
    ("clé secrète", Claim::Secret),
    ("clé d'accès", Claim::Secret),
    ("clé privée", Claim::Secret),
    ("jeton d'accès", Claim::Secret),
    ("jeton", Claim::Token),
    ("api-schlüssel", Claim::Secret),
    ("zugangsschlüssel", Claim::Secret),
    ("geheimschlüssel", Claim::Secret),
    ("zugriffsschlüssel", Claim::Secret),
    ("api-sleutel", Claim::Secret),
    ("api-nyckel", Claim::Secret),
    ("klucz api", Claim::Secret),
    ("klíč api", Claim::Secret),
    ("api anahtarı", Claim::Secret),
    ("ключ api", Claim::Secret),
    ("api-ключ", Claim::Secret),
    ("api ключ", Claim::Secret),
    ("секретный ключ", Claim::Secret),
    ("ключ доступа", Claim::Secret),
    ("токен", Claim::Token),
    ("密钥", Claim::Secret),
    ("密鑰", Claim::Secret),
    ("金鑰", Claim::Secret),
    ("私钥", Claim::Secret),
    ("令牌", Claim::Token),
    ("权杖", Claim::Token),
    ("apiキー", Claim::Secret),
    ("シークレットキー", Claim::Secret),
    ("シークレット", Claim::Token),
    ("アクセスキー", Claim::Secret),
    ("秘密鍵", Claim::Secret),
    ("トークン", Claim::Token),
    ("api 키", Claim::Secret),
    ("비밀 키", Claim::Secret),
    ("비밀키", Claim::Secret),
    ("토큰", Claim::Token),
];

/// What a name that ends in one of the words claims.
pub(super) fn claim(name: &str) -> Option<Claim> {
    let lower = name.trim().to_lowercase();
    let known = WORDS.iter().find(|(word, _)| lower.ends_with(word));
    known.map(|(_, claim)| *claim)
}

/// A word as it is written at the beginning of a sentence, inside one, and in capitals. Case in
/// plain letters is the search's own affair.
pub(super) fn spellings(word: &str) -> Vec<String> {
    let mut chars = word.chars();
    let first: String = chars.next().into_iter().flat_map(char::to_uppercase).collect();
    let mut all = vec![word.to_owned(), first + chars.as_str(), word.to_uppercase()];
    all.dedup();
    all
}

/// Whether the word ends here: in scripts that put no blanks between words every place will do.
pub(super) fn is_end(text: &str, at: usize) -> bool {
    let next = text[at..].chars().next();
    next.is_none_or(|c| !c.is_alphanumeric() || is_unspaced(c))
}

/// A character of Chinese, Japanese or Korean, or of Thai.
pub(super) fn is_unspaced(c: char) -> bool {
    matches!(c, '\u{0E00}'..='\u{0E7F}' | '\u{1100}'..='\u{11FF}' | '\u{3000}'..='\u{D7FF}' | '\u{FF00}'..='\u{FFEF}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_spelled_in_the_cases_that_sentences_have() {
        assert_eq!(spellings("пароль"), ["пароль", "Пароль", "ПАРОЛЬ"]);
        assert_eq!(spellings("密码"), ["密码"]);
    }

    #[test]
    fn a_longer_word_is_another_word() {
        assert!(!is_end("парольный", "пароль".len()));
        assert!(is_end("пароль: x", "пароль".len()) && is_end("密码是", "密码".len()));
    }
}
