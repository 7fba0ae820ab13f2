// The inspection of attestation responses, so that a broken server does not look fast.
import { describe, expect, test } from 'bun:test'
import { serializeSignature } from 'viem'
import { privateKeyToAddress, sign } from 'viem/accounts'
import { createAnswerInspector } from '../../bench/load/answers.ts'
import { makeBody } from '../../bench/load/requests.ts'
import type { ResponseView } from '../../bench/load/response-parser.ts'
import { statementDigest } from '../../bench/load/verify-answer.ts'
import { benchKey } from '../../bench/servers/bench-key.ts'

const privateKey = `0x${Buffer.from(benchKey('answers test')).toString('hex')}` as const
const attester = privateKeyToAddress(privateKey)
const body = makeBody(
  { seed: 'test', wallets: 1, chain: 'base', target: { to: '0x4daf89a45564390fba803dc9509ea6732d0b6c42' } },
  0,
)
const POLICY = 'x-abc123def456'
const EXPIRATION = 1_700_000_000

const answerText = async (uuid: string, changes: Record<string, unknown> = {}): Promise<string> => {
  const hash = statementDigest(body, { uuid, policy: POLICY, expiration: EXPIRATION })
  const signature = serializeSignature(await sign({ hash, privateKey }))
  return JSON.stringify({
    policy_id: 'policy_0',
    policy_name: 'Test',
    verification_hash: POLICY,
    is_compliant: true,
    attestation: { uuid, expiration: EXPIRATION, attester, signature },
    ...changes,
  })
}

const view = (text: string, status = 200): ResponseView => {
  const bytes = Buffer.from(`head ${text} tail`)
  return { status, bytes, bodyStart: 5, bodyEnd: bytes.length - 5, closing: false }
}

const findings = async (texts: readonly string[], expected: string | null = attester) => {
  const inspector = createAnswerInspector({ kind: 'attestation', attester: expected, sampleEvery: 1 }, [body])
  for (const text of texts) inspector.inspect(0, view(text))
  return await inspector.finish()
}

const UUIDS = [
  '658ffaa7-2fe7-402d-8ddb-52e9a310e686',
  'b61c7ca1-f03e-474e-9a49-20df0c460535',
  '0a1b2c3d-0000-4000-8000-00000000abcd',
]

describe('the inspection', () => {
  test('verifies each sample and reports no problems for valid responses', async () => {
    const texts = await Promise.all(UUIDS.map((uuid) => answerText(uuid)))
    expect(await findings(texts)).toEqual({ seen: 3, verified: 3, problems: [] })
    expect((await findings(texts, null)).problems).toEqual([])
  })

  test('finds a repeated uuid', async () => {
    const [first = '', second = ''] = UUIDS
    const texts = await Promise.all([first, second, first].map((uuid) => answerText(uuid)))
    expect((await findings(texts)).problems).toEqual(['1 answers carried a uuid seen before'])
  })

  test('finds a denial of the same length', async () => {
    const good = await answerText(UUIDS[0]!)
    const denied = good.replace('true', 'null')
    expect((await findings([good, denied])).problems[0]).toStartWith('not compliant')
  })

  test('finds a signature for a different statement', async () => {
    const wrong = await answerText(UUIDS[0]!, { verification_hash: 'x-other' })
    const { verified, problems } = await findings([wrong])
    expect(verified).toBe(0)
    expect(problems[0]).toContain('signature recovers to')
  })

  test('finds an unexpected attester', async () => {
    const { problems } = await findings([await answerText(UUIDS[0]!)], body.from)
    expect(problems).toEqual(['signed by another attester'])
  })

  test('finds missing attestations', async () => {
    expect((await findings(['{"ok":true}', 'hello'])).problems.length).toBeGreaterThan(1)
  })

  test('keeps only a few problems and counts the rest', async () => {
    const { problems } = await findings(Array.from({ length: 40 }, () => '[]'))
    expect(problems).toHaveLength(6)
    expect(problems.at(-1)).toMatch(/^and \d+ more$/)
  })

  test('ignores errors, which are counted by status', async () => {
    const inspector = createAnswerInspector({ kind: 'attestation', attester, sampleEvery: 1 }, [body])
    inspector.inspect(0, view('{"status":503}', 503))
    expect(await inspector.finish()).toEqual({ seen: 0, verified: 0, problems: [] })
  })
})
