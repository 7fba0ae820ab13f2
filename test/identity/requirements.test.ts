// Completion requires all parts of the level, as submitted; only an operator's override completes a session without them.
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

test('a session requires a wallet and the evidence of its level', () => {
  expect(requiredParts({ checkType: 'kyc', level: 1 })).toEqual(['wallets', 'fullName', 'birthDate', 'country'])
  const business = ['wallets', 'registeredName', 'registrationNumber', 'country', 'registration-document', 'owners']
  expect<readonly string[]>(requiredParts({ checkType: 'kyb', level: 3 })).toEqual(business)
  const session = { checkType: 'kyc', level: 2 } as const
  const all = requiredParts(session)
  expect(missingParts(session, new Set())).toEqual(all)
  expect(missingParts(session, new Set([...all, 'reading']))).toEqual([])
  for (const part of all) {
    expect(missingParts(session, new Set(all.filter((other) => other !== part)))).toEqual([part])
  }
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
  const statusOf = async (session: Session) => (await stateOf(session))?.session.status
  const removeWallet = async (session: Session): Promise<void> => {
    const [wallet] = (await stateOf(session))?.wallets ?? []
    const target = { organizationId, sessionId: session.id, walletId: wallet?.id ?? '', actor: 'person' }
    await world.store.sessionWallets.remove(target)
  }
  /** Submits a session with all parts. */
  const submitted = async (): Promise<Session> => {
    const session = await world.session(organizationId)
    await connect(session)
    await connect(session, evmWallet(2))
    await world.evidence.putFields(session, FIELDS)
    await submit(session)
    return session
  }

  test('a session with all parts is completed', async () => {
    const session = await submitted()
    await change(session, 'completed')
    expect(await statusOf(session)).toBe('completed')
    expect((await eventsOf(session)).map(({ overridden }) => overridden)).toEqual([[], [], [], [], [], []])
  })

  test('a session without a wallet or a part of the evidence is refused with the missing parts', async () => {
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

  test('an operator’s override completes a session, and the history keeps the missing parts', async () => {
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
    // A confirmed hit needs an override too.
    const listed = await submitted()
    const { id: hitId } = await openHit(world.store, organizationId, listed.id)
    const confirmation = { state: 'confirmed', by: 'ada', reason: 'The same person.' } as const
    await world.store.screeningChecks.decideHit({ organizationId, sessionId: listed.id, hitId }, confirmation)
    await expect(change(listed, 'completed')).rejects.toThrow('only an operator’s override completes the session')
    await expect(change(listed, 'completed', { override: 'person', actor: 'policy:p:1' })).rejects.toThrow('confirmed')
    await change(listed, 'completed', { override: 'person' })
    expect((await eventsOf(listed)).at(-1)?.overridden).toEqual(['confirmed-hit'])
  })

  test('the sandbox’s override completes no live session', async () => {
    const session = await world.session(organizationId)
    const refused = { code: 'SESSION_INCOMPLETE' }
    await expect(change(session, 'completed', { override: 'sandbox' })).rejects.toMatchObject(refused)
  })

  test('removed evidence and evidence of other sessions do not count', async () => {
    const other = await submitted()
    const session = await world.session(organizationId)
    await connect(session)
    await connect(session, evmWallet(2))
    await removeWallet(session)
    await removeWallet(session)
    expect(await world.store.sessions.findMissing(session)).toContain('wallets')
    expect(await world.store.sessions.findMissing(other)).toEqual([])
  })

  describe('checks of an open session', () => {
    const PENDING = { name: 'ChecksPendingError', retryAfterSeconds: 5 }
    const complete = (session: Session) => change(session, 'completed', { override: 'person' })
    const queue = (session: Session) => world.store.sessions.queueMissingChecks(organizationId, session.id)
    const claim = () => world.store.sessionChecks.claim(10, 60)
    const makeChecks = (session: Session) => markChecksMade(world.store, organizationId, session.id)

    test('are made, again after each connected wallet, before an override completes it', async () => {
      const session = await world.session(organizationId)
      const { session: connected } = await connect(session)
      await expect(complete(session)).rejects.toMatchObject(PENDING)
      expect(await claim()).toEqual([])
      await queue(session)
      await queue(session)
      expect(await claim()).toMatchObject([{ sessionId: session.id, sequence: connected.sequence, attempts: 0 }])
      await expect(complete(session)).rejects.toMatchObject(PENDING)
      await makeChecks(session)
      await connect(session, evmWallet(2))
      await expect(complete(session)).rejects.toMatchObject(PENDING)
      await makeChecks(session)
      await complete(session)
      expect(await statusOf(session)).toBe('completed')
      await queue(session)
      expect(await world.store.sessionChecks.isPending(organizationId, session.id)).toBe(false)
    })

    test('are made again if they are older than ten minutes', async () => {
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

    test('are not required without a wallet, and not queued for an incomplete session', async () => {
      const empty = await world.session(organizationId)
      await connect(empty)
      await removeWallet(empty)
      await complete(empty)
      const incomplete = await world.session(organizationId)
      await connect(incomplete)
      await expect(change(incomplete, 'completed')).rejects.toMatchObject({ code: 'SESSION_INCOMPLETE' })
    })
  })

  describe('a change that is not submitted', () => {
    test.each<[string, (session: Session) => Promise<unknown>]>([
      ['a changed field', (session) => world.evidence.putFields(session, { ...FIELDS, fullName: 'Somebody Else' })],
      ['another wallet', (session) => connect(session, evmWallet(3))],
      ['a removed wallet', removeWallet],
    ])('prevents the completion: %s', async (_name, make) => {
      const refused = { name: 'ChangesUnsubmittedError', code: 'SESSION_CONFLICT' }
      const session = await submitted()
      await change(session, 'retry')
      await make(session)
      await expect(change(session, 'completed')).rejects.toMatchObject(refused)
      await expect(change(session, 'completed', { override: 'person' })).rejects.toMatchObject(refused)
      expect(await statusOf(session)).toBe('retry')
      await submit(session)
      await change(session, 'completed')
      expect(await statusOf(session)).toBe('completed')
    })

    test('is required only if the person changed something: an unchanged session can be completed', async () => {
      const session = await submitted()
      await change(session, 'retry')
      await change(session, 'completed')
      expect(await statusOf(session)).toBe('completed')
    })
  })
})
