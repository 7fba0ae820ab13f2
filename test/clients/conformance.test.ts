// Conformance of the TypeScript, Python and Go clients: each runs all scenarios against one service, through a proxy that
// causes the faults of a scenario.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createPublicKey, verify } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import bs58 from 'bs58'
import { recoverAddress } from 'viem'
import { version } from '../../package.json'
import { BUILT_IN_CHAINS } from '../../src/domain/chain.ts'
import { succeed } from '../service/calls.ts'
import { type RunningService, startService } from '../service/start-service.ts'
import { newFolder } from '../support/folder.ts'
import evmVectors from '../vectors/evm-v2.json'
import solanaVectors from '../vectors/solana.json'
import { type Driver, LANGUAGES, type Outcome, startDriver } from './driver.ts'
import { type FaultyProxy, startFaultyProxy } from './faulty-proxy.ts'
import { SCENARIOS, type Step } from './scenarios.ts'

interface Answer {
  readonly attestation: { readonly attester: string; readonly signature: `0x${string}` }
}

const TEST_LIMIT_MS = 120_000
/** Enough for the first Go build on a busy machine. */
const START_LIMIT_MS = 400_000
const SPKI_HEADER = Buffer.from('302a300506032b6570032100', 'hex')

/** A key of a scenario, or a UUID of version 7. */
const KEY = /-of-|^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}(\/\d+)?$/

let folder: string
let service: RunningService
let proxy: FaultyProxy
beforeAll(async () => {
  folder = newFolder()
  service = await startService({ environment: { COUNTERSIGN_WORKERS: '1' } })
  proxy = await startFaultyProxy(service.url)
}, START_LIMIT_MS)
afterAll(async () => {
  await proxy.stop()
  await service.stop()
})

/** Replaces `$NAME` and `$name.path` with their values. */
const fill = (value: unknown, known: ReadonlyMap<string, unknown>): unknown => {
  if (Array.isArray(value)) return value.map((item) => fill(item, known))
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, fill(item, known)]))
  }
  if (typeof value !== 'string' || !value.includes('$') || value.startsWith('~')) return value
  const find = (reference: string): unknown => {
    const [name = '', ...path] = reference.split('.')
    if (!known.has(name)) throw new Error(`unknown value $${name}`)
    return path.reduce((found, step) => (found as Record<string, unknown>)[step], known.get(name))
  }
  const whole = /^\$([\w.]+)$/.exec(value)
  if (whole !== null) return find(whole[1] ?? '')
  return value.replace(/\$([A-Z_]+)/g, (_, name: string) => String(find(name)))
}

/** Replaces each `~pattern` with a matcher. */
const withMatchers = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(withMatchers)
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, withMatchers(item)]))
  }
  if (typeof value === 'string' && value.startsWith('~')) return expect.stringMatching(new RegExp(value.slice(1)))
  return value
}

/** Reports whether the attester signed these bytes, with libraries that the clients do not use. */
const isSigned = async (kind: 'evm' | 'solana', bytes: `0x${string}`, { attestation }: Answer): Promise<boolean> => {
  const { attester, signature } = attestation
  if (kind === 'evm') return (await recoverAddress({ hash: bytes, signature })) === attester
  const spki = Buffer.concat([SPKI_HEADER, bs58.decode(attester)])
  const key = createPublicKey({ key: spki, format: 'der', type: 'spki' })
  return verify(null, Buffer.from(bytes.slice(2), 'hex'), key, Buffer.from(signature.slice(2), 'hex'))
}

const checkAttempts = ({ attempts, resumes }: Step): void => {
  const made = proxy.attempts()
  if (attempts !== undefined) {
    expect(made.length).toBe(attempts)
    // Each connection of a stream has a new request id, but the same keys.
    const ids = new Set(made.map(({ requestId }) => requestId))
    if (resumes === undefined && made.every(({ keys }) => !keys[0]?.endsWith('/0'))) {
      expect(ids.size).toBe(Math.min(attempts, 1))
    }
    expect(new Set(made.map(({ keys }) => keys.join(' '))).size).toBe(Math.min(attempts, 1))
  }
  if (resumes) expect(made.at(-1)?.lastEventId).toMatch(/./)
  for (const key of made.flatMap(({ keys }) => keys)) expect(key).toMatch(KEY)
}

const runStep = async (driver: Driver, step: Step, known: Map<string, unknown>): Promise<void> => {
  proxy.expect(step.faults ?? [])
  const statuses: string[] = []
  const call = fill(step.call, known) as { session_id?: string; answer?: Answer }
  const outcome = await driver.run(call, async ({ status }) => {
    statuses.push(status)
    const decision = step.decide?.[status]
    if (decision === undefined) return
    const flags = decision === 'completed' ? ['--override'] : []
    await succeed(service, 'session', 'decide', call.session_id ?? '', decision, '--note', 'A test.', ...flags)
  })
  // Cloned, because toMatchObject writes the matchers into the compared value.
  const wanted = fill(step.error === undefined ? { result: step.result } : { error: step.error }, known)
  if (step.signedAs !== undefined) {
    const { bytes, verified = true } = resultOf<{ bytes: `0x${string}`; verified?: boolean }>(outcome)
    expect([await isSigned(step.signedAs, bytes, call.answer!), verified]).toEqual([true, true])
  } else expect(structuredClone(outcome)).toMatchObject(withMatchers(wanted) as object)
  if (step.statuses !== undefined) expect(statuses).toEqual([...step.statuses])
  checkAttempts(step)
  if (step.save !== undefined) known.set(step.save, resultOf(outcome))
}

