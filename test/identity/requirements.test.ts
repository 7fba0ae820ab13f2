// A session is completed with everything that its level requires, as its person submitted it; only a person's override
// completes it without a part. What a session that lacks a part is, and what becomes of it, over both databases.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { missingParts, requiredParts } from '../../src/domain/requirements.ts'
import type { Session, StatusChange } from '../../src/domain/session.ts'
import { CHECKS_VALID_SECONDS } from '../../src/store/sessions/session-requirements.ts'
import { openHit } from '../admin/support/open-hit.ts'
import { describeStores } from '../store/dialects.ts'
import { markChecksMade } from '../support/made-checks.ts'
import { openEvidence } from './evidence/support.ts'
import { evmWallet } from './support.ts'

const FIELDS = { fullName: 'Jane Roe', birthDate: '1980-01-01', country: 'DE' }

describe('what a session requires', () => {
  test('is a wallet and the evidence of its level', () => {
    expect(requiredParts({ checkType: 'kyc', level: 1 })).toEqual(['wallets', 'fullName', 'birthDate', 'country'])
    expect(requiredParts({ checkType: 'kyb', level: 3 })).toEqual([
      'wallets',
      'registeredName',
      'registrationNumber',
      'country',
      'registration-document',
      'owners',
    ])
  })

  test('is missing as long as it was not given, whatever else was', () => {
    const session = { checkType: 'kyc', level: 2 } as const
    const all = requiredParts(session)
    expect(missingParts(session, new Set())).toEqual(all)
    expect(missingParts(session, new Set([...all, 'reading']))).toEqual([])
    for (const part of all) {
      expect(missingParts(session, new Set(all.filter((other) => other !== part)))).toEqual([part])
    }
  })
})

