// A session with an open hit in a sanctions list.
import { packEntries } from '../../../src/modules/screening/formats/entry-lines.ts'
import type { StoredHit } from '../../../src/store/lists/screening-checks.ts'
import type { Store } from '../../../src/store/store.ts'
import { replaceChecks } from '../../support/replace-checks.ts'

const ENTRY = {
  id: 'p1',
  kind: 'person',
  names: ['Ivan Primerov'],
  birthDates: [],
  countries: [],
  wallets: [],
} as const

export const openHit = async (store: Store, organizationId: string, sessionId: string): Promise<StoredHit> => {
  const list = { name: 'own', format: 'csv', urls: [], reach: 'public', intervalSeconds: 3_600 } as const
  if ((await store.screeningLists.find('own')) === null) await store.screeningLists.set(list)
  const read = { token: null, validators: {}, nextDueAtSeconds: 0 }
  await store.screeningLists.replace('own', packEntries([ENTRY]), read)
  const versionId = (await store.screeningLists.find('own'))?.version?.id ?? ''
  await replaceChecks(store, { organizationId, sessionId }, 'lists', [
    {
      name: 'lists.names',
      outcome: 'passed',
      version: 'key',
      detail: { versions: { own: versionId }, threshold: 75 },
      hits: [
        {
          versionId,
          list: 'own',
          entry: 'p1',
          name: 'Ivan Primerov',
          subject: 'person',
          basis: 'b',
          subjectBasis: 's',
          score: 90,
          why: [{ part: 'name', points: 90, detail: 'primerov the same' }],
        },
      ],
    },
  ])
  const [hit] = await store.screeningChecks.hits(organizationId, sessionId)
  if (hit === undefined) throw new Error('there is no hit')
  return hit
}
