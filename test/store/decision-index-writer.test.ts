// The memory of the index writer does not grow with the log.
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { type IndexFile, openIndexFile } from '../../src/store/decision-index/file.ts'
import type { IndexedDecision } from '../../src/store/decision-index/types.ts'
import { createIndexWriter } from '../../src/store/decision-index/writer.ts'
import { FIRST_MS, uuidOf, walletOf } from '../admin/support/decisions.ts'
import { temporaryFolder } from './temporary-store.ts'

test('prepared statements of a complete generation are released', () => {
  const folder = temporaryFolder()
  const file = openIndexFile(join(folder.path, 'index.db'))
  const held = new Set<string>()
  const watched: IndexFile = {
    ...file,
    statement: (sql) => {
      held.add(sql)
      return file.statement(sql)
    },
    forget: (sql) => {
      held.delete(sql)
      file.forget(sql)
    },
  }
  const writer = createIndexWriter(watched, 10)
  const appendTo = (end: number): number => {
    for (let n = writer.count(); n < end; n++) {
      const decision: IndexedDecision = {
        kind: 'decision',
        organizationId: 'org',
        projectId: 'project',
        policyId: 'policy',
        keyId: 'key',
        chain: 'base',
        place: { slot: 'w00', segment: 'segment', offset: n * 100, length: 100 },
        line: '',
        atMs: FIRST_MS + n,
        uuid: uuidOf(n),
        wallet: walletOf(n),
        compliant: true,
        rule: 'everyone',
        shadow: null,
      }
      writer.append([decision], [], [])
    }
    while (writer.improve());
    return held.size
  }
  const few = appendTo(25)
  expect(appendTo(405)).toBe(few)
  expect(writer.count()).toBe(405)
  // A released statement is prepared again.
  expect(file.statement('SELECT 1 AS one')).toBe(file.statement('SELECT 1 AS one'))
  const first = file.statement('SELECT 1 AS one')
  file.forget('SELECT 1 AS one')
  expect(file.statement('SELECT 1 AS one')).not.toBe(first)
  file.close()
  folder.remove()
})
