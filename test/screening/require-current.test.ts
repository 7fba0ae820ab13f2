// An external decider completes a session only after its comparison with the current lists and settings. All linked
// wallets, including disconnected ones, must have been compared.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import type { WalletAddress } from '../../src/domain/address.ts'
import { addressKey } from '../../src/domain/address-key.ts'
import { newUuid } from '../../src/domain/identifier.ts'
import {
  ChecksPendingError,
  HitOpenError,
  LinkedChecksPendingError,
  LinkedSessionsError,
  RejectedBeforeError,
  SessionChangedError,
} from '../../src/domain/session-errors.ts'
import { createCheckAgain } from '../../src/identity/checks/check-again.ts'
import { createNameChecks } from '../../src/modules/screening/checks/name-checks.ts'
import { createPrepareRequireCurrent } from '../../src/modules/screening/checks/require-current.ts'
import { createWalletChecks } from '../../src/modules/screening/checks/wallet-checks.ts'
import { packEntries } from '../../src/modules/screening/formats/entry-lines.ts'
import { versionsOf } from '../../src/modules/screening/processes/held-name-screener.ts'
import { spendAndDecide } from '../../src/store/sessions/provider-results.ts'
import { createAll } from '../../src/store/tables.ts'
import { newWebhookEndpointId } from '../../src/store/webhooks/webhook-endpoints.ts'
import { evmWallet, openIdentity, type TestIdentity } from '../identity/support.ts'
import { checkRunnerOf, clearHits, fail, listed, screenerOf, screeningOfNames } from './support.ts'

const NAME = 'Anna Schmidt'
let identity: TestIdentity
let names: string[] = []
let memo = 'fraud'
/** Address lists in memory, which are updated from the store only when they are read. */
let memory: Parameters<typeof createWalletChecks>[0]['lists'] = () => []

beforeAll(async () => {
  identity = await openIdentity()
})
afterAll(() => identity.remove())

const importNames = async (listedNames: readonly string[]): Promise<void> => {
  names = [...listedNames]
  const { screeningLists } = identity.store
  if ((await screeningLists.find('own')) === null) {
    await screeningLists.set({ name: 'own', format: 'csv', urls: [], reach: 'public', intervalSeconds: 3_600 })
  }
  const packed = packEntries(names.map((name, at) => listed(`${at}`, [name])))
  await screeningLists.replace('own', packed, { token: null, validators: {}, nextDueAtSeconds: 9e9 })
}

const readMemory = async (): Promise<void> => {
  const { lists } = identity.store
  const rows = await Promise.all(
    (await lists.listAll()).map(async (row) => {
      const keys = new Set((await lists.readEdits(row.id)).map(({ key }) => key.toHex()))
      return {
        ...row,
        current: true,
        has: (address: Parameters<typeof addressKey>[0]) => keys.has(addressKey(address).toHex()),
      }
    }),
  )
  memory = () => rows
}

const partsNow = () => {
  const { store } = identity
  const settings = store.screeningSettings.readAll
  return [
    createNameChecks({
      settings,
      listsInUse: async () => {
        const versions = versionsOf(await store.screeningLists.list())
        return Object.keys(versions).length === 0 ? null : { versions, enabled: ['own'] }
      },
      nameScreenerFor: async () => screenerOf(screeningOfNames(names)),
      evidence: {
        screenedFieldsOf: async () => async () => ({ fullName: NAME }),
        screenedZonesOf: async () => async () => [],
      },
      onError: fail,
    }),
    createWalletChecks({
      settings,
      walletsOf: store.sessionWallets.ofSessionsOverTime,
      lists: () => memory(),
      memoOf: async () => memo,
    }),
  ]
}

const runChecks = (): Promise<number> => checkRunnerOf(identity, partsNow())()

const checkAgain = async (): Promise<void> => {
  const { store, storeChecks, clock } = identity
  const { outdated, queued } = store.sessionChecks
  const organizations = store.organizations.list
  for (const part of partsNow()) {
    const source = { organizations, outdated, queued, store: storeChecks, clock, onError: fail }
    await createCheckAgain(part, source)(() => true)
  }
}

const WALLET = evmWallet(7)
const DENIED = evmWallet(8)
const OTHER = evmWallet(9)
let organizationId = ''
let sessionId = ''
let endpointId = ''
let sequence = 0
let count = 0

const deny = async (wallet: WalletAddress): Promise<void> => {
  const { lists } = identity.store
  if ((await lists.find(organizationId, 'deny')) === null) await lists.create({ owner: organizationId, name: 'deny' })
  const edit = { key: addressKey(wallet), present: true, memo, author: 'test', addedAtSeconds: 1 }
  await lists.edit(organizationId, 'deny', [edit])
  await readMemory()
}

/** Registers a session and connects the wallets. */
const connect = async (...wallets: readonly WalletAddress[]): Promise<string> => {
  const { session } = await identity.register(organizationId)
  for (const wallet of wallets) await identity.connect(organizationId, session.id, wallet)
  return session.id
}

