// Promise: two accounts whose links one person received never approve each other's changes, whichever organization the
// links belong to. Links from before the rule count too, except between two who were its administrators at the start.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { beginRule } from '../../../src/admin/second-person/approvers.ts'
import { describeStores } from '../../store/dialects.ts'
import { type Harness, type Organization, type Person, startHarness } from '../support/harness.ts'

interface Link {
  readonly url: string
}
interface Reply extends Partial<Link> {
  readonly id?: string
  readonly user?: { readonly id: string }
}
type Caller = { readonly cookie: string } | { readonly key: string }

type Rule = 'alpha' | 'beta' | 'deployment'

describeStores((open) => {
  let harness: Harness
  let organizations: Readonly<Record<'alpha' | 'beta', Organization>>
  let root: Person

  beforeEach(async () => {
    harness = await startHarness(open)
    const alpha = await harness.organization('alpha')
    organizations = { alpha, beta: await harness.organization('beta') }
    root = await harness.person({ email: 'root@example.com', deploymentAdmin: true })
  })
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
  const accountOf = async (email: string): Promise<string> => (await harness.store.users.findByEmail(email))?.id ?? ''
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
            expect(await together('alpha', [bob, carol], 'POST', '/organizations/alpha/members', asks)).toBe(200)
            const [offer] = await harness.store.membershipOffers.listOf(puppets[at]?.id ?? '')
            const renewer = maker === 'deployment admin' ? root : at === 0 ? bob : carol
            const renewed = await send(renewer, 'POST', `/organizations/alpha/member-offers/${offer?.id}/link`)
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
})
