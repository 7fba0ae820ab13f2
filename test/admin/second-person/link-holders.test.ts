// Promise: two accounts whose links one person received never approve each other's changes, whichever organization the
// links belong to. Links from before the rule count too, except between two who were its administrators at the start.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { beginRule, requireApprover } from '../../../src/admin/second-person/approvers.ts'
import { createRandom } from '../../attack/random.ts'
import { describeStores } from '../../store/dialects.ts'
import { type Harness, type Organization, type Person, startHarness } from '../support/harness.ts'

interface Link {
  readonly url: string
}
interface Reply extends Partial<Link> {
  readonly id?: string
  readonly user?: { readonly id: string }
  readonly member?: { readonly user_id: string } | null
  readonly invitation?: Link | null
  readonly offer?: { readonly email: string } | null
  readonly acceptance?: Link | null
}

/** A received link, in the model. */
interface Edge {
  readonly userId: string
  readonly holder: string
  /** Null for a link that sets the password. */
  readonly rule: Rule | null
  readonly isRecovery: boolean
  readonly step: number
}
type Caller = { readonly cookie: string } | { readonly key: string }

type Rule = 'alpha' | 'beta' | 'deployment'

describeStores((open) => {
  let harness: Harness
  let organizations: Readonly<Record<'alpha' | 'beta', Organization>>
  let root: Person

  const start = async (): Promise<void> => {
    harness = await startHarness(open)
    const alpha = await harness.organization('alpha')
    organizations = { alpha, beta: await harness.organization('beta') }
    root = await harness.person({ email: 'root@example.com', deploymentAdmin: true })
  }
  beforeEach(start)
  afterEach(() => harness.close())

  const idOf = (rule: Rule): string | null => (rule === 'deployment' ? null : organizations[rule].id)
  const baseOf = (rule: Rule): string => (rule === 'deployment' ? '' : `/organizations/${rule}`)
  const send = async (caller: Caller, method: string, path: string, body: object = {}) => {
    const reply = await harness.call<Reply>(method, path, { ...caller, body })
    harness.clock.advance(1)
    return reply
  }
  const startRule = async (rule: Rule): Promise<void> => {
    const id = idOf(rule)
    await beginRule(harness.store, id)
    if (id === null) await harness.store.organizationSettings.setDeploymentSecondPerson(true)
    else await harness.store.organizationSettings.setSecondPerson(id, true)
    harness.clock.advance(1)
  }
  const use = async (userId: string): Promise<Person> => {
    const { store, services } = harness
    await store.users.setPassword(userId, await services.passwords.hash('correct horse battery staple', []))
    harness.clock.advance(1)
    return { id: userId, cookie: await harness.signIn(userId) }
  }
  const accept = async (who: Person, url: string) => {
    const [offer = '', code = ''] = new URL(url).hash.slice(1).split('.')
    return send(who, 'POST', `/me/offers/${offer}/accept`, { code })
  }
  const accountOf = async (email: string): Promise<string> =>
    (await harness.store.users.findByEmail(email))?.id ?? 'nobody'
  const admin = (name: string, rule: Rule): Promise<Person> =>
    harness.person({
      email: `${name}@example.com`,
      ...(rule === 'deployment'
        ? { deploymentAdmin: true }
        : { roles: { [organizations[rule].id]: 'organization-admin' } }),
    })
  /** Requests a change and approves it. */
  const together = async (rule: Rule, [asker, approver]: readonly [Person, Person], ...request: Request) => {
    const asked = await send(asker, ...request)
    expect(asked.status).toBe(202)
    const path = `${baseOf(rule)}/approvals/${asked.body.id}/decide`
    return (await send(approver, 'POST', path, { approve: true })).status
  }
  type Request = readonly [method: string, path: string, body: object]
  const invitation = (email: string, role: string) => ({ email, name: 'Somebody', role })
  const turnOff = (rule: Rule): Request => [
    'PATCH',
    rule === 'deployment' ? '/deployment/settings' : `${baseOf(rule)}/settings`,
    { second_person: false },
  ]

  describe('one administrator with the links of two accounts', () => {
    let ada: Person
    let bob: Person
    let carol: Person
    const people = async (rule: Rule): Promise<void> => {
      ada = await admin('ada', rule)
      bob = await admin('bob', rule)
      carol = await admin('carol', rule)
    }
    for (const maker of ['member', 'key', 'deployment admin'] as const) {
      for (const isEarly of [true, false]) {
        const when = isEarly ? 'before the rule' : 'under the rule'
        test(`of another organization, created by a ${maker} ${when}, controls at most one of the two`, async () => {
          await people('alpha')
          await harness.store.memberships.add(organizations.beta.id, ada.id, 'organization-admin')
          if (!isEarly) await startRule('alpha')
          const create = async (email: string): Promise<Person> => {
            const made =
              maker === 'deployment admin'
                ? await send(root, 'POST', '/users', { email, name: 'N', deployment_admin: false })
                : await send(
                    maker === 'member' ? ada : { key: organizations.beta.key },
                    'POST',
                    '/organizations/beta/members',
                    invitation(email, 'viewer'),
                  )
            expect(made.status).toBe(201)
            return use(await accountOf(email))
          }
          const puppets = [await create('dan@example.com'), await create('eve@example.com')] as const
          if (isEarly) await startRule('alpha')
          for (const [at, email] of ['dan@example.com', 'eve@example.com'].entries()) {
            const asks = invitation(email, 'organization-admin')
            const pair = at === 0 ? ([bob, carol] as const) : ([carol, bob] as const)
            expect(await together('alpha', pair, 'POST', '/organizations/alpha/members', asks)).toBe(200)
            const [offer] = await harness.store.membershipOffers.listOf(puppets[at]?.id ?? '')
            const renewed = await send(pair[0], 'POST', `/organizations/alpha/member-offers/${offer?.id}/link`)
            expect((await accept(puppets[at] ?? ada, renewed.body.url ?? '')).status).toBe(204)
          }
          expect(await together('alpha', puppets, ...turnOff('alpha'))).toBe(409)
        })
      }
    }

    test('by the renewed links of two offers controls at most one of the two', async () => {
      await people('alpha')
      await startRule('alpha')
      const join = async (email: string): Promise<Person> => {
        const person = await harness.person({ email })
        const asks = invitation(email, 'organization-admin')
        expect(await together('alpha', [bob, carol], 'POST', '/organizations/alpha/members', asks)).toBe(200)
        const [offer] = await harness.store.membershipOffers.listOf(person.id)
        const renewed = await send(ada, 'POST', `/organizations/alpha/member-offers/${offer?.id}/link`)
        expect((await accept(person, renewed.body.url ?? '')).status).toBe(204)
        return person
      }
      const [dan, eve] = [await join('dan@example.com'), await join('eve@example.com')]
      expect(await together('alpha', [dan, eve], ...turnOff('alpha'))).toBe(409)
      expect(await together('alpha', [dan, root], ...turnOff('alpha'))).toBe(200)
    })

    test('who created two accounts without rights controls at most one deployment admin', async () => {
      await people('deployment')
      await startRule('deployment')
      const create = async (email: string): Promise<Person> => {
        const made = await send(ada, 'POST', '/users', { email, name: 'N', deployment_admin: false })
        expect(made.status).toBe(201)
        const person = await use(made.body.user?.id ?? '')
        const promote = { deployment_admin: true }
        expect(await together('deployment', [bob, carol], 'PATCH', `/users/${person.id}`, promote)).toBe(200)
        return person
      }
      const [dan, eve] = [await create('dan@example.com'), await create('eve@example.com')]
      expect(await together('deployment', [dan, eve], ...turnOff('deployment'))).toBe(409)
      expect(await together('deployment', [ada, dan], ...turnOff('deployment'))).toBe(409)
      // The requester of the promotion counts as a creator; its approver doesn't.
      expect(await together('deployment', [dan, carol], ...turnOff('deployment'))).toBe(200)
    })

    test('whose accounts were administrators when the rule was turned on is accepted', async () => {
      await people('alpha')
      const create = async (email: string): Promise<Person> => {
        const asks = invitation(email, 'organization-admin')
        expect((await send(ada, 'POST', '/organizations/alpha/members', asks)).status).toBe(201)
        return use(await accountOf(email))
      }
      const [dan, eve] = [await create('dan@example.com'), await create('eve@example.com')]
      await create('late@example.com')
      await harness.store.memberships.setRole(organizations.alpha.id, await accountOf('late@example.com'), 'viewer')
      await startRule('alpha')
      // Turning it on again accepts nobody else.
      await harness.store.memberships.setRole(
        organizations.alpha.id,
        await accountOf('late@example.com'),
        'organization-admin',
      )
      const again = await send(bob, 'PATCH', '/organizations/alpha/settings', { second_person: true })
      expect(again.status).toBe(200)
      const late = await use(await accountOf('late@example.com'))
      expect(await together('alpha', [dan, late], ...turnOff('alpha'))).toBe(409)
      expect(await together('alpha', [dan, eve], ...turnOff('alpha'))).toBe(200)
    })
  })

  /**
   * Random changes in two organizations and the deployment. Every response is searched for links, so the model doesn't
   * depend on the places that record their recipients.
   */
  const play = async (seed: number): Promise<{ readonly permitted: number; readonly refused: number }> => {
    const random = createRandom(seed)
    const { store } = harness
    const callers = new Map<string, Person>()
    const invited = new Set<string>()
    const edges: Edge[] = []
    const acceptedAt = new Map<string, number>()
    const pending: { readonly rule: Rule; readonly id: string; readonly requester: string }[] = []
    let step = 0

    const started = (rule: Rule, userId: string): number => acceptedAt.get(`${rule} ${userId}`) ?? -1
    const reach = (rule: Rule, from: string, isOpen: boolean): ReadonlySet<string> => {
      const found = new Set([from])
      for (const userId of found) {
        for (const edge of edges) {
          if (edge.userId !== userId || (edge.rule !== null && edge.rule !== rule)) continue
          if (isOpen && !edge.isRecovery && edge.step < started(rule, userId)) continue
          found.add(edge.holder)
        }
      }
      return found
    }
    const share = (rule: Rule, left: string, right: string): boolean =>
      [...reach(rule, left, true)].some((holder) => reach(rule, right, false).has(holder))
    const isOn = async (rule: Rule): Promise<boolean> => {
      const id = idOf(rule)
      if (id === null) return store.organizationSettings.readDeploymentSecondPerson()
      return (await store.organizationSettings.read(id)).secondPerson
    }
    const administratorsOf = async (rule: Rule): Promise<readonly string[]> =>
      (await store.accountMakers.administrators(idOf(rule))).map(({ userId }) => userId)
    const anyAdmin = async (rule: Rule): Promise<Person> => {
      const known = (await administratorsOf(rule)).filter((id) => callers.has(id))
      return callers.get(random.pick(known)) ?? root
    }
    /** The account that a link in the response belongs to. */
    const receives = (holder: Person, userId: string, { url, invitation }: Reply, isRecovery = false): void => {
      if ((url ?? invitation?.url) === undefined) return
      edges.push({ userId, holder: holder.id, rule: null, isRecovery, step })
      invited.add(userId)
    }
    const someRule = (): 'alpha' | 'beta' => (random.chance(0.7) ? 'alpha' : 'beta')
    const email = (): string => `person${random.below(8)}@example.com`

    const submit = async (rule: Rule, caller: Person, ...request: Request): Promise<Reply> => {
      const { status, body } = await send(caller, ...request)
      if (status === 202) pending.push({ rule, id: body.id ?? '', requester: caller.id })
      return body
    }
    const moves: readonly (() => Promise<void>)[] = [
      async () => {
        const rule = someRule()
        const caller = await anyAdmin(rule)
        const role = random.pick(['organization-admin', 'organization-admin', 'viewer'])
        const body = await submit(rule, caller, 'POST', `${baseOf(rule)}/members`, invitation(email(), role))
        if (body.invitation) receives(caller, body.member?.user_id ?? '', body)
        const accepts = callers.get(await accountOf(body.offer?.email ?? ''))
        if (!body.acceptance || accepts === undefined) return
        if ((await accept(accepts, body.acceptance.url)).status !== 204) return
        edges.push({ userId: accepts.id, holder: caller.id, rule, isRecovery: false, step })
      },
      async () => {
        const caller = await anyAdmin('deployment')
        const isAdmin = random.chance(0.3)
        const asks = { email: email(), name: 'N', deployment_admin: isAdmin }
        const body = await submit('deployment', caller, 'POST', '/users', asks)
        receives(caller, body.user?.id ?? '', body)
      },
      async () => {
        const rule = someRule()
        const caller = await anyAdmin(rule)
        const userId = await accountOf(email())
        receives(caller, userId, (await send(caller, 'POST', `${baseOf(rule)}/members/${userId}/invitation`)).body)
      },
      async () => {
        const rule = someRule()
        const caller = await anyAdmin(rule)
        const { items } = await store.membershipOffers.page(idOf(rule) ?? '', { after: null, limit: 9 })
        const offer = items[0]
        const accepts = callers.get(offer?.userId ?? '')
        if (offer === undefined || accepts === undefined) return
        const { body } = await send(caller, 'POST', `${baseOf(rule)}/member-offers/${offer.id}/link`)
        if ((await accept(accepts, body.url ?? 'https://a/#')).status !== 204) return
        edges.push({ userId: accepts.id, holder: caller.id, rule, isRecovery: false, step })
      },
      async () => {
        if (random.chance(0.6)) return
        const caller = await anyAdmin('deployment')
        const userId = await accountOf(email())
        receives(caller, userId, (await send(caller, 'POST', `/users/${userId}/recovery`)).body, true)
      },
      async () => {
        const rule = random.pick(['alpha', 'beta', 'deployment'] as const)
        const caller = await anyAdmin(rule)
        const userId = await accountOf(email())
        const change: Request =
          rule === 'deployment'
            ? ['PATCH', `/users/${userId}`, { deployment_admin: true }]
            : ['PATCH', `${baseOf(rule)}/members/${userId}`, { role: 'organization-admin' }]
        await submit(rule, caller, ...change)
      },
      async () => {
        const rule = random.pick(['alpha', 'beta', 'deployment'] as const)
        const on = !(await isOn(rule))
        if (!on && random.chance(0.7)) return
        const [method, path] = turnOff(rule)
        await submit(rule, await anyAdmin(rule), method, path, { second_person: on })
      },
      async () => {
        // An invited person or the recipient of the link sets the password.
        for (const userId of invited) {
          if ((await store.users.find(userId))?.disabledAtSeconds === null) callers.set(userId, await use(userId))
        }
        invited.clear()
      },
      async () => {
        for (const { rule, id, requester } of pending.splice(0)) {
          for (const approver of await administratorsOf(rule)) {
            const caller = callers.get(approver)
            if (caller === undefined || approver === requester) continue
            const path = `${baseOf(rule)}/approvals/${id}/decide`
            if ((await send(caller, 'POST', path, { approve: true })).status === 200) break
          }
        }
      },
    ]

    for (const person of await Promise.all([
      admin('ada', 'alpha'),
      admin('bob', 'alpha'),
      admin('carol', 'beta'),
      admin('rita', 'deployment'),
    ])) {
      callers.set(person.id, person)
    }
    callers.set(root.id, root)
    const counts = { permitted: 0, refused: 0 }
    const on = new Map<Rule, boolean>()
    for (step = 0; step < 90; step++) {
      await random.pick(moves)()
      for (const rule of ['alpha', 'beta', 'deployment'] as const) {
        const isRuleOn = await isOn(rule)
        const administrators = await administratorsOf(rule)
        if (isRuleOn && on.get(rule) !== true) {
          for (const key of acceptedAt.keys()) if (key.startsWith(rule)) acceptedAt.delete(key)
          for (const userId of administrators) acceptedAt.set(`${rule} ${userId}`, step)
        }
        on.set(rule, isRuleOn)
        if (!isRuleOn) continue
        for (const requestedBy of administrators) {
          for (const approver of administrators) {
            if (approver === requestedBy) continue
            const request = { requestedBy, createdAtSeconds: harness.clock.unixSeconds() + 1 }
            const permits = await requireApprover(store, idOf(rule), request, approver).then(
              () => true,
              () => false,
            )
            counts[permits ? 'permitted' : 'refused'] += 1
            const isOnePerson = share(rule, requestedBy, approver) || share(rule, approver, requestedBy)
            if (permits) expect({ seed, step, rule, isOnePerson }).toEqual({ seed, step, rule, isOnePerson: false })
          }
        }
      }
    }
    return counts
  }

  test('random walks permit no approval between two accounts of one recipient', async () => {
    const total = { permitted: 0, refused: 0 }
    for (let seed = 1; seed <= 6; seed++) {
      const { permitted, refused } = await play(seed)
      total.permitted += permitted
      total.refused += refused
      await harness.close()
      await start()
    }
    expect([total.permitted > 100, total.refused > 100]).toEqual([true, true])
  }, 120_000)
})
