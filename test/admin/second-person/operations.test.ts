// Every operation that changes something is classified: it waits for a second person where the rule is on, or it is listed
// here with the reason why it does not. Those that wait change nothing before someone else approves, and are done then.
import { describe, expect, test } from 'bun:test'
import { isUnsafe } from '../../../src/admin/route.ts'
import { ADMIN_ROUTES } from '../../../src/admin/route-table.ts'
import { startWorld } from './world.ts'

const named = (reason: string, ...operations: readonly string[]): Readonly<Record<string, string>> =>
  Object.fromEntries(operations.map((operation) => [operation, reason]))

/** Deliberately without a second person. */
const ALONE: Readonly<Record<string, string>> = {
  ...named(
    'the account’s own sign-in; it gives no right',
    'signIn',
    'signInCode',
    'passkeySignInOptions',
    'passkeySignIn',
    'signOut',
    'describeLink',
    'useLink',
    'renameAccount',
    'changePassword',
    'endOwnSession',
    'endOtherSessions',
    'confirm',
    'proposeTotp',
    'confirmTotp',
    'removeTotp',
    'passkeyOptions',
    'addPasskey',
    'removePasskey',
    'confirmPasskeyOptions',
    'confirmPasskey',
  ),
  ...named('urgent; who makes the link belongs together with the account from then on', 'recoverUser'),
  ...named(
    'gives nobody a right; asks for a fresh proof, and can be turned on only by who has a second factor',
    'changeSecondFactorRule',
    'changeDeploymentSecondFactorRule',
  ),
  ...named('urgent, and takes nothing but access away', 'endUserSessions', 'revokeKey'),
  ...named('decides nothing; who makes the link belongs together with the account', 'inviteMemberAgain'),
  ...named('a new organization signs for nobody yet, and has its own rule', 'createOrganization'),
  ...named('keys are refused wherever the rule asks for a person', 'issueKey', 'regenerateKey'),
  ...named('not live until it is activated', 'createPolicy', 'saveRevision'),
  ...named('words for people, always with the address beside them', 'labelAddress'),
  ...named('a call that whoever has its key may make anyway', 'tryProject'),
  ...named('its verdicts are recorded and never answered', 'shadowRevision'),
  ...named(
    'asks, and changes nothing',
    'checkPolicy',
    'testPolicy',
    'simulatePolicy',
    'simulateSessionPolicy',
    'replayPolicy',
  ),
  ...named('asks, and changes nothing', 'tryThresholds'),
  ...named('reads now what is read regularly anyway', 'refreshListSource', 'refreshSharedListSource'),
  ...named(
    'what sessions are compared with; it decides nothing by itself, and a reviewer decides each hit with a reason',
    'enableScreeningList',
    'disableScreeningList',
    'changeScreeningSettings',
  ),
  ...named('no verdict depends on it', 'changeBrand', 'changeRetention', 'changeMinimumAge', 'resizePool', 'cancelJob'),
  ...named('no verdict depends on it', 'cancelDeploymentJob', 'rebuildDecisionIndex', 'verifyDecisions'),
  ...named(
    'the review of one person, with its own roles and history',
    'assignSession',
    'decideSession',
    'decideListHit',
    'revokeSession',
    'readEvidenceFields',
    'readDocumentZone',
    'readPolicyDecisionFacts',
    'searchSessions',
    'makeSession',
    'linkSession',
    'eraseEvidence',
  ),
  ...named('decides as an endpoint that its organization’s admins may add anyway', 'setWebhookService'),
  ...named(
    'tells others what was decided, and decides nothing',
    'addWebhookEndpoint',
    'rotateWebhookSecret',
    'removeWebhookEndpoint',
    'resendWebhookMessage',
    'resendDeadWebhookMessages',
  ),
  ...named('takes back, or gives back, what nobody has yet', 'withdrawMemberOffer', 'declineOffer'),
  ...named('the link is of use to the account alone that was asked', 'renewMemberOffer'),
  ...named('one’s own yes to what was asked with a second person', 'acceptOffer'),
  ...named('is the second person', 'decideApproval', 'decideDeploymentApproval'),
}

const covered = ADMIN_ROUTES.filter(({ secondPerson }) => secondPerson !== null)
/** Beside those that only need a person. */
const waiting = covered.filter(({ operationId }) => operationId !== 'inviteMemberAgain')

describe('every operation that changes something', () => {
  const unsafe = ADMIN_ROUTES.filter(({ method }) => isUnsafe(method))

  test('waits for a second person, or is named here with the reason why not', () => {
    const unclassified = unsafe
      .filter(({ operationId, secondPerson }) => secondPerson === null && !Object.hasOwn(ALONE, operationId))
      .map(({ operationId }) => operationId)
    expect(unclassified).toEqual([])
  })

  test('is named only where it is so', () => {
    const known = new Set(ADMIN_ROUTES.map(({ operationId }) => operationId))
    expect(Object.keys(ALONE).filter((operationId) => !known.has(operationId))).toEqual([])
    const both = waiting.filter(({ operationId }) => Object.hasOwn(ALONE, operationId))
    expect(both.map(({ operationId }) => operationId)).toEqual([])
  })

  test('that waits has a request here', async () => {
    const world = await startWorld()
    try {
      expect(Object.keys(world.requests).sort()).toEqual(waiting.map(({ operationId }) => operationId).sort())
    } finally {
      await world.close()
    }
  })
})

describe('where the rule is on', () => {
  for (const { operationId, method } of waiting) {
    test(`${operationId} is refused to a key, waits, and is done when someone else approves`, async () => {
      const world = await startWorld()
      try {
        await world.setRule(true)
        await world.setDeploymentRule(true)
        const [path, { deployment = false, ...options }] = world.requests[operationId] ?? ['', {}]
        const [asker, approver] = deployment ? [world.root, world.rita] : [world.ada, world.bob]
        const ask = () => world.call(method, `${path}?comment=because`, { ...options, cookie: asker.cookie })
        const key = await world.harness.issueKey(
          world.alpha.id,
          'admin',
          deployment ? ['admin', 'deployment'] : ['admin'],
        )
        const before = await world.state()
        // Whoever holds a key can't be told from who asks with it.
        expect((await world.call(method, path, { ...options, key })).status).toBe(403)
        expect(await world.state()).toBe(before)

        const unwanted = await ask()
        expect((await world.decide(unwanted.body.id, false, approver, deployment)).body['state']).toBe('rejected')
        expect((await world.decide(unwanted.body.id, true, approver, deployment)).status).toBe(409)
        expect(await world.state()).toBe(before)

        const asked = await ask()
        expect([asked.status, asked.body['state'], asked.body['comment']]).toEqual([202, 'pending', 'because'])
        expect([asked.body['name'] === '', asked.body['changes']]).not.toEqual([true, []])
        expect(await world.state()).toBe(before)
        // The one who asked can't let it pass.
        expect((await world.decide(asked.body.id, true, asker, deployment)).status).toBe(409)
        expect(await world.state()).toBe(before)
        const approved = await world.decide(asked.body.id, true, approver, deployment)
        expect([approved.status, approved.body['state']]).toEqual([200, 'approved'])
        expect(await world.state()).not.toBe(before)
      } finally {
        await world.close()
      }
    })
  }
})
