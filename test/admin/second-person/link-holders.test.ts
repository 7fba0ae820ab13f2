// Two accounts whose links one person received never approve each other's changes, even if the links belong to another
// organization. Links from before the rule count too, except between administrators at the start of the rule.
import { beforeEach, describe, expect, test } from 'bun:test'
import { beginRule, requireApprover } from '../../../src/admin/second-person/approvers.ts'
import { createRandom } from '../../attack/random.ts'
import { describeStores } from '../../store/dialects.ts'
import { harnessOfTest, type Organization, PASSWORD, type Person } from '../support/harness.ts'

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
  const harness = harnessOfTest(open)
  let organizations: Readonly<Record<'alpha' | 'beta', Organization>>
  let root: Person

  beforeEach(async () => {
    organizations = { alpha: await harness.organization('alpha'), beta: await harness.organization('beta') }
    root = await harness.person({ email: 'root@example.com', deploymentAdmin: true })
  })

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
  /** Sets the password of an account and signs in. */
  const signIn = async (userId: string): Promise<Person> => {
    const { store, services } = harness
    await store.users.setPassword(userId, await services.passwords.hash(PASSWORD, []))
    harness.clock.advance(1)
    return { id: userId, cookie: await harness.signIn(userId) }
  }
  const accept = async (person: Person, url = 'https://a/#') => {
    const [offer = '', code = ''] = new URL(url).hash.slice(1).split('.')
    return (await send(person, 'POST', `/me/offers/${offer}/accept`, { code })).status
  }
  const accountOf = async (email: string): Promise<string> =>
    (await harness.store.users.findByEmail(email))?.id ?? 'unknown'
  const admin = (name: string, rule: Rule): Promise<Person> =>
    harness.person({
      email: `${name}@example.com`,
      ...(rule === 'deployment'
        ? { deploymentAdmin: true }
        : { roles: { [organizations[rule].id]: 'organization-admin' } }),
    })
  /** Requests a change and approves it; returns the status of the approval. */
  const requestAndApprove = async (
    rule: Rule,
    [requester, approver]: readonly [Person, Person],
    ...request: Request
  ) => {
    const { status, body } = await send(requester, ...request)
    expect(status).toBe(202)
    const path = `${baseOf(rule)}/approvals/${body.id}/decide`
    return (await send(approver, 'POST', path, { approve: true })).status
  }
  type Request = readonly [method: string, path: string, body: object]
  const invitation = (email: string, role: string) => ({ email, name: 'Member', role })
  const disabling = (rule: Rule): Request => [
    'PATCH',
    rule === 'deployment' ? '/deployment/settings' : `${baseOf(rule)}/settings`,
    { second_person: false },
  ]

  describe('two accounts whose links one person received', () => {
    let ada: Person
    let bob: Person
    let carol: Person
    const createAdmins = async (rule: Rule): Promise<void> => {
      ada = await admin('ada', rule)
      bob = await admin('bob', rule)
      carol = await admin('carol', rule)
    }
    /** Adds an account to alpha by an offer of two administrators, with the link of the recipient. */
    const joinAlpha = async (
      { id }: Person,
      email: string,
      admins: readonly [Person, Person] = [bob, carol],
      recipient = admins[0],
    ): Promise<string> => {
      const body = invitation(email, 'organization-admin')
      expect(await requestAndApprove('alpha', admins, 'POST', '/organizations/alpha/members', body)).toBe(200)
      const [offer] = await harness.store.membershipOffers.listOf(id)
      const renewed = await send(recipient, 'POST', `/organizations/alpha/member-offers/${offer?.id}/link`)
      return renewed.body.url ?? ''
    }
    const [DAN, EVE] = ['dan@example.com', 'eve@example.com']

    for (const creator of ['member', 'key', 'deployment admin'] as const) {
      test.each(['before', 'under'])(
        `are dependent if one ${creator} of another organization created them %s the rule`,
        async (time) => {
          await createAdmins('alpha')
          await harness.store.memberships.add(organizations.beta.id, ada.id, 'organization-admin')
          if (time === 'under') await startRule('alpha')
          const create = async (email: string): Promise<Person> => {
            const caller = creator === 'member' ? ada : { key: organizations.beta.key }
            const created =
              creator === 'deployment admin'
                ? await send(root, 'POST', '/users', { email, name: 'N', deployment_admin: false })
                : await send(caller, 'POST', '/organizations/beta/members', invitation(email, 'viewer'))
            expect(created.status).toBe(201)
            return signIn(await accountOf(email))
          }
          const [dan, eve] = [await create(DAN), await create(EVE)]
          if (time === 'before') await startRule('alpha')
          expect(await accept(dan, await joinAlpha(dan, DAN))).toBe(204)
          expect(await accept(eve, await joinAlpha(eve, EVE, [carol, bob]))).toBe(204)
          expect(await requestAndApprove('alpha', [dan, eve], ...disabling('alpha'))).toBe(409)
        },
      )
    }

    test('are dependent if one administrator renewed their offers', async () => {
      await createAdmins('alpha')
      await startRule('alpha')
      const join = async (email: string): Promise<Person> => {
        const person = await harness.person({ email })
        expect(await accept(person, await joinAlpha(person, email, [bob, carol], ada))).toBe(204)
        return person
      }
      const [dan, eve] = [await join(DAN), await join(EVE)]
      expect(await requestAndApprove('alpha', [dan, eve], ...disabling('alpha'))).toBe(409)
      expect(await requestAndApprove('alpha', [dan, root], ...disabling('alpha'))).toBe(200)
    })

    test('are dependent if one deployment admin created them and others promoted them', async () => {
      await createAdmins('deployment')
      await startRule('deployment')
      const create = async (email: string): Promise<Person> => {
        const created = await send(ada, 'POST', '/users', { email, name: 'N', deployment_admin: false })
        expect(created.status).toBe(201)
        const person = await signIn(created.body.user?.id ?? '')
        const promotion: Request = ['PATCH', `/users/${person.id}`, { deployment_admin: true }]
        expect(await requestAndApprove('deployment', [bob, carol], ...promotion)).toBe(200)
        return person
      }
      const [dan, eve] = [await create(DAN), await create(EVE)]
      for (const [pair, status] of [
        [[dan, eve], 409],
        [[ada, dan], 409],
        // The requester of the promotion counts as a creator; its approver doesn't.
        [[dan, carol], 200],
      ] as const) {
        expect(await requestAndApprove('deployment', pair, ...disabling('deployment'))).toBe(status)
      }
    })

    test('are independent if they were administrators when the rule was enabled', async () => {
      await createAdmins('alpha')
      const create = async (email: string): Promise<Person> => {
        const body = invitation(email, 'organization-admin')
        expect((await send(ada, 'POST', '/organizations/alpha/members', body)).status).toBe(201)
        return signIn(await accountOf(email))
      }
      const [dan, eve, { id }] = [await create(DAN), await create(EVE), await create('late@example.com')]
      const { memberships } = harness.store
      await memberships.setRole(organizations.alpha.id, id, 'viewer')
      await startRule('alpha')
      // Enabling the rule again does not make later administrators independent.
      await memberships.setRole(organizations.alpha.id, id, 'organization-admin')
      const again = await send(bob, 'PATCH', '/organizations/alpha/settings', { second_person: true })
      expect(again.status).toBe(200)
      const late = await signIn(id)
      expect(await requestAndApprove('alpha', [dan, late], ...disabling('alpha'))).toBe(409)
      expect(await requestAndApprove('alpha', [dan, eve], ...disabling('alpha'))).toBe(200)
    })
  })

  /**
   * Makes random changes in two organizations and the deployment. The model searches every response for links, so it doesn't
   * depend on the code that records their recipients.
   */
  const walk = async (seed: number): Promise<{ readonly permitted: number; readonly refused: number }> => {
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
    /** Records the recipient of a link in the response. */
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
        if ((await accept(accepts, body.acceptance.url)) !== 204) return
        edges.push({ userId: accepts.id, holder: caller.id, rule, isRecovery: false, step })
      },
      async () => {
        const caller = await anyAdmin('deployment')
        const isAdmin = random.chance(0.3)
        const account = { email: email(), name: 'N', deployment_admin: isAdmin }
        const body = await submit('deployment', caller, 'POST', '/users', account)
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
        if ((await accept(accepts, body.url)) !== 204) return
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
        const [method, path] = disabling(rule)
        await submit(rule, await anyAdmin(rule), method, path, { second_person: on })
      },
      async () => {
        // An invited person or the recipient of the link sets the password.
        for (const userId of invited) {
          if ((await store.users.find(userId))?.disabledAtSeconds === null) callers.set(userId, await signIn(userId))
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

  test.each([1, 2, 3, 5, 6, 7])(
    'a random walk permits no approval between two accounts of one recipient (seed %i)',
    async (seed) => {
      const { permitted, refused } = await walk(seed)
      expect([permitted > 100, refused > 100]).toEqual([true, true])
    },
    120_000,
  )
})