const resultOf = <Result>(outcome: Outcome): Result => {
  if ('error' in outcome) throw new Error(JSON.stringify(outcome))
  return outcome.result as Result
}

test('the Python package has the version of the service', () => {
  const project = readFileSync(join(import.meta.dir, '..', '..', 'clients', 'python', 'pyproject.toml'), 'utf8')
  expect(project).toContain(`\nversion = "${version}"\n`)
})

for (const [index, { name, missing, command }] of LANGUAGES.entries()) {
  describe(`the ${name} client`, () => {
    const testHere = test.skipIf(missing !== null)
    const why = missing === null ? '' : ` in ${name} (${missing} here)`
    let driver: Driver
    beforeAll(async () => {
      if (missing === null) driver = startDriver(await command(folder))
    }, START_LIMIT_MS)
    afterAll(() => driver?.stop())

    const settings = (): Map<string, unknown> =>
      new Map(
        Object.entries({
          ...service.quickstart,
          LANGUAGE: name,
          WALLET: '0x1111111111111111111111111111111111111111',
          DENIED_WALLET: '0x000000000000000000000000000000000000dEaD',
          SOLANA_WALLET: 'GjXtvmWihnf22Bg48srpzYrs6iGhSUvu1tzsf9L4u9Ck',
          // A wallet per language, because registering a wallet again returns its session.
          OWN_WALLET: `0x22222222222222222222222222222222222222${index + 10}`,
        }),
      )

    for (const scenario of SCENARIOS) {
      testHere(scenario.name + why, TEST_LIMIT_MS, async () => {
        const known = settings()
        const options = {
          attestation_url: proxy.url,
          attestation_api_key: '$ATTESTATION_API_KEY',
          identity_url: proxy.url,
          identity_api_key: '$IDENTITY_API_KEY',
          retry: { tries: 6, base_delay_ms: 1, max_delay_ms: 20 },
          ...scenario.options,
        }
        expect(await driver.run(fill({ call: 'open', options }, known))).toEqual({ result: null })
        for (const step of scenario.steps) await runStep(driver, step, known)
      })
    }

    testHere(`has the chain ids of the service${why}`, async () => {
      for (const chain of BUILT_IN_CHAINS.filter(({ family }) => family === 'evm')) {
        const { from, to, data, msg_value, policy, uuid, expiration } = evmVectors.vectors[0]!
        const answer = { verification_hash: policy, attestation: { uuid, expiration, attester: '', signature: '' } }
        const call = { call: 'evm_digest', request: { chain: chain.name, from, to, data, msg_value }, answer }
        const byName = await driver.run(call)
        expect(byName).toEqual(await driver.run({ ...call, chain_id: 'chainId' in chain ? chain.chainId : 0 }))
        expect(byName).toHaveProperty('result')
      }
    })

    testHere(`verifies the requested project even if the response names another project${why}`, async () => {
      const bytesOf = async (call: 'evm_digest' | 'solana_message', requested: string, answered: string) => {
        const evm = call === 'evm_digest'
        const { from, uuid, expiration } = evm ? evmVectors.vectors[0]! : solanaVectors.vectors[0]!
        const request = { chain: evm ? 'base' : 'solana', from, verification_hash: requested }
        const attestation = { uuid, expiration, attester: solanaVectors.attester, signature: '' }
        const { result } = (await driver.run({
          call,
          request,
          answer: { verification_hash: answered, attestation },
        })) as unknown as { readonly result: { readonly bytes: string } }
        return result.bytes
      }
      const [mine, other] = [`x-${'1'.repeat(32)}`, `x-${'2'.repeat(32)}`]
      for (const call of ['evm_digest', 'solana_message'] as const) {
        expect(await bytesOf(call, mine, other)).toBe(await bytesOf(call, mine, mine))
        expect(await bytesOf(call, mine, other)).not.toBe(await bytesOf(call, other, other))
      }
    })

    testHere(`computes the published digests${why}`, async () => {
      for (const vector of evmVectors.vectors) {
        const { chain, chain_id, from, to, data, msg_value, policy, uuid, expiration, digest } = vector
        const answer = { verification_hash: policy, attestation: { uuid, expiration, attester: '', signature: '' } }
        const request = { chain, from, to, data, msg_value }
        expect(await driver.run({ call: 'evm_digest', request, answer, chain_id })).toEqual({
          result: { bytes: digest },
        })
      }
      const { attester } = solanaVectors
      for (const { from, to, data, msg_value, policy, uuid, expiration, message, signature } of solanaVectors.vectors) {
        const answer = { verification_hash: policy, attestation: { uuid, expiration, attester, signature } }
        const request = { chain: 'solana', from, to, data, msg_value }
        const outcome = await driver.run({ call: 'solana_message', request, answer })
        expect(outcome).toMatchObject({ result: { bytes: message } })
        if (name === 'Go') {
          expect(outcome).toMatchObject({ result: { verified: true } })
          const other = { ...request, msg_value: '1' }
          expect(await driver.run({ call: 'solana_message', request: other, answer })).toMatchObject({
            result: { verified: msg_value === '1' },
          })
        }
      }
    })
  })
}
