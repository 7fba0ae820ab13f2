// `countersign org second-factor`: for one organization, or for everybody; what it changes is noted, what it shows is not.
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { runOrg } from '../../src/cli/org.ts'
import { openTemporaryStore, type TemporaryStore } from '../store/temporary-store.ts'
import { openOver } from './admin-client-over.ts'
import { recordOutput } from './recorded-output.ts'

let temporary: TemporaryStore
let organizationId: string
beforeEach(async () => {
  temporary = await openTemporaryStore()
  organizationId = (await temporary.store.organizations.create({ slug: 'acme', name: 'Acme' })).id
})
afterEach(() => temporary.remove())

const run = async (...words: string[]) => {
  const { output, printed } = recordOutput()
  const code = await runOrg(['second-factor', ...words], { output, open: openOver(temporary) })
  return { code, stdout: printed.stdout }
}
const shown = async (...words: string[]): Promise<unknown> => {
  const { code, stdout } = await run(...words, '--json')
  expect(code).toBe(0)
  return JSON.parse(stdout)
}

test('turns the rule on and off, of one organization or of all', async () => {
  expect(await shown('acme')).toEqual({ slug: 'acme', required: false, requiredEverywhere: false })
  expect(await shown('acme', 'on')).toEqual({ slug: 'acme', required: true, requiredEverywhere: false })
  expect(await shown()).toEqual({ slug: null, required: false, requiredEverywhere: false })
  expect(await shown('on')).toMatchObject({ slug: null, required: true })
  expect(await shown('acme', 'off')).toEqual({ slug: 'acme', required: false, requiredEverywhere: true })
  expect(await temporary.store.organizationSettings.readSecondFactorRules()).toEqual({
    deployment: true,
    organizationIds: [],
  })
  const page = await temporary.store.database.query<{ action: string; organization_id: string | null }>(
    'SELECT action, organization_id FROM audit_log ORDER BY sequence',
  )
  const action = 'settings.second-factor'
  expect(page).toEqual([
    { action, organization_id: organizationId },
    { action, organization_id: null },
    { action, organization_id: organizationId },
  ])
})

test('refuses an organization that is not there, and words that mean nothing', async () => {
  expect((await run('nobody', 'on')).code).toBe(1)
  expect((await run('acme', 'perhaps')).code).toBe(2)
  expect((await run('acme', 'on', 'off')).code).toBe(2)
})
