// A restore of an older backup: heads were signed that the tree lacks, so none is signed any more, until the operator begins
// a tree anew; attestations go on meanwhile.
import { expect, test } from 'bun:test'
import { cpSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openCheckpoint } from '../../../src/modules/transparency/tree/checkpoint.ts'
import { parseVerifierKey } from '../../../src/modules/transparency/tree/note.ts'
import { runCountersign } from '../../service/run-to-end.ts'
import { type RunningService, startService } from '../../service/start-service.ts'
import { newFolder } from '../../support/folder.ts'
import { until } from '../../support/until.ts'

const attest = async (service: RunningService): Promise<void> => {
  const answer = await service.attest({
    from: '0x1111111111111111111111111111111111111111',
    chain: 'base',
    verification_hash: service.quickstart['VERIFICATION_HASH'],
  })
  expect(answer.status).toBe(200)
}

test('an older log and tree are not signed on; begin-tree begins another, under a new key', async () => {
  const dataDirectory = newFolder()
  const at = (name: string): string => join(dataDirectory, name)
  const command = (...words: string[]) => runCountersign({ COUNTERSIGN_DATA_DIR: dataDirectory }, ...words)
  const start = () => startService({ dataDirectory, environment: { COUNTERSIGN_WORKERS: '1' } })
  const isRefused = async (service: RunningService): Promise<boolean> =>
    /countersign_decision_tree_refused 1/.test(await (await fetch(`${service.url}/metrics`)).text())
  let service = await start()
  await attest(service)
  await service.stop()
  const old = newFolder()
  for (const name of ['decisions', 'decision-tree.db']) cpSync(at(name), join(old, name), { recursive: true })
  const oldHead = readFileSync(at('decision-tree.checkpoint'), 'utf8')
  const oldKey = (await command('proof', 'key')).stdout
  service = await start()
  await attest(service)
  await service.stop()
  const head = readFileSync(at('decision-tree.checkpoint'), 'utf8')
  expect(head).not.toBe(oldHead)
  // The head in the store alone is left to tell.
  rmSync(at('decision-tree.checkpoint'))
  for (const name of ['decisions', 'decision-tree.db', 'decision-tree.db-wal', 'decision-tree.db-shm']) {
    rmSync(at(name), { recursive: true, force: true })
  }
  for (const name of ['decisions', 'decision-tree.db']) cpSync(join(old, name), at(name), { recursive: true })

  service = await start()
  await attest(service)
  await until(() => isRefused(service))
  const verified = await command('decisions', 'verify')
  expect([verified.code, verified.stdout]).toEqual([1, expect.stringContaining('the head in the store: the head has')])
  expect((await command('decisions', 'begin-tree')).code).toBe(1)
  await service.stop()
  expect(existsSync(at('decision-tree.checkpoint'))).toBe(false)

  const begun = await command('decisions', 'begin-tree')
  expect([begun.code, begun.stderr]).toEqual([0, ''])
  const newKey = (await command('proof', 'key')).stdout
  expect(begun.stdout).toEndWith(newKey)
  expect(newKey).not.toBe(oldKey)
  service = await start()
  await until(() => existsSync(at('decision-tree.checkpoint')))
  expect(await isRefused(service)).toBe(false)
  expect((await command('decisions', 'verify')).code).toBe(0)
  await service.stop()
  const signed = openCheckpoint(readFileSync(at('decision-tree.checkpoint'), 'utf8'), parseVerifierKey(newKey.trim()))
  expect(signed.origin).toEndWith('/2')
  // Three segments with a header each, and the two decisions that are left.
  expect(signed.size).toBeGreaterThanOrEqual(4)
  // As on another node, whose file still has the head of the earlier log.
  writeFileSync(at('decision-tree.checkpoint'), head)
  const elsewhere = await command('decisions', 'verify')
  expect([elsewhere.code, elsewhere.stdout]).toEqual([0, expect.stringContaining('the head belongs to another log')])
  const audit = await command('audit', 'list', '--json')
  expect(audit.stdout).toContain('command.decisions.begin-tree')
}, 180_000)
