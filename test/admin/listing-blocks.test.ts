// With 100,000 rows in each table, no list of the admin API blocks the main thread for long.
import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Route } from '../../src/admin/route.ts'
import type { TSchema } from '../../src/admin/schema.ts'
import { openWithLongReads } from '../store/temporary-store.ts'
import { ADMIN_ROUTES } from './support/all-routes.ts'
import { harnessOfFile } from './support/harness.ts'
import { fillTables } from './support/many-rows.ts'
import { toRequest } from './support/request.ts'

const BLOCK_MS_MAX = 5
/** A block counts only if it occurs in each attempt, because other processes of the machine also cause delays. */
const ATTEMPTS = 5

const harness = await harnessOfFile(openWithLongReads)
const alpha = await harness.organization('alpha')
const { id: userId, cookie } = await harness.person({
  email: 'ada@example.com',
  deploymentAdmin: true,
  roles: { [alpha.id]: 'organization-admin' },
})
const policy = await harness.store.policies.create({ organizationId: alpha.id, name: 'P' })
const project = await harness.store.projects.create({ organizationId: alpha.id, name: 'P', policyId: policy.id })
const own = await harness.store.lists.create({ owner: alpha.id, name: 'own', description: '' })
const shared = await harness.store.lists.create({ owner: null, name: 'shared', description: '' })
await fillTables(harness.store, join(harness.folder, 'countersign.db'), {
  organizationId: alpha.id,
  userId,
  policyId: policy.id,
  projectId: project.id,
  listIds: [own.id, shared.id],
})

const WALLET = `0x${'1'.repeat(40)}`
/** Values that match few or no rows, so that the database has to scan every row. */
const RARE: Readonly<Record<string, string>> = {
  assigned_to: 'nobody',
  created_before: '2020-01-01T00:00:00Z',
  since: '2040-01-01T00:00:00Z',
  until: '2020-01-01T00:00:00Z',
  sequence: '5',
  chain: 'solana',
  search: '0x1234',
  wallet: WALLET,
  overridden: 'true',
}
/** Operations that other processes perform. */
const ELSEWHERE = /^(searchDecisions|tally\w+)$/

const isList = ({ method, operationId, answers: [{ schema }] }: Route): boolean =>
  method === 'GET' && schema?.['properties']?.data?.type === 'array' && !ELSEWHERE.test(operationId)

const literals = (schema: TSchema): string[] =>
  schema['anyOf']?.flatMap(literals) ?? (schema['const'] === undefined ? [] : [String(schema['const'])])

const lists = ADMIN_ROUTES.filter(isList).flatMap((route) => {
  const path = route.path
    .replace('{organization}', 'alpha')
    .replace('{policy}', policy.id)
    .replace('{project}', project.id)
    .replace('{wallet}', WALLET)
    .replace('{list}', route.path.startsWith('/lists') ? 'shared' : 'own')
  const filters = Object.entries(route.query?.properties ?? {}).filter(([name]) => !['limit', 'cursor'].includes(name))
  const queries = filters.flatMap(([name, schema]) => {
    const values = literals(schema)
    return (values.length > 0 ? values : [RARE[name] ?? 'x']).map((value) => `?${name}=${encodeURIComponent(value)}`)
  })
  return ['', ...queries].map((query) => ({ name: `${route.operationId}${query}`, path: path + query }))
})

const SCHEDULE = `/proc/self/task/${process.pid}/schedstat`
/** Processor time of the main thread, in steps of a few milliseconds; the wall-clock time if the system does not measure it. */
const threadMs = (): number => {
  try {
    return Number(readFileSync(SCHEDULE, 'utf8').split(' ')[0]) / 1e6
  } catch {
    return performance.now()
  }
}

/** Longest time between two turns of the event loop during the request. */
const longestBlock = async (path: string): Promise<number> => {
  let longest = 0
  let isDone = false
  const turns = (async () => {
    let [wall, thread] = [performance.now(), threadMs()]
    while (!isDone) {
      await new Promise<void>((resolve) => setImmediate(resolve))
      const [nextWall, nextThread] = [performance.now(), threadMs()]
      longest = Math.max(longest, Math.min(nextWall - wall, nextThread - thread))
      wall = nextWall
      thread = nextThread
    }
  })()
  const response = await harness.api(toRequest('GET', path, { cookie }))
  await response.arrayBuffer()
  isDone = true
  await turns
  expect([path, response.status]).toEqual([path, 200])
  return longest
}

/** Other reads of many rows. */
const others = ['overview', 'find?text=ada', 'waiting'].map((name) => ({ name, path: `/organizations/alpha/${name}` }))

test.each([...lists, ...others])('$name blocks for at most 5 ms', async ({ path }) => {
  const blocks: number[] = []
  while (blocks.length < ATTEMPTS && !blocks.some((block) => block <= BLOCK_MS_MAX)) {
    blocks.push(await longestBlock(path))
  }
  expect(Math.min(...blocks)).toBeLessThanOrEqual(BLOCK_MS_MAX)
})

test('the tables of every paged list are full', async () => {
  for (const { query, operationId, path } of ADMIN_ROUTES.filter(isList)) {
    if (query === null || !('cursor' in query.properties)) continue
    const at = lists.find(({ name }) => name === operationId)?.path ?? path
    const response = await harness.api(toRequest('GET', at, { cookie }))
    expect([operationId, await response.json()]).toEqual([
      operationId,
      expect.objectContaining({ next_cursor: expect.any(String) }),
    ])
  }
})
