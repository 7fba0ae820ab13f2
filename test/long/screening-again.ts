// How long verified people and their wallets take to be compared again after a list changed, all of it: what people typed is
// decrypted, names are searched in their own process, wallets looked up, and what came of it is stored. In seconds of one
// processor, that process included:
//   [TEST_STORE=postgres] bun test/long/screening-again.ts SDN.CSV ALT.CSV ADD.CSV SDN_COMMENTS.CSV UN.XML [people] [seed]      (100,000 unless given)
import { readdirSync, readFileSync } from 'node:fs'
import { newSessionId } from '../../src/domain/identifier.ts'
import { createServedLists } from '../../src/facts/lists/serve-lists.ts'
import { systemClock } from '../../src/lib/time.ts'
import { packEntries } from '../../src/modules/screening/formats/entry-lines.ts'
import type { ScreeningFormat } from '../../src/modules/screening/formats/publishers.ts'
import { readScreeningList } from '../../src/modules/screening/formats/read-screening-list.ts'
import { createScreeningService } from '../../src/modules/screening/screening-service.ts'
import { createLogger } from '../../src/telemetry/log.ts'
import { openEvidence } from '../identity/evidence/support.ts'
import { evmWallet } from '../identity/support.ts'
import { answerHelp } from '../support/head-help.ts'
import { listWallets, shareWallets } from '../support/sanctioned-wallets.ts'
import { createRandom } from './support/name-variants.ts'
import { ordinaryNames } from './support/ordinary-names.ts'

answerHelp(import.meta)

const [sdn, alt, add, comments, un, people = '100000', seed = '20260227'] = process.argv.slice(2)
if (sdn === undefined || alt === undefined || add === undefined || comments === undefined || un === undefined) {
  console.error(
    'usage: bun test/long/screening-again.ts SDN.CSV ALT.CSV ADD.CSV SDN_COMMENTS.CSV UN.XML [people] [seed]',
  )
  process.exit(2)
}

