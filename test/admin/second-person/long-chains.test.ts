// Accounts and keys that made each other one after another: what asks who can approve must not ask once per account.
import { describe, expect, test } from 'bun:test'
import { ConflictError } from '../../../src/admin/errors.ts'
import { holderOf, recordHolder, requireTwoApprovers } from '../../../src/admin/second-person/approvers.ts'
import { systemClock } from '../../../src/lib/time.ts'
import { createAccountMakerTable } from '../../../src/store/accounts/account-makers.ts'
import { databaseScope } from '../../../src/store/copy/table-scope.ts'
import type { Database } from '../../../src/store/database.ts'
import type { Tables } from '../../../src/store/store.ts'
import { describeStores } from '../../store/dialects.ts'
import { storeOfTest } from '../../store/store-of-test.ts'

test('a link fails if its holder cannot be recorded', async () => {
  const accountMakers = {
    add: () => Promise.reject(new Error('the disk is full')),
  } as unknown as Tables['accountMakers']
  await expect(recordHolder({ accountMakers }, 'holder', 'user', null)).rejects.toThrow('the disk is full')
})

describeStores((open) => {
  const temporary = storeOfTest(open)

  test('accounts that invited each other are related, and compared with one query', async () => {
    const { store } = temporary
    const { id: organizationId } = await store.organizations.create({ slug: 'alpha', name: 'Alpha' })
    const join = async (name: string, makerId: string | null): Promise<string> => {
      const user = await store.users.create({
        email: `${name}@example.com`,
        name,
        deploymentAdmin: false,
        passwordHash: 'x',
      })
      await store.memberships.add(organizationId, user.id, 'organization-admin')
      if (makerId !== null) {
        await store.accountMakers.add({ userId: user.id, makerId, organizationId, kind: 'made', holdsLink: true })
      }
      return user.id
    }
    let queries = 0
    const counting: Database = {
      ...store.database,
      query: (...given) => {
        queries += 1
        return store.database.query(...given)
      },
    }
    const tables = { accountMakers: createAccountMakerTable(databaseScope(counting, systemClock)) }
    let last: string | null = null
    for (let number = 0; number < 120; number++) last = await join(`user${number}`, last)
    await expect(requireTwoApprovers(tables, organizationId)).rejects.toThrow(ConflictError)
    // The administrators, those of the rule, and the relations.
    expect(queries).toBe(3)
    temporary.clock.advance(-1_000)
    await join('other', null)
    await requireTwoApprovers(tables, organizationId)
  })
})

describe('keys that issued each other in a chain', () => {
  test('are followed for a limited number of steps', async () => {
    let asked = 0
    const findRecipient = async (): Promise<string> => `key:${++asked}`
    const tables = { apiKeys: { findRecipient } } as unknown as Pick<Tables, 'apiKeys'>
    await expect(holderOf(tables, 'key:0')).rejects.toThrow('issued through too many other keys')
    expect(asked).toBeLessThan(30)
  })
})
