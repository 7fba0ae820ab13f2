// Revisions of policies: identified by the hash of their text, and unusable if the text changes.
import { expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { diffPolicies } from '../../src/policy/document/diff.ts'
import { PolicyUnusableError } from '../../src/policy/evaluation-errors.ts'
import { PolicyInvalidError } from '../../src/policy/issues.ts'
import { compileRevision, contentHashOf, draftRevision } from '../../src/policy/revision.ts'
import { runPolicyTests } from '../../src/policy/tools/policy-tests.ts'
import type { CompiledPolicy } from '../../src/policy/types/program.ts'
import { facts } from './support.ts'

const SOURCE = 'name: Prüfung\ndefault: allow\nquorum: 2\nrules: [{id: a, deny: tx.value > 5}]\n'
const stored = { id: 'revision_a', policyId: 'policy_a', number: 1, source: SOURCE, contentHash: contentHashOf(SOURCE) }

test('the content hash is SHA-256 of the UTF-8 text', () => {
  expect(contentHashOf('')).toBe('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855')
  expect(contentHashOf(SOURCE)).toBe(createHash('sha256').update(Buffer.from(SOURCE)).digest('hex'))
})

test('a draft has the unchanged text, its hash and the compiled policy', () => {
  const { source, contentHash, compiled } = draftRevision(SOURCE)
  expect([source, contentHash]).toEqual([SOURCE, contentHashOf(SOURCE)])
  expect(compiled.document.quorum).toBe(2)
  expect(compiled.requires).toEqual(['msg_value'])
})

test('a draft is refused if its text has mistakes', () => {
  expect(() => draftRevision('name: P\nrules: [{id: a, deny: nope}]')).toThrow(PolicyInvalidError)
})

const save = (text: string) => compileRevision({ id: 'revision_a', source: text, contentHash: contentHashOf(text) })
const denies = ({ evaluate }: CompiledPolicy) => !evaluate(facts({ value: '6' })).compliant

test('a stored revision can be evaluated and compared, even if its tests are invalid', async () => {
  const source = (chainId: string) =>
    `${SOURCE}tests: [{ request: { from: "0x${'1'.repeat(40)}", chain: mine, chain_id: ${chainId} }, verdict: allow }]\n`
  const [first, second] = [await save(source('9007199254740993')), await save(source('0xffffffffffffffffff'))]
  expect(denies(first)).toBe(true)
  expect(runPolicyTests(first)).toEqual([{ name: 'test 1', failure: null }])
  expect(diffPolicies(first, second)).toEqual([{ kind: 'test-changed', test: 'test 1' }])
  expect((await save(`${SOURCE}tests: [{ verdict: maybe }]`)).document.tests).toEqual([])
  expect(() => draftRevision(source('9007199254740993'))).toThrow(PolicyInvalidError)
})

test('a stored revision with invisible characters can be evaluated, but not saved again', async () => {
  const source = `${SOURCE}# \u202e\n`
  expect(denies(await save(source))).toBe(true)
  expect(() => draftRevision(source)).toThrow(PolicyInvalidError)
})

test('an invisible character is refused at any position, except one byte order mark at the start', () => {
  expect(denies(draftRevision(`\ufeff${SOURCE}`).compiled)).toBe(true)
  for (const hidden of ['\u202e', '\ufeff']) {
    const from = hidden === '\ufeff' ? 1 : 0
    for (let at = from; at <= SOURCE.length; at++) {
      expect(() => draftRevision(`${SOURCE.slice(0, at)}${hidden}${SOURCE.slice(at)}`)).toThrow(PolicyInvalidError)
    }
    expect(() => draftRevision(`\ufeff${hidden}${SOURCE}`)).toThrow(PolicyInvalidError)
  }
})

const broken = 'name: P\nrules: [{id: a, deny: nope}]'
test.each([
  ['was altered', { ...stored, source: SOURCE.replace('5', '6') }],
  ['has an uppercase hash', { ...stored, contentHash: stored.contentHash.toUpperCase() }],
  ['does not compile', { ...stored, source: broken, contentHash: contentHashOf(broken) }],
])('a stored revision that %s is unusable', async (_name, revision) => {
  const error = await compileRevision(revision).catch((reason: unknown) => reason)
  expect(error).toBeInstanceOf(PolicyUnusableError)
  expect((error as PolicyUnusableError).retryAfterSeconds).toBeGreaterThan(0)
})
