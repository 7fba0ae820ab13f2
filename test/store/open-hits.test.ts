// Counts of sessions with hits that nobody has decided.
import { expect, test } from 'bun:test'
import { newSessionId } from '../../src/domain/identifier.ts'
import { NAME_CHECK } from '../../src/domain/screening-hit.ts'
import { markChecksMade } from '../support/made-checks.ts'
import { replaceChecks } from '../support/replace-checks.ts'
import { describeStores } from './dialects.ts'
import { storeOfTest } from './store-of-test.ts'
import { seedOrganization } from './temporary-store.ts'

describeStores((open) => {
  const temporary = storeOfTest(open)

  test('an open hit of a submitted session is not counted because another session is completed', async () => {
    const { store } = temporary
    const { organizationId } = await seedOrganization(store, 'demo')
    const begin = async (number: number) => {
      const target = { organizationId, sessionId: newSessionId() }
      const settings = { environment: 'live', checkType: 'kyc', provider: 'manual', actor: 'key:test' } as const
      const tokenHash = new Uint8Array(32).fill(number)
      await store.sessions.register({ ...target, ...settings, tokenHash, walletAddress: null, originUrl: null })
      await store.sessions.changeStatus({ ...target, to: 'submitted', actor: 'person' })
      return target
    }
    const complete = async (target: Awaited<ReturnType<typeof begin>>) => {
      await markChecksMade(store, organizationId, target.sessionId)
      await store.sessions.changeStatus({ ...target, to: 'completed', actor: 'operator:ada', override: 'person' })
    }
    const [found, other] = [await begin(1), await begin(2)]
    const place = { list: 'own', entry: 'p1', versionId: 'v', name: 'Ivan' }
    const hit = { ...place, subject: 'person', basis: 'b', subjectBasis: 's', score: 77, why: [] }
    const check = { name: NAME_CHECK, outcome: 'passed', detail: {}, version: 'v', subjectBases: ['s'] } as const
    await replaceChecks(store, found, 'lists', [{ ...check, hits: [hit] }])
    await complete(other)
    expect(await store.sessionCounts.withOpenHits(organizationId)).toMatchObject({ count: 0 })
  })
})
