// Removes secrets from all output (invariant 5; threats row 21). Scans by hand, because a regular expression that hits
// a limit would let a secret through.

/** Fields whose values are never printed, in lowercase without `_` and `-`; also matched as suffixes. */
const SECRET_NAMES = [
  'apikey',
  'authorization',
  'cookie',
  'password',
  'passphrase',
  'secret',
  'token',
  'privatekey',
  'secretkey',
  'seed',
  'mnemonic',
  'keystore',
]

export const REDACTED = '[redacted]'

export const isSecretName = (name: string): boolean => {
  const plain = name.toLowerCase().replaceAll('_', '').replaceAll('-', '')
  return SECRET_NAMES.some((secret) => plain.endsWith(secret) || plain.endsWith(`${secret}s`))
}

const isWordCharacter = (character: number): boolean =>
  (character >= 48 && character <= 57) ||
  (character >= 65 && character <= 90) ||
  (character >= 97 && character <= 122) ||
  character === 95

const API_KEY_MARKS = ['_live_', '_test_']
const KIND_LETTERS = 'aim'

/** Finds complete, truncated and embedded keys: `csa_`, `csi_` or `csm_`, then `live_` or `test_`. */
const hasApiKey = (word: string): boolean =>
  API_KEY_MARKS.some((mark) => {
    for (let at = word.indexOf(mark); at !== -1; at = word.indexOf(mark, at + 1)) {
      if (at >= 3 && word.startsWith('cs', at - 3) && KIND_LETTERS.includes(word[at - 1] ?? '?')) return true
    }
    return false
  })

const isHex = (word: string, start: number): boolean => {
  for (let i = start; i < word.length; i++) {
    const character = word.charCodeAt(i) | 32
    if (!((character >= 48 && character <= 57) || (character >= 97 && character <= 102))) return false
  }
  return true
}

/**
 * Returns whether the word is 32 or 64 bytes in hex: secp256k1 key, Ed25519 seed or key pair. Digests match too;
 * truncate a digest to log it.
 */
const isHexKey = (word: string): boolean => {
  const start = word.startsWith('0x') || word.startsWith('0X') ? 2 : 0
  const digits = word.length - start
  return (digits === 64 || digits === 128) && isHex(word, start)
}

/** Returns whether the word may be a Solana key pair: 64 bytes in base58, which excludes 0, O, I, l and _. */
const isBase58KeyPair = (word: string): boolean => {
  if (word.length < 86 || word.length > 88) return false
  for (const character of word) if ('0OIl_'.includes(character)) return false
  return true
}

const isSecretWord = (word: string): boolean => hasApiKey(word) || isHexKey(word) || isBase58KeyPair(word)

/** Length of `csa_live_`, the shortest part of a secret. */
const SECRET_LENGTH_MIN = 9

/** Replaces words that look like keys, and the whole of a text with a PEM private key. */
export const redactText = (text: string): string => {
  if (text.includes('PRIVATE KEY')) return REDACTED
  let result = ''
  let kept = 0
  for (let start = 0; start < text.length; ) {
    let end = start
    while (end < text.length && isWordCharacter(text.charCodeAt(end))) end++
    if (end - start >= SECRET_LENGTH_MIN && isSecretWord(text.slice(start, end))) {
      result += text.slice(kept, start) + REDACTED
      kept = end
    }
    start = end + 1
  }
  return kept === 0 ? text : result + text.slice(kept)
}