const disconnect = async (wallet: WalletAddress): Promise<void> => {
  const state = await identity.store.sessions.find(organizationId, sessionId)
  const walletId = state?.wallets.find(({ address }) => address === wallet)?.id ?? ''
  await identity.store.sessionWallets.remove({ organizationId, sessionId, walletId, actor: 'person' })
}

/** Submits another session and makes its checks. */
const submitOther = async (id: string): Promise<void> => {
  await identity.move(organizationId, id, 'submitted')
  await runChecks()
}
const repeatChecks = async (): Promise<void> => {
  await identity.store.sessionChecks.queueRepeat({ organizationId, sessionId })
  await runChecks()
}

const submit = async (): Promise<void> => {
  sequence = (await identity.move(organizationId, sessionId, 'submitted')).session.sequence
  await runChecks()
}

const decideOver = async (store: typeof identity.store, screeners: readonly string[] = []) => {
  const message = { organizationId, sessionId, endpointId, messageId: newUuid() }
  const { changeStatus } = spendAndDecide(store, message, createPrepareRequireCurrent(screeners))
  const change = { organizationId, sessionId, actor: 'provider:webhook', expectedSequence: sequence } as const
  return (await changeStatus({ ...change, to: 'completed', override: 'person' }))?.session.status
}
const decide = (screeners?: readonly string[]) => decideOver(identity.store, screeners)

beforeEach(async () => {
  organizationId = await identity.createOrganization(`current-${count++}`)
  endpointId = newWebhookEndpointId()
  const endpoint = { url: 'https://decider.example', environment: 'live', purpose: 'decisions' } as const
  const sealed = { id: endpointId, organizationId, sealedSecret: new Uint8Array(32) }
  await identity.store.webhookEndpoints.add({ ...endpoint, ...sealed })
  memo = 'fraud'
  await importNames(['Ivan Primerov'])
  await readMemory()
  sessionId = await connect(WALLET)
  await submit()
})

