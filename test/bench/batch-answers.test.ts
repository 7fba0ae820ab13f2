// The inspection of batch responses, and the numbers of the batch benchmark.
import { expect, test } from 'bun:test'
import { generateKeyPairSync, sign } from 'node:crypto'
import bs58 from 'bs58'
import { createAnswerInspector } from '../../bench/load/answers.ts'
import type { LoadReport } from '../../bench/load/plan.ts'
import { type AttestationBody, makeBody, prepareRequests } from '../../bench/load/requests.ts'
import type { ResponseView } from '../../bench/load/response-parser.ts'
import { verifyAnswer } from '../../bench/load/verify-answer.ts'
import { solanaMessage } from '../../bench/load/verify-solana.ts'
import { batchNumbers } from '../../bench/parts/batch.ts'

const { publicKey, privateKey } = generateKeyPairSync('ed25519')
const attester = bs58.encode(publicKey.export({ format: 'der', type: 'spki' }).subarray(-32))
const program = bs58.encode(new Uint8Array(32).fill(7))
const plan = { seed: 's', wallets: 6, chain: 'solana', target: { to: program }, batch: 3 }
const bodies = Array.from({ length: plan.wallets }, (_, index) => makeBody(plan, index))

const answerTo = (body: AttestationBody, compliant = true): object => {
  const attested = { uuid: crypto.randomUUID(), policy: 'x-1', expiration: 1_800_000_000 }
  const signature = `0x${sign(null, solanaMessage(body, attested), privateKey).toString('hex')}`
  const { uuid, expiration } = attested
  return { verification_hash: 'x-1', is_compliant: compliant, attestation: { uuid, expiration, attester, signature } }
}

const responseOf = (answers: readonly object[]): ResponseView => {
  const elements = answers.map((answer, index) => ({ index, status: 200, answer }))
  const bytes = Buffer.from(`head${JSON.stringify({ answers: elements })}`)
  return { status: 200, bytes, bodyStart: 4, bodyEnd: bytes.length, closing: false }
}

const inspector = () =>
  createAnswerInspector({ kind: 'attestation', attester, sampleEvery: 1, batch: plan.batch }, bodies)

test('each call contains its share of the requests', () => {
  const { bytes } = prepareRequests(new URL('http://127.0.0.1:1/v2/attestations'), {}, plan)
  const wallets = bytes.map((request) => {
    const text = Buffer.from(request).toString()
    const { requests } = JSON.parse(text.slice(text.indexOf('\r\n\r\n'))) as { requests: { from: string }[] }
    return requests.map(({ from }) => from)
  })
  expect(wallets).toEqual([bodies.slice(0, 3).map(({ from }) => from), bodies.slice(3).map(({ from }) => from)])
  expect(() => prepareRequests(new URL('http://h/'), {}, { ...plan, wallets: 7 })).toThrow(RangeError)
})

test('valid responses are counted and verified', async () => {
  const inspect = inspector()
  inspect.inspect(0, responseOf(bodies.slice(0, 3).map((body) => answerTo(body))))
  inspect.inspect(1, responseOf(bodies.slice(3).map((body) => answerTo(body))))
  expect(await inspect.finish()).toEqual({ seen: 6, verified: 6, problems: [] })
})

test('denials, responses in the wrong order and repeated uuids are found', async () => {
  const denied = inspector()
  denied.inspect(0, responseOf(bodies.slice(0, 3).map((body, index) => answerTo(body, index > 0))))
  expect((await denied.finish()).problems[0]).toStartWith('2 of 3 attestations')
  const swapped = inspector()
  swapped.inspect(0, responseOf([1, 0, 2].map((index) => answerTo(bodies[index]!))))
  expect((await swapped.finish()).verified).toBe(1)
  const twice = inspector()
  const answer = answerTo(bodies[0]!)
  twice.inspect(0, responseOf([answer, answer, answerTo(bodies[2]!)]))
  expect((await twice.finish()).problems[0]).toBe('a call of 3 brought 2 different uuids')
})

test('a Solana signature for a different request or by a different attester is found', async () => {
  const text = JSON.stringify(answerTo(bodies[0]!))
  expect(await verifyAnswer(bodies[0]!, text, attester)).toBeNull()
  expect(await verifyAnswer(bodies[0]!, text, null)).toBeNull()
  expect(await verifyAnswer(bodies[1]!, text, attester)).toBe('the signature does not verify')
  expect(await verifyAnswer(bodies[0]!, text, program)).toBe('signed by another attester')
})

test('throughput and CPU are per attestation, and latency is per call', () => {
  const latencyMs = { count: 10, p50: 20, p90: 1, p99: 40, p99_9: 3, max: 4, mean: 0.6, histogram: '' }
  const serverCpu = { total: 500_000, yielding: null, mainThread: null }
  const report = { completed: 50, throughputPerSecond: 50, serverCpu, latencyMs }
  const numbers = batchNumbers(report as unknown as LoadReport, 100).map(([name, , unit, value]) => [name, unit, value])
  expect(numbers).toEqual([
    ['throughput', '/s', 5_000],
    ['cpu', 'µs', 100],
    ['p50', 'ms', 20],
    ['p99', 'ms', 40],
  ])
})
