// The exact response bodies of the attestation API (spec, "Attestation response (v2)", "Task request and response (v1)").
import { afterEach, describe, expect, test } from 'bun:test'
import { answerOf } from '../../src/decision-log/answer.ts'
import { recoverDecisions } from '../../src/decision-log/recover.ts'
import type { DecisionRecord } from '../../src/decision-log/types.ts'
import { attestation, denial, removeTemporaryDirectories, task, temporaryDirectory, writeSegment } from './fixtures.ts'

afterEach(removeTemporaryDirectories)

describe('v2', () => {
  test('compliant: every field, without a reason', () => {
    const record = attestation(7)
    expect(answerOf(record)).toBe(
      `{"policy_id":"policy_4mBqk0WcJd2TnXfA","policy_name":"Demo policy",` +
        `"verification_hash":"x-0123456789abcdef0123456789abcdef","is_compliant":true,` +
        `"attestation":{"uuid":"${record.uuid}","expiration":1795169772,` +
        `"attester":"0xAbCdEf0123456789aBcDeF0123456789AbCdEf01","signature":"${record.signatures[0]}"}}`,
    )
  })

  test('denied by a rule without a reason: expiration 0, empty attester and signature, without a reason', () => {
    const record = denial(7)
    expect(answerOf(record)).toEndWith(
      `"is_compliant":false,"attestation":{"uuid":"${record.uuid}","expiration":0,"attester":"","signature":""}}`,
    )
  })

  test('denied with a code, a message or both: both fields are strings', () => {
    const reason = (changes: Partial<DecisionRecord>): unknown => JSON.parse(answerOf(denial(7, changes))).reason
    expect(reason({ code: 'A', message: 'b' })).toEqual({ code: 'A', message: 'b' })
    expect(reason({ code: 'A' })).toEqual({ code: 'A', message: '' })
    expect(reason({ message: 'b' })).toEqual({ code: '', message: 'b' })
  })
})

describe('v1', () => {
  test('compliant: exactly five keys', () => {
    const record = task(7, { attesters: ['0xa', '0xb'], signatures: ['0xc', '0xd'] })
    expect(answerOf(record)).toBe(
      `{"is_compliant":true,"signers":["0xa","0xb"],"signature":["0xc","0xd"],` +
        `"expiry_block":1795169772,"task_id":"${record.uuid}"}`,
    )
  })

  test('denied: empty lists, expiry 0, the task id, without a reason', () => {
    const record = denial(7, { kind: 'task', code: 'A', message: 'b' })
    expect(answerOf(record)).toBe(
      `{"is_compliant":false,"signers":[],"signature":[],"expiry_block":0,"task_id":"${record.uuid}"}`,
    )
  })
})

test('a response from a recovered record equals the original response, byte for byte', () => {
  const names = ['plain', 'a "b" \\ c', 'line\nfeed \u2028 \u0000', 'Größe 検査 🔏', '\ud800 half', '</script>']
  const records = names.flatMap((name, i) => [
    attestation(i * 3, { policy_name: name }),
    denial(i * 3 + 1, { policy_name: name, code: name, message: name }),
    task(i * 3 + 2, { policy_name: name }),
  ])
  const uuids = records.map(({ uuid }) => uuid)
  const recovered = recoverDecisions(writeSegment(temporaryDirectory(), records), uuids)
  for (const record of records) {
    expect(answerOf(recovered.get(record.uuid) as DecisionRecord)).toBe(answerOf(record))
  }
})