describe('an external decider', () => {
  test('completes a session that was compared with the current lists', async () => {
    expect(await decide()).toBe('completed')
  })

  test.each([
    ['a name was listed', () => importNames(['Ivan Primerov', NAME])],
    [
      'a wallet was denied',
      async () => {
        const older = memory
        await deny(WALLET)
        memory = older
      },
    ],
  ])('waits after %s until the session is compared again', async (_, change) => {
    await change()
    await expect(decide()).rejects.toThrow(ChecksPendingError)
    // The lists in memory are older than the stored lists.
    await runChecks()
    await expect(decide()).rejects.toThrow()
    await readMemory()
    await runChecks()
    await expect(decide()).rejects.toThrow(HitOpenError)
  })

  test('does not complete a session from which a denied wallet was disconnected before its submission', async () => {
    await deny(DENIED)
    sessionId = await connect(DENIED, OTHER)
    await disconnect(DENIED)
    await submit()
    await expect(decide()).rejects.toThrow(HitOpenError)
    const [hit] = await identity.store.screeningChecks.hits(organizationId, sessionId)
    expect(hit?.why.map(({ detail }) => detail)).toContain('the wallet is not connected to the session')
    await clearHits(identity, organizationId, sessionId)
    expect(await decide()).toBe('completed')
  })

  test('does not complete a session that is linked to a denied wallet by an unsubmitted session', async () => {
    await connect(DENIED, WALLET)
    expect(await decide(['a screener']).catch((error: unknown) => error)).toBeInstanceOf(LinkedSessionsError)
    await deny(DENIED)
    await expect(decide()).rejects.toThrow(ChecksPendingError)
    await runChecks()
    await expect(decide()).rejects.toThrow('on the list deny')
  })

  describe('with a list', () => {
    let steps: string[] = []

    /** Decides, and records lookups and transactions. */
    const decideRecorded = async () => {
      const { store } = identity
      const recording = (lists: typeof store.lists): typeof store.lists => ({
        ...lists,
        findListed: (...given) => {
          steps.push('look up')
          return lists.findListed(...given)
        },
      })
      const transaction: typeof store.transaction = (work, options) =>
        store.transaction((tables) => {
          steps.push('transaction')
          return work({ ...createAll(tables), lists: recording(tables.lists) })
        }, options)
      return decideOver({ ...store, transaction, lists: recording(store.lists) })
    }

    beforeEach(async () => {
      steps = []
      await deny(DENIED)
    })

    test('looks up linked wallets before its transaction', async () => {
      await repeatChecks()
      expect(await decideRecorded()).toBe('completed')
      expect(steps).toEqual(['look up', 'transaction'])
    })

    test('looks up no wallets for a session that was compared with an earlier list', async () => {
      await expect(decideRecorded()).rejects.toThrow(ChecksPendingError)
      expect(steps).toEqual([])
    })

    test('looks up no wallets for a session whose wallet was rejected', async () => {
      const rejected = await connect(WALLET)
      await submitOther(rejected)
      await identity.move(organizationId, rejected, 'rejected', { actor: 'operator:ada' })
      await repeatChecks()
      await expect(decideRecorded()).rejects.toThrow(RejectedBeforeError)
      expect(steps).toEqual([])
    })

    test('looks up no wallets for a session that changed', async () => {
      sequence -= 1
      await expect(decideRecorded()).rejects.toThrow(SessionChangedError)
      expect(steps).toEqual(['transaction'])
    })
  })

  describe('whose transaction waits for the lock', () => {
    /** Checks the session; `meanwhile` runs during the wait for the lock. Returns the order of its steps. */
    const check = async (meanwhile: () => Promise<unknown>): Promise<readonly string[]> => {
      const { store } = identity
      const steps: string[] = []
      const findListed: typeof store.lists.findListed = (...given) => {
        steps.push('look up')
        return store.lists.findListed(...given)
      }
      const lists = { ...store.lists, findListed }
      const session = (await store.sessions.find(organizationId, sessionId))?.session
      if (session === undefined) throw new Error('no session')
      const requireCurrent = await createPrepareRequireCurrent([])({ ...store, lists }, session)
      steps.push('prepared')
      const findLinked: typeof store.sessions.findLinked = async (linkedTo) => {
        await meanwhile()
        return store.sessions.findLinked(linkedTo)
      }
      await requireCurrent({ ...store, lists, sessions: { ...store.sessions, findLinked } }, session)
      return steps
    }

    test('waits if a name is listed meanwhile', async () => {
      await expect(check(() => importNames(['Ivan Primerov', NAME]))).rejects.toThrow(ChecksPendingError)
    })

    test('looks up only wallets that were linked meanwhile', async () => {
      await deny(DENIED)
      // Queues the comparison with the list.
      await expect(decide()).rejects.toThrow(ChecksPendingError)
      await runChecks()
      expect(await check(async () => undefined)).toEqual(['look up', 'prepared'])
      await expect(check(() => connect(DENIED, WALLET))).rejects.toThrow('on the list deny')
    })
  })

  test('completes a session whose linked wallets were screened or are not listed', async () => {
    await deny(DENIED)
    await connect(OTHER, WALLET)
    await expect(decide()).rejects.toThrow(ChecksPendingError)
    await runChecks()
    await expect(decide(['a screener'])).rejects.toThrow('not screened')
    sessionId = await connect(OTHER, WALLET)
    await submit()
    expect(await decide(['a screener'])).toBe('completed')
  })

  test('waits after a change for another person, and then completes the session', async () => {
    await importNames(['Ivan Primerov', 'Pjotr Obraztsov'])
    await expect(decide()).rejects.toThrow(ChecksPendingError)
    await expect(decide()).rejects.toThrow(ChecksPendingError)
    await runChecks()
    expect(await decide()).toBe('completed')
  })

  test.each([
    ['sent back', 'retry'],
    ['completed', 'completed'],
  ] as const)(
    'a clearance in a session that was %s does not cover a later listing of its wallet',
    async (_, status) => {
      await deny(DENIED)
      const earlier = await connect(DENIED, WALLET)
      await submitOther(earlier)
      await clearHits(identity, organizationId, earlier)
      await identity.move(organizationId, earlier, status)
      memo = 'fraud, court order'
      await deny(DENIED)
      await repeatChecks()
      await expect(decide()).rejects.toThrow(LinkedChecksPendingError)
      await checkAgain()
      await expect(decide()).rejects.toThrow(
        'another session of the person or their wallets has an open or confirmed hit',
      )
    },
  )

  test('a clearance in a rejected session does not cover a later listing of its wallet', async () => {
    await deny(DENIED)
    const earlier = await connect(DENIED, OTHER)
    await submitOther(earlier)
    await clearHits(identity, organizationId, earlier)
    await identity.move(organizationId, earlier, 'rejected')
    sessionId = await connect(OTHER)
    await submit()
    await identity.move(organizationId, sessionId, 'completed')
    sessionId = await connect(OTHER)
    await submit()
    await expect(decide()).rejects.toThrow('on the list deny')
  })

  test('waits until a linked session that was sent back is compared with the current lists', async () => {
    const earlier = await connect(OTHER, WALLET)
    await submitOther(earlier)
    await identity.move(organizationId, earlier, 'retry')
    await importNames(['Ivan Primerov', 'Pjotr Obraztsov'])
    await repeatChecks()
    await expect(decide()).rejects.toThrow(LinkedChecksPendingError)
    await checkAgain()
    expect(await decide()).toBe('completed')
  })

  test('completes a session whose linked session was compared before the last list was disabled', async () => {
    const earlier = { organizationId, sessionId }
    await clearHits(identity, organizationId, sessionId)
    sessionId = await connect(WALLET)
    await identity.store.screeningLists.remove('own')
    await submit()
    await expect(decide()).rejects.toThrow(LinkedChecksPendingError)
    await checkAgain()
    const checks = await identity.store.sessionChecks.list(earlier.organizationId, earlier.sessionId)
    expect(checks.map(({ name }) => name)).not.toContain('lists.names')
    expect(await decide()).toBe('completed')
  })
})
