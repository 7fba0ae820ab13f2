// Lists that the policy page offers to create: those that the policy check reports as missing.
import { expect, test } from 'bun:test'
import { missingLists } from '../../src/dashboard/page/policies/check-panel.tsx'
import { PolicyInvalidError } from '../../src/policy/issues.ts'
import { draftRevision } from '../../src/policy/revision.ts'

test('missing lists are found in the messages of the policy check', () => {
  const source =
    'name: x\nrules:\n  - id: a\n    deny: in_list(wallet.address, "absent")\n  - id: b\n    deny: screener("nobody").flagged\n'
  try {
    draftRevision(source, { lists: new Set(['present']), screeners: new Set() })
    throw new Error('the policy was accepted')
  } catch (error) {
    if (!(error instanceof PolicyInvalidError)) throw error
    expect(error.issues).toHaveLength(2)
    expect([...missingLists(error.issues)]).toEqual(['absent'])
  }
})
