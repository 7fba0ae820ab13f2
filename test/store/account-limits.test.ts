// An account has a limited number of passkeys and sessions, because requests read all of them.
import { beforeAll, expect, test } from 'bun:test'
import { PASSKEYS_PER_ACCOUNT_MAX, PasskeyLimitError } from '../../src/store/accounts/passkeys.ts'
import { SESSIONS_PER_ACCOUNT_MAX, type UserSessionState } from '../../src/store/accounts/user-sessions.ts'
import { describeStores } from './dialects.ts'
import { storeOfSuite } from './store-of-test.ts'

describeStores((open) => {
  const temporary = storeOfSuite(open)
  let userId: string

  beforeAll(async () => {
    const account = { email: 'ada@example.com', name: 'Ada', deploymentAdmin: false, passwordHash: null }
    userId = (await temporary.store.users.create(account)).id
  })

  test('the passkey beyond the maximum is refused until one is removed', async () => {
    const { passkeys } = temporary.store
    const add = (id: string) =>
      passkeys.add({ id, userId, name: 'x', publicKey: new Uint8Array(1), signatureCount: 0, transports: [] })
    for (let number = 0; number < PASSKEYS_PER_ACCOUNT_MAX; number++) await add(`${number}`)
    await expect(add('beyond')).rejects.toBeInstanceOf(PasskeyLimitError)
    await passkeys.remove(userId, '0')
    await add('again')
    expect(await passkeys.listOf(userId)).toHaveLength(PASSKEYS_PER_ACCOUNT_MAX)
  })

  test('a sign-in beyond the maximum ends the least recently used session in the same state', async () => {
    const { userSessions } = temporary.store
    const begin = async (number: number, state: UserSessionState) => {
      temporary.clock.advance(1)
      const tokenHash = new Uint8Array(32)
      new DataView(tokenHash.buffer).setUint32(0, number)
      const expiresAtSeconds = temporary.clock.unixSeconds() + 86_400
      const from = { userAgent: '', address: '', replacedTokenHash: null }
      return userSessions.create({ userId, tokenHash, state, expiresAtSeconds, ...from })
    }
    const first = await begin(0, 'active')
    const second = await begin(1, 'active')
    for (let number = 2; number < SESSIONS_PER_ACCOUNT_MAX; number++) await begin(number, 'active')
    await userSessions.touch(first.id, first.expiresAtSeconds)
    await begin(1_000, 'second-factor')
    expect(await userSessions.listOf(userId)).toHaveLength(SESSIONS_PER_ACCOUNT_MAX)
    await begin(1_001, 'active')
    const ids = (await userSessions.listOf(userId)).map(({ id }) => id)
    expect(ids).toHaveLength(SESSIONS_PER_ACCOUNT_MAX)
    expect([ids.includes(first.id), ids.includes(second.id)]).toEqual([true, false])
  })
})