describeStores((openStore) => {
  let world: Awaited<ReturnType<typeof openEvidence>>
  let organizationId: string

  beforeEach(async () => {
    world = await openEvidence({}, openStore)
    organizationId = await world.createOrganization('ours')
  })
  afterEach(() => world.remove())

  const change = ({ id }: Session, to: StatusChange['to'], more: Partial<StatusChange> = {}) =>
    world.store.sessions.changeStatus({ organizationId, sessionId: id, to, actor: 'operator:ada', ...more })
  const submit = async (session: Session): Promise<void> => {
    await change(session, 'submitted')
    await markChecksMade(world.store, organizationId, session.id)
  }
  const stateOf = ({ id }: Session) => world.store.sessions.find(organizationId, id)
  const eventsOf = ({ id }: Session) => world.store.sessions.listEvents(organizationId, id)
  const connect = ({ id }: Session, wallet = evmWallet(1)) => world.connect(organizationId, id, wallet)
  /** A session that was submitted with everything. */
  const submitted = async (): Promise<Session> => {
    const session = await world.session(organizationId)
    await connect(session)
    await connect(session, evmWallet(2))
    await world.evidence.putFields(session, FIELDS)
    await submit(session)
    return session
  }

  test('completes a session that has everything', async () => {
    const session = await submitted()
    await change(session, 'completed')
    expect((await stateOf(session))?.session.status).toBe('completed')
    expect((await eventsOf(session)).map(({ overridden }) => overridden)).toEqual([[], [], [], [], [], []])
  })

  test('refuses a session without a wallet, or without a part of the evidence, and says which', async () => {
    const empty = await world.session(organizationId)
    const walletless = await world.session(organizationId)
    await world.evidence.putFields(walletless, FIELDS)
    const nameless = await world.session(organizationId)
    await connect(nameless)
    await world.evidence.putFields(nameless, { birthDate: FIELDS.birthDate, country: FIELDS.country })
    for (const [session, missing] of [
      [empty, 'wallets, fullName, birthDate, country'],
      [walletless, 'wallets'],
      [nameless, 'fullName'],
    ] as const) {
      await submit(session)
      const before = [await stateOf(session), await eventsOf(session)]
      await expect(change(session, 'completed')).rejects.toMatchObject({
        name: 'SessionIncompleteError',
        code: 'SESSION_INCOMPLETE',
        detail: expect.stringContaining(`is missing ${missing}:`),
      })
      expect([await stateOf(session), await eventsOf(session)]).toEqual(before)
      expect(await world.store.sessions.findMissing(session)).toEqual(missing.split(', ') as never)
    }
  })

  test('completes it by a person’s override, which the history keeps with what was missing', async () => {
    const session = await world.session(organizationId)
    await connect(session)
    await markChecksMade(world.store, organizationId, session.id)
    await change(session, 'completed', { override: 'person' })
    expect((await eventsOf(session)).at(-1)).toMatchObject({
      status: 'completed',
      actor: 'operator:ada',
      overridden: ['fullName', 'birthDate', 'country'],
    })
    const whole = await submitted()
    await change(whole, 'completed', { override: 'person' })
    expect((await eventsOf(whole)).at(-1)?.overridden).toEqual([])
    // A reviewer who has not seen that a colleague confirmed the hit does not complete the session.
    const listed = await submitted()
    const { id: hitId } = await openHit(world.store, organizationId, listed.id)
    const confirmation = { state: 'confirmed', by: 'ada', reason: 'The same person.' } as const
    await world.store.screeningChecks.decideHit({ organizationId, sessionId: listed.id, hitId }, confirmation)
    await expect(change(listed, 'completed')).rejects.toThrow('only an operator’s override completes the session')
    await expect(change(listed, 'completed', { override: 'person', actor: 'policy:p:1' })).rejects.toThrow('confirmed')
    await change(listed, 'completed', { override: 'person' })
    expect((await eventsOf(listed)).at(-1)?.overridden).toEqual(['confirmed-hit'])
  })

  test('completes no live session by the sandbox’s override', async () => {
    const session = await world.session(organizationId)
    await expect(change(session, 'completed', { override: 'sandbox' })).rejects.toMatchObject({
      code: 'SESSION_INCOMPLETE',
    })
  })

  test('counts no evidence that was removed, and no other session’s', async () => {
    const other = await submitted()
    const session = await world.session(organizationId)
    await connect(session)
    const { wallets } = await connect(session, evmWallet(2))
    for (const { id } of wallets) {
      await world.store.sessionWallets.remove({ organizationId, sessionId: session.id, walletId: id, actor: 'person' })
    }
    expect(await world.store.sessions.findMissing(session)).toContain('wallets')
    expect(await world.store.sessions.findMissing(other)).toEqual([])
  })

  describe('the checks of a session that waits for its person', () => {
    const PENDING = { name: 'ChecksPendingError', retryAfterSeconds: 5 }
    const complete = (session: Session) => change(session, 'completed', { override: 'person' })
    const queue = (session: Session) => world.store.sessions.queueMissingChecks(organizationId, session.id)
    const claim = () => world.store.sessionChecks.claim(10, 60)
    const makeChecks = (session: Session) => markChecksMade(world.store, organizationId, session.id)

    test('are made for its wallets before an override completes it', async () => {
      const session = await world.session(organizationId)
      const { session: connected } = await connect(session)
      await expect(complete(session)).rejects.toMatchObject(PENDING)
      expect(await claim()).toEqual([])
      await queue(session)
      await queue(session)
      expect(await claim()).toMatchObject([{ sessionId: session.id, sequence: connected.sequence, attempts: 0 }])
      await expect(complete(session)).rejects.toMatchObject(PENDING)
      await makeChecks(session)
      await complete(session)
      expect((await stateOf(session))?.session.status).toBe('completed')
      await queue(session)
      expect(await world.store.sessionChecks.isPending(organizationId, session.id)).toBe(false)
    })

    test('are made again after another wallet is connected, and queued only then', async () => {
      const session = await world.session(organizationId)
      await connect(session)
      await makeChecks(session)
      await connect(session, evmWallet(2))
      await expect(complete(session)).rejects.toMatchObject(PENDING)
      await makeChecks(session)
      await complete(session)
    })

    test('are made again if they are older than ten minutes, since nothing repeats them meanwhile', async () => {
      const wallets = await world.session(organizationId)
      await connect(wallets)
      await makeChecks(wallets)
      const whole = await submitted()
      await change(whole, 'retry')
      world.clock.advance(CHECKS_VALID_SECONDS)
      await queue(whole)
      expect(await world.store.sessionChecks.isPending(organizationId, whole.id)).toBe(false)
      world.clock.advance(1)
      for (const session of [wallets, whole]) {
        await expect(complete(session)).rejects.toMatchObject(PENDING)
        await makeChecks(session)
        await complete(session)
      }
    })

    test('are not needed where there is nothing to check, nor queued for a session that lacks a part', async () => {
      const empty = await world.session(organizationId)
      const { wallets } = await connect(empty)
      await world.store.sessionWallets.remove({
        organizationId,
        sessionId: empty.id,
        walletId: wallets[0]?.id ?? '',
        actor: 'person',
      })
      await complete(empty)
      const incomplete = await world.session(organizationId)
      await connect(incomplete)
      await expect(change(incomplete, 'completed')).rejects.toMatchObject({ code: 'SESSION_INCOMPLETE' })
    })
  })

  describe('what the person has changed and not submitted', () => {
    const UNSUBMITTED = { name: 'ChangesUnsubmittedError', code: 'SESSION_CONFLICT' }
    const changes: Readonly<Record<string, (session: Session) => Promise<unknown>>> = {
      'a field': (session) => world.evidence.putFields(session, { ...FIELDS, fullName: 'Somebody Else' }),
      'another wallet': (session) => connect(session, evmWallet(3)),
      'a wallet less': async (session) => {
        const [wallet] = (await stateOf(session))?.wallets ?? []
        await world.store.sessionWallets.remove({
          organizationId,
          sessionId: session.id,
          walletId: wallet?.id ?? '',
          actor: 'person',
        })
      },
    }
    for (const [what, make] of Object.entries(changes)) {
      test(`${what}: nobody completes the session until it is submitted`, async () => {
        const session = await submitted()
        await change(session, 'retry')
        await make(session)
        await expect(change(session, 'completed')).rejects.toMatchObject(UNSUBMITTED)
        await expect(change(session, 'completed', { override: 'person' })).rejects.toMatchObject(UNSUBMITTED)
        expect((await stateOf(session))?.session.status).toBe('retry')
        await submit(session)
        await change(session, 'completed')
        expect((await stateOf(session))?.session.status).toBe('completed')
      })
    }

    test('is nothing while a session that was sent back is as it was', async () => {
      const session = await submitted()
      await change(session, 'retry')
      await change(session, 'completed')
      expect((await stateOf(session))?.session.status).toBe('completed')
    })
  })
})
