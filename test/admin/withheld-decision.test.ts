import { expect, test } from 'bun:test'
import type { DecisionRecord } from '../../src/decision-log/types.ts'
import { exportRows } from '../../workers/index/decision-export.ts'
import { withheld } from '../decision-log/fixtures.ts'
import { decisionRecord } from './support/decisions.ts'
import { harnessOfTest } from './support/harness.ts'

const harness = harnessOfTest()

test('a decision whose response was withheld after the deadline is shown and exported without its signature', async () => {
  const alpha = await harness.organization('alpha')
  const records = [1, 2].map((number) => decisionRecord(number, { organization: alpha.id }))
  harness.decide(...records, { ...withheld(1), uuid: records[0]?.uuid ?? '' })
  const { cookie } = await harness.member(alpha, 'viewer', 'viewer')
  const [hidden, shown] = await Promise.all(
    records.map(({ uuid }) => harness.call('GET', `/organizations/alpha/decisions/${uuid}`, { cookie })),
  )
  expect(hidden?.body).toMatchObject({ decision: { withheld: true, signatures: [] }, proof: { line: '' } })
  expect(shown?.body).toMatchObject({ decision: { withheld: false }, proof: { line: expect.stringContaining('prev') } })
  expect(shown?.body).toMatchObject({ decision: { signatures: [...(records[1]?.signatures ?? [])] } })
  expect(records[0]?.signatures.length).toBeGreaterThan(0)
  for (const format of ['csv', 'ndjson'] as const) {
    const rows = (index: number) =>
      exportRows(format, [{ record: records[index] as DecisionRecord, withheld: index === 0 }])
    expect(rows(0)).not.toContain(records[0]?.signatures[0] as string)
    expect(rows(1)).toContain(records[1]?.signatures[0] as string)
  }
})