const TICKS_A_SECOND = 100
/** Ticks of this process and of those that it has started, by the system's own count. */
const processorTicks = (): ReadonlyMap<string, number> => {
  const own = String(process.pid)
  const ticks = new Map<string, number>()
  for (const name of readdirSync('/proc').filter((entry) => /^\d+$/.test(entry))) {
    try {
      const fields = readFileSync(`/proc/${name}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
      // Parent, then time in user and system mode.
      if (name === own || fields[1] === own) ticks.set(name, Number(fields[11]) + Number(fields[12]))
    } catch {
      // It ended meanwhile.
    }
  }
  return ticks
}

/** What those that are there now have used since. One that arranges names for a second and ends is not counted. */
const secondsSince = (before: ReadonlyMap<string, number>): number =>
  [...processorTicks()].reduce((sum, [name, ticks]) => sum + ticks - (before.get(name) ?? 0), 0) / TICKS_A_SECOND

const parts = await openEvidence()
const { store, evidence } = parts
const clock = systemClock
const organizationId = await parts.createOrganization('measured')
const count = Number(people)
const names = ordinaryNames(createRandom(Number(seed)), count)

console.log(`${count} people are made…`)
const SEEDED_AT_ONCE = 500
/** Over PostgreSQL more would wait for a connection. */
const TYPED_AT_ONCE = 8
for (let from = 0; from < count; from += SEEDED_AT_ONCE) {
  const batch = names
    .slice(from, from + SEEDED_AT_ONCE)
    .map(({ name }, at) => ({ name, at: from + at, id: newSessionId() }))
  await store.database.transaction(async (transaction) => {
    for (const { id, at } of batch) {
      const of = [organizationId, id]
      await transaction.execute(
        `INSERT INTO sessions (organization_id, id, environment, check_type, status, level, provider, retry_count, sequence,
           created_at_seconds, updated_at_seconds) VALUES (?, ?, 'live', 'kyc', 'pending', 1, 'manual', 0, 1, 1, 1)`,
        of,
      )
      await transaction.execute(
        `INSERT INTO session_wallets (id, organization_id, session_id, environment, connected_sequence, chain, address,
           address_text, connected_at_seconds) VALUES (?, ?, ?, 'live', 1, 'ethereum', ?, ?, 1)`,
        [`wallet_${at}`, ...of, evmWallet(at), evmWallet(at)],
      )
    }
  })
  const waiting = [...batch]
  const type = async (): Promise<void> => {
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      await evidence.putFields(
        { organizationId, id: next.id, checkType: 'kyc', level: 1 },
        { fullName: next.name.replaceAll(/[\p{Cc}\p{Cf}]/gu, ''), birthDate: '1985-06-15', country: 'DE' },
      )
    }
  }
  await Promise.all(Array.from({ length: TYPED_AT_ONCE }, type))
}
await store.database.execute(
  `INSERT INTO persons (id, organization_id, environment, check_type, created_at_seconds)
   SELECT 'person_' || id, organization_id, 'live', 'kyc', 1 FROM sessions`,
  [],
)
await store.database.execute(
  `UPDATE sessions SET status = 'completed', completed_at_seconds = 1, person_id = 'person_' || id, user_id = id`,
  [],
)

const lists = createServedLists({
  clock,
  lists: store.lists,
  bases: store.listBases,
  publish: () => undefined,
  onError: (error) => {
    throw error
  },
})
await lists.load()
const importList = async (
  name: string,
  format: ScreeningFormat,
  files: readonly string[],
  without = 0,
): Promise<void> => {
  if ((await store.screeningLists.find(name)) === null) {
    await store.screeningLists.set({ name, format, urls: [], reach: 'public', intervalSeconds: 3_600 })
  }
  const bytes = files.map((path) => new Uint8Array(readFileSync(path)))
  const entries = readScreeningList(format, bytes, { entriesMin: 500, now: null })
  const packed = packEntries(entries.slice(without))
  await store.screeningLists.replace(name, packed, { token: null, validators: {}, nextDueAtSeconds: 9e9 })
}
const sanction = async (...numbers: readonly number[]): Promise<void> => {
  await listWallets(store, 'our-wallets', numbers.map(evmWallet))
  await shareWallets(store, clock)
  lists.changed((await store.lists.find(null, 'our_wallets'))?.id ?? '')
  await lists.settled()
}

const again = new Map<string, { readonly sessions: number; readonly milliseconds: number }>()
const wanted = new Set<string>()
let done = Promise.withResolvers<void>()
const service = createScreeningService({
  store,
  evidence,
  clock,
  storeAgain: parts.storeChecks,
  wallets: {
    lists: lists.memberships,
    screeners: new Map(),
    chainOf: async (name) => ({ name, family: 'evm', chainId: 1 }),
  },
  othersEveryMs: 1_000,
  log: createLogger({
    write: (line) => {
      const said = JSON.parse(line)
      if (said.sessions >= count) {
        again.set(said.with, said)
        wanted.delete(said.with)
        if (wanted.size === 0) done.resolve()
      }
      return true
    },
  }),
})

const measure = async (what: string, change: () => Promise<void>): Promise<void> => {
  done = Promise.withResolvers<void>()
  wanted.add('lists').add('wallets.lists')
  await change()
  const before = processorTicks()
  const started = performance.now()
  if (what === 'first') service.leaderTask.start({ leads: () => true, holds: async () => true })
  await done.promise
  const [used, wall] = [secondsSince(before), (performance.now() - started) / 1_000]
  const hits = await store.database.query<{ name: string; hits: number }>(
    'SELECT check_name AS name, COUNT(*) AS hits FROM screening_hits GROUP BY check_name',
  )
  const times = [...again]
    .map(([name, { milliseconds }]) => `${name} ${(milliseconds / 1_000).toFixed(1)} s`)
    .join(', ')
  const found = hits.map(({ name, hits: some }) => `${some} of ${name}`).join(', ')
  console.log(
    `${what}: ${count} people and wallets, ${used.toFixed(1)} s of processor in ${wall.toFixed(1)} s (${times}); hits: ${found}`,
  )
}

await importList('un-sc', 'un-xml', [un])
await measure('first', async () => {
  await importList('ofac-sdn', 'ofac-csv', [sdn, alt, add, comments], 5)
  await sanction(3)
})
await measure('after a change', async () => {
  await importList('ofac-sdn', 'ofac-csv', [sdn, alt, add, comments])
  await sanction(3, 7)
})
await service.leaderTask.stop()
lists.stop()
await parts.remove()
