// A killed process loses no acknowledged write.
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { systemClock } from '../../src/lib/time.ts'
import { readNewest } from '../../src/store/changes.ts'
import { openStore } from '../../src/store/store.ts'
import { BEFORE_ALL, changesSince } from './changes-since.ts'
import { describeDatabases } from './dialects.ts'

/** Kills a writing process after a number of acknowledged writes. @returns all acknowledged slugs */
const writeAndKill = async (address: string, acknowledged: number): Promise<string[]> => {
  const child = Bun.spawn(['bun', join(import.meta.dir, 'write-until-killed.ts'), address], {
    stdout: 'pipe',
    stderr: 'inherit',
  })
  let text = ''
  const decoder = new TextDecoder()
  for await (const chunk of child.stdout) {
    text += decoder.decode(chunk, { stream: true })
    if (text.split('\n').length > acknowledged && !child.killed) child.kill('SIGKILL')
  }
  await child.exited
  expect(child.signalCode).toBe('SIGKILL')
  return text.split('\n').slice(0, -1)
}

describeDatabases((dialect) => {
  test('SIGKILL during writes neither loses an acknowledged write nor leaves a partial transaction', async () => {
    const place = await dialect.createPlace()
    try {
      const acknowledged = await writeAndKill(place.address, 120)
      expect(acknowledged.length).toBeGreaterThanOrEqual(120)
      const store = await openStore({ target: place.target, clock: systemClock })
      const organizations = await store.organizations.list()
      const slugs = new Set(organizations.map((organization) => organization.slug))
      expect(acknowledged.filter((slug) => !slugs.has(slug))).toEqual([])
      // Organizations, changes and the counter agree.
      const changes = await changesSince(store.database, BEFORE_ALL)
      expect(new Set(changes.map((change) => change.subjectId))).toEqual(
        new Set(organizations.map((organization) => organization.id)),
      )
      expect((await readNewest(store.database)).sequence).toBe(changes.length)
      if (dialect.name === 'SQLite') {
        expect(await store.database.query('PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }])
      }
      await store.organizations.create({ slug: 'after', name: 'After' })
      await store.close()
    } finally {
      await place.remove()
    }
  })
})
