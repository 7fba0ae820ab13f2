// Notes, checkpoints and paths of tiles (C2SP), compared with the examples of their documents.
import { describe, expect, test } from 'bun:test'
import { openCheckpoint, parseCheckpoint, signCheckpoint } from '../../src/modules/transparency/tree/checkpoint.ts'
import {
  encodeNote,
  encodeVerifierKey,
  NoteInvalidError,
  openNote,
  parseNote,
  parseVerifierKey,
  verifierKeyOf,
} from '../../src/modules/transparency/tree/note.ts'
import { parseTilePath, tilePath } from '../../src/modules/transparency/tree/tiles.ts'
import { createEd25519Signer } from '../../src/signing/ed25519.ts'
import { words } from '../support/words.ts'

/** https://c2sp.org/signed-note, "Example". */
const EXAMPLE_KEY = 'example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k'
const EXAMPLE_NOTE = `This is an example message.

— example.com/foo Uw2QOkn8srV1yJGh2VYRlL1Tnagv1YEq6TfXppzi2ONncAlTgK7Ztg1ERYNZXsYjOBH3mFXmRKuwHjG1Yu72IneyaQM=
`
/** https://c2sp.org/tlog-checkpoint, without the signature, because the document does not contain its key. */
const EXAMPLE_CHECKPOINT = `example.com/behind-the-sofa
20852163
CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=
`
const signer = createEd25519Signer(Buffer.alloc(32, 7))
const key = verifierKeyOf('log.example/1', 'ed25519', signer.publicKey)
const HEAD = { size: 3, root: Buffer.alloc(32, 9) }

describe('notes', () => {
  test('the example in the specification is verified with its key, and is encoded identically', () => {
    const example = parseVerifierKey(EXAMPLE_KEY)
    expect(encodeVerifierKey(example)).toBe(EXAMPLE_KEY)
    expect(openNote(EXAMPLE_NOTE, example)).toBe('This is an example message.\n')
    expect(encodeNote(parseNote(EXAMPLE_NOTE))).toBe(EXAMPLE_NOTE)
    const [text = '', signature = ''] = EXAMPLE_NOTE.split('\n\n')
    const signed = (times: number): string => `${text}\n\n${signature.repeat(times)}`
    expect(parseNote(signed(100)).signatures).toHaveLength(100)
    for (const times of [0, 101]) expect(() => parseNote(signed(times))).toThrow(NoteInvalidError)
  })

  test('a changed text, another key, another name and a missing signature are refused', () => {
    const example = parseVerifierKey(EXAMPLE_KEY)
    const open = (from: string, to: string) => () => openNote(EXAMPLE_NOTE.replace(from, to), example)
    expect(open('example message', 'exemple message')).toThrow('does not match')
    expect(() => openNote(EXAMPLE_NOTE, key)).toThrow('not signed by log.example/1')
    expect(open('— example.com/foo', '— example.com/bar')).toThrow('not signed by example.com/foo')
    expect(open(EXAMPLE_NOTE, 'a text\n\n')).toThrow(NoteInvalidError)
    expect(open(EXAMPLE_NOTE, EXAMPLE_NOTE.trimEnd())).toThrow(NoteInvalidError)
    expect(open('aQM=', 'aQN=')).toThrow(NoteInvalidError)
    expect(() => encodeNote({ text: 'tab\there\n', signatures: [] })).toThrow(NoteInvalidError)
  })

  test.each([
    EXAMPLE_KEY.replace('example.com/foo', 'example.com/fog'),
    EXAMPLE_KEY.replace('530d903a', '530d903b'),
    EXAMPLE_KEY.replace('+Aek', '+Aik'),
    'a b+00000000+AAAA',
    '',
  ])('the key %j is refused', (text) => {
    expect(() => parseVerifierKey(text)).toThrow(NoteInvalidError)
  })

  test('a name with a space is refused', () => {
    expect(() => verifierKeyOf('with space', 'ed25519', signer.publicKey)).toThrow(NoteInvalidError)
  })
})

describe('checkpoints', () => {
  test('the example in the specification is parsed', () => {
    const { origin, size, root } = parseCheckpoint(EXAMPLE_CHECKPOINT)
    expect({ origin, size }).toEqual({ origin: 'example.com/behind-the-sofa', size: 20_852_163 })
    expect(root).toHaveLength(32)
  })

  test('a signed checkpoint is deterministic, and opens only with the key of its log', () => {
    const signed = signCheckpoint(HEAD, { key, sign: signer.sign })
    expect(openCheckpoint(signed, key)).toEqual({ origin: key.name, size: 3, root: HEAD.root })
    expect(signCheckpoint(HEAD, { key, sign: signer.sign })).toBe(signed)
    const larger = signed.replace('\n3\n', '\n4\n')
    expect(() => openCheckpoint(larger, key)).toThrow('does not match')
    const other = verifierKeyOf('log.example/2', 'ed25519', signer.publicKey)
    expect(() => openCheckpoint(signed, other)).toThrow('not signed by log.example/2')
  })

  test('a size with leading zeros, a short root and a missing line are refused', () => {
    for (const text of ['o\n03\nAA==\n', `o\n-1\n${HEAD.root.toString('base64')}\n`, 'o\n3\nAA==\n', 'o\n3\n', '']) {
      expect(() => parseCheckpoint(text)).toThrow(NoteInvalidError)
    }
  })
})

test('paths of tiles are encoded and parsed', () => {
  const cases = [
    ['tile/0/000', 0, 0, 256],
    ['tile/0/x001/x234/067', 0, 1_234_067, 256],
    ['tile/3/x999/x000/x001/001.p/255', 3, 999_000_001_001, 255],
    ['tile/1/017.p/1', 1, 17, 1],
  ] as const
  for (const [path, level, number, width] of cases) {
    expect(tilePath({ level, number }, width)).toBe(path)
    expect(parseTilePath(path)).toEqual({ level, number, width })
  }
  for (const path of words`
    tile/0/0 tile/00/000 tile/0/x000/001 tile/64/000 tile/0/000.p/256 tile/0/000.p/0 tile/0/001/002
  `) {
    expect(parseTilePath(path)).toBeNull()
  }
})
