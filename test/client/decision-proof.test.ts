// Proofs of decisions, checked with only the log's key: valid proofs and every kind of invalid proof.
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { checkDecisionProof, ProofInvalidError } from '../../src/client/decision-proof.ts'
import { ArgumentInvalidError } from '../../src/client/errors.ts'
import { encodeRecord, hashLine } from '../../src/decision-log/record.ts'
import { signCheckpoint } from '../../src/modules/transparency/tree/checkpoint.ts'
import { leafHashOf, saltsOf } from '../../src/modules/transparency/tree/hash.ts'
import { encodeVerifierKey, verifierKeyOf } from '../../src/modules/transparency/tree/note.ts'
import { proveInclusion } from '../../src/modules/transparency/tree/prove.ts'
import { encodeProof } from '../../src/modules/transparency/verify/prove-line.ts'
import { createEd25519Signer } from '../../src/signing/ed25519.ts'
import { attestation } from '../decision-log/fixtures.ts'
import { createGrownTree } from '../transparency/grown-tree.ts'

const SIZE = 700
const SALT_KEY = Buffer.alloc(32, 8)
const { publicKey, sign } = createEd25519Signer(Buffer.alloc(32, 9))
const key = verifierKeyOf('countersign/test', 'ed25519', publicKey)
const LOG_KEY = encodeVerifierKey(key)

const lines = Array.from({ length: SIZE }, (_, index) => encodeRecord(attestation(index), '0'.repeat(64)))
const hashes = lines.map((line) => Buffer.from(hashLine(line), 'hex'))
const tree = createGrownTree()
tree.append(hashes.map((hash) => leafHashOf(hash, SALT_KEY)))
const checkpoint = signCheckpoint({ size: SIZE, root: tree.root() }, { key, sign })

const proofOf = async (index: number): Promise<string> =>
  encodeProof({
    extra: Buffer.concat([saltsOf(hashes[index] as Buffer, SALT_KEY), Buffer.from(lines[index] as string)]),
    index,
    path: await proveInclusion(tree.readTiles, index, SIZE),
    checkpoint,
  })

test('a proof of any line of a log is valid', async () => {
  for (const index of [0, 1, 255, 256, 511, 512, SIZE - 1]) {
    const proven = checkDecisionProof(await proofOf(index), `${LOG_KEY}\n`)
    expect(proven).toMatchObject({ index, size: SIZE, line: lines[index], checkpoint })
    expect(proven.decision).toMatchObject({ uuid: attestation(index).uuid, compliant: true })
  }
})

test('a proof is invalid if any character is changed', async () => {
  const proof = await proofOf(300)
  fc.assert(
    fc.property(fc.nat(proof.length - 1), fc.constantFrom('A', '1', 'z', '\n', '='), (at, character) => {
      fc.pre(proof[at] !== character)
      const changed = proof.slice(0, at) + character + proof.slice(at + 1)
      try {
        checkDecisionProof(changed, LOG_KEY)
        return false
      } catch (error) {
        return error instanceof ProofInvalidError
      }
    }),
    { numRuns: 1_000 },
  )
})

test('a proof is invalid with another line, index or size, or with a missing part', async () => {
  const proof = await proofOf(300)
  const other = await proofOf(301)
  const extraOf = (text: string): string => /^extra .*$/m.exec(text)?.[0] ?? ''
  for (const changed of [
    proof.replace(extraOf(proof), extraOf(other)),
    proof.replace('index 300', 'index 301'),
    proof.replace('\n700\n', '\n701\n'),
    proof.replace(/(index 300\n)[^\n]+\n/, '$1'),
    proof.replace(/\n\u2014.*\n$/, '\n'),
    proof.replace(/^.*\n/, ''),
    '',
  ]) {
    expect(() => checkDecisionProof(changed, LOG_KEY)).toThrow(ProofInvalidError)
  }
})

test('a proof is valid only for its own index, and for no index beyond the size of the log', async () => {
  for (const own of [0, 300, SIZE - 1]) {
    const proof = await proofOf(own)
    const holds = (index: number): boolean => {
      try {
        checkDecisionProof(proof.replace(`index ${own}\n`, `index ${index}\n`), LOG_KEY)
        return true
      } catch {
        return false
      }
    }
    const tried = [...Array.from({ length: 2 * SIZE }, (_, index) => index), 2 ** 20 + own, Number.MAX_SAFE_INTEGER]
    expect(tried.filter(holds)).toEqual([own])
  }
  // A log of one line has an empty path, from which any index would lead to the root.
  const small = createGrownTree()
  small.append([leafHashOf(hashes[0] as Buffer, SALT_KEY)])
  const head = signCheckpoint({ size: 1, root: small.root() }, { key, sign })
  const extra = Buffer.concat([saltsOf(hashes[0] as Buffer, SALT_KEY), Buffer.from(lines[0] as string)])
  const proofAt = (index: number): string => encodeProof({ extra, index, path: [], checkpoint: head })
  expect(checkDecisionProof(proofAt(0), LOG_KEY)).toMatchObject({ index: 0, size: 1 })
  for (const index of [1, 2, 7]) expect(() => checkDecisionProof(proofAt(index), LOG_KEY)).toThrow(ProofInvalidError)
})

test('a proof is invalid with the key of another log or another signer, and an invalid key is refused', async () => {
  const proof = await proofOf(3)
  const stranger = createEd25519Signer(Buffer.alloc(32, 10))
  const strangerKey = verifierKeyOf('countersign/test', 'ed25519', stranger.publicKey)
  expect(() => checkDecisionProof(proof, encodeVerifierKey(strangerKey))).toThrow('not signed by this log')
  const renamed = verifierKeyOf('countersign/other', 'ed25519', publicKey)
  expect(() => checkDecisionProof(proof, encodeVerifierKey(renamed))).toThrow('not signed by this log')
  for (const text of ['', 'a+b+c', LOG_KEY.slice(0, -2), LOG_KEY.replace('test', 'tost')]) {
    expect(() => checkDecisionProof(proof, text)).toThrow(ArgumentInvalidError)
  }
})

test.each(['no JSON', '"a text"', '[1]', 'null'])('the line %s of the log is not a decision', async (line) => {
  const hash = Buffer.from(hashLine(line), 'hex')
  const other = createGrownTree()
  other.append([leafHashOf(hash, SALT_KEY)])
  const proof = encodeProof({
    extra: Buffer.concat([saltsOf(hash, SALT_KEY), Buffer.from(line)]),
    index: 0,
    path: [],
    checkpoint: signCheckpoint({ size: 1, root: other.root() }, { key, sign }),
  })
  expect(() => checkDecisionProof(proof, LOG_KEY)).toThrow(
    new ProofInvalidError('the line is in the log but is not a decision'),
  )
})
