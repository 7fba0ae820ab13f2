// Refuses long passwords that are easy to guess: what remains without common words, names, runs, repetitions and digits
// must have a minimum length. Source: NIST SP 800-63B, section 3.1.1.2.
import { FieldInvalidError } from '../../domain/errors.ts'
import { isBreachedPassword } from './breached-passwords.ts'

const COMMON = `password passwort passwd passcode administrator admin root user login signin welcome willkommen letmein
  iloveyou lovely love dragon monkey football baseball basketball superman batman spiderman pokemon starwars sunshine
  princess master shadow secret changeme change trustno hello hallo test testing default temporary temp summer sommer
  winter spring autumn herbst monday tuesday wednesday thursday friday saturday sunday january february march april june
  july august september october november december company computer internet google facebook server security secure
  michael jordan charlie jennifer jessica thomas daniel andrew whatever freedom flower cookie killer soccer hockey access
  guest please open sesame service system manager office production staging development demo attester attestation policy
  identity wallet bitcoin ethereum solana crypto abcd abc key nobody knows good great best super strong safe long very
  this that with your`
  .split(/\s+/)
  .sort((left, right) => right.length - left.length)

const PRODUCT = ['countersign', 'counter', 'sign']

/** Rows and columns of keyboards, the alphabet and digits; matched forward and backward. */
const RUNS = [
  'qwertyuiop',
  'qwertzuiop',
  'azertyuiop',
  'asdfghjkl',
  'zxcvbnm',
  'yxcvbnm',
  'abcdefghijklmnopqrstuvwxyz',
  '1234567890',
  '0123456789',
  '1q2w3e4r5t6y7u8i9o0p',
  'qazwsxedcrfvtgbyhnujm',
  '1qaz2wsx3edc4rfv5tgb6yhn',
  'zaq12wsx',
].flatMap((run) => [run, [...run].reverse().join('')])
const RUN_MIN = 3

const REMAINING_MIN = 5
const WORD_MIN = 3

const LETTERS_FOR: Readonly<Record<string, string>> = { 0: 'o', 1: 'i', 3: 'e', 4: 'a', 5: 's', 7: 't', 8: 'b' }
const SYMBOLS_FOR: Readonly<Record<string, string>> = { '@': 'a', $: 's', '!': 'i', '€': 'e', '|': 'l' }

const spelled = (text: string, letters: Readonly<Record<string, string>>): string =>
  [...text].map((character) => letters[character] ?? character).join('')

const plain = (text: string): string =>
  text
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/[^a-z0-9@$!€|]/g, '')

const wordsOf = (texts: readonly string[]): string[] =>
  texts
    .flatMap((text) => [text, ...text.split(/[^\p{L}\p{N}]+/u)])
    .map(plain)
    .filter((word) => word.length >= WORD_MIN)
    .sort((left, right) => right.length - left.length)

const runLength = (text: string): number => {
  let longest = 0
  for (const run of RUNS) {
    for (let length = Math.min(run.length, text.length); length > Math.max(longest, RUN_MIN - 1); length--) {
      if (run.includes(text.slice(0, length))) longest = length
    }
  }
  return longest
}

/** Number of remaining characters. Repeated pairs count once. */
const remaining = (text: string, words: readonly string[]): number => {
  const seen: string[] = []
  let count = 0
  let pending = ''
  for (let at = 0; at < text.length; ) {
    const rest = text.slice(at)
    const word = words.find((candidate) => rest.startsWith(candidate))
    const length = word?.length ?? runLength(rest)
    if (length > 0) {
      at += length
      pending = ''
      continue
    }
    pending += rest.charAt(0)
    at += 1
    const isNew = pending.length < 2 || !seen.includes(pending.slice(-2))
    if (pending.length >= 2) seen.push(pending.slice(-2))
    if (isNew && /[^0-9]/.test(rest.charAt(0))) count += 1
  }
  return count
}

/** @param about texts that attackers may know @throws FieldInvalidError for the field `password` */
export const refuseCommonPassword = (password: string, about: readonly string[]): void => {
  if (isBreachedPassword(password)) {
    throw new FieldInvalidError(
      'password',
      'must not appear in published password breaches: use four random words or a password manager',
    )
  }
  const words = [...wordsOf([...about, ...PRODUCT]), ...COMMON]
  const text = plain(password)
  // The word list is Latin only, so characters of other scripts always count.
  const others = [...password.normalize('NFKD')].filter((character) => /[^\p{ASCII}\p{M}]/u.test(character)).length
  const spellings = [
    spelled(text, {}),
    spelled(text, SYMBOLS_FOR),
    spelled(spelled(text, SYMBOLS_FOR), LETTERS_FOR),
    spelled(spelled(text, SYMBOLS_FOR), { ...LETTERS_FOR, 1: 'l' }),
  ]
  if (spellings.some((spelling) => remaining(spelling, words) + others < REMAINING_MIN)) {
    throw new FieldInvalidError(
      'password',
      'must be harder to guess, without common words, names, keyboard runs or repetitions: use four random words or a password manager',
    )
  }
}
