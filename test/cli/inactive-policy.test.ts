// A project whose policy has no active revision is named, with what to do, by `project list` and by `doctor`.
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { systemClock } from '../../src/lib/time.ts'
import { openStore } from '../../src/store/store.ts'
import { runCountersign } from '../service/run-to-end.ts'
import { temporaryFolder } from '../store/temporary-store.ts'

test('project list and doctor name a project that nothing can be decided for', async () => {
  const folder = temporaryFolder()
  const run = (...words: string[]) => runCountersign({ COUNTERSIGN_DATA_DIR: folder.path }, ...words)
  await (await openStore({ path: join(folder.path, 'countersign.db'), clock: systemClock })).close()
  try {
    const made = await run('org', 'create', 'demo')
    expect([made.code, made.stderr]).toEqual([0, ''])
    const path = join(folder.path, 'p.yaml')
    await Bun.write(path, 'name: P\nrules: []\n')
    const { policy } = JSON.parse((await run('policy', 'apply', path, '--draft', '--json')).stdout)
    expect((await run('project', 'create', '--name', 'Waiting', '--policy', policy)).code).toBe(0)
    const listed = await run('project', 'list')
    expect([listed.code, listed.stdout]).toEqual([0, expect.stringMatching(new RegExp(`${policy} +no `))])
    expect(listed.stderr).toContain(`requests for Waiting are refused, because ${policy} has no active revision`)
    const problem = await run('doctor', '--json')
    expect(problem.code).toBe(1)
    expect(JSON.parse(problem.stdout).exposure).toContainEqual({
      check: 'project',
      subject: 'demo: Waiting',
      result: 'problem',
      detail: expect.stringContaining(`countersign policy activate ${policy} --revision N --org demo`),
    })
    expect((await run('policy', 'activate', policy, '--revision', '1')).code).toBe(0)
    expect((await run('project', 'list')).stderr).toBe('')
    expect((await run('doctor')).stdout).not.toContain('Waiting')
  } finally {
    folder.remove()
  }
}, 60_000)
