// A revision is named by the hash of its text and decides only while the text is the one that was saved.
import { expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { diffPolicies } from '../../src/policy/document/diff.ts'
import { PolicyUnusableError } from '../../src/policy/evaluation-errors.ts'
import { PolicyInvalidError } from '../../src/policy/issues.ts'
import { compileRevision, contentHashOf, draftRevision } from '../../src/policy/revision.ts'
import { runPolicyTests } from '../../src/policy/tools/policy-tests.ts'
import { facts } from './support.ts'

const SOURCE = 'name: Prüfung\ndefault: allow\nquorum: 2\nrules: [{id: a, deny: tx.value > 5}]\n'
const stored = { id: 'revision_a', policyId: 'policy_a', number: 1, source: SOURCE, contentHash: contentHashOf(SOURCE) }

test('the content hash is SHA-256 of the UTF-8 text', () => {
  expect(contentHashOf('')).toBe('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855')
  expect(contentHashOf(SOURCE)).toBe(createHash('sha256').update(Buffer.from(SOURCE)).digest('hex'))
})

test('a draft holds the text as it is, its hash and the compiled policy', () => {
  const { source, contentHash, compiled } = draftRevision(SOURCE)
  expect([source, contentHash]).toEqual([SOURCE, contentHashOf(SOURCE)])
  expect(compiled.document.quorum).toBe(2)
  expect(compiled.requires).toEqual(['msg_value'])
})

test('a text with mistakes makes no draft', () => {
  expect(() => draftRevision('name: P\nrules: [{id: a, deny: nope}]')).toThrow(PolicyInvalidError)
})

test('a stored revision evaluates', async () => {
  expect((await compileRevision(stored)).evaluate(facts({ value: '6' })).compliant).toBe(false)
})

test('a stored revision keeps working when its tests have become a mistake, and can still be compared', async () => {
  const source = (chainId: string) =>
    `${SOURCE}tests: [{ request: { from: "0x${'1'.repeat(40)}", chain: mine, chain_id: ${chainId} }, verdict: allow }]\n`
  const saved = (text: string) => compileRevision({ id: 'revision_a', source: text, contentHash: contentHashOf(text) })
  const [far, further] = [await saved(source('9007199254740993')), await saved(source('0xffffffffffffffffff'))]
  expect(far.evaluate(facts({ value: '6' })).compliant).toBe(false)
  expect(runPolicyTests(far)).toEqual([{ name: 'test 1', failure: null }])
  expect(diffPolicies(far, further)).toEqual([{ kind: 'test-changed', test: 'test 1' }])
  expect((await saved(`${SOURCE}tests: [{ verdict: maybe }]`)).document.tests).toEqual([])
  expect(() => draftRevision(source('9007199254740993'))).toThrow(PolicyInvalidError)
})

test('a stored revision with characters that people can’t see keeps deciding, and is not saved again', async () => {
  const source = `${SOURCE}# \u202e\n`
  const saved = await compileRevision({ id: 'revision_a', source, contentHash: contentHashOf(source) })
  expect(saved.evaluate(facts({ value: '6' })).compliant).toBe(false)
  expect(() => draftRevision(source)).toThrow(PolicyInvalidError)
})

test('a character that people can’t see is refused at any place, but for one byte order mark before the text', () => {
  expect(draftRevision(`\ufeff${SOURCE}`).compiled.evaluate(facts({ value: '6' })).compliant).toBe(false)
  for (const hidden of ['\u202e', '\ufeff']) {
    const from = hidden === '\ufeff' ? 1 : 0
    for (let at = from; at <= SOURCE.length; at++) {
      expect(() => draftRevision(`${SOURCE.slice(0, at)}${hidden}${SOURCE.slice(at)}`)).toThrow(PolicyInvalidError)
    }
    expect(() => draftRevision(`\ufeff${hidden}${SOURCE}`)).toThrow(PolicyInvalidError)
  }
})

test('one that was altered, or does not compile, is unusable and never a verdict', async () => {
  const broken = 'name: P\nrules: [{id: a, deny: nope}]'
  for (const revision of [
    { ...stored, source: SOURCE.replace('5', '6') },
    { ...stored, contentHash: stored.contentHash.toUpperCase() },
    { ...stored, source: broken, contentHash: contentHashOf(broken) },
  ]) {
    const error = await compileRevision(revision).catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(PolicyUnusableError)
    expect((error as PolicyUnusableError).retryAfterSeconds).toBeGreaterThan(0)
  }
})
