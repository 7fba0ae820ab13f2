// Attacks on the second-person rule in organizations that enable it: a view that hides a change, a setting that removes
// a hit, and approval by accounts of the requester.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { runCommand } from '../service/start-service.ts'
import { nextSecond, until } from '../support/until.ts'
import type { Abuse } from './abuse.ts'
import { submitted } from './abuse-names.ts'
import type { Answer, CallOptions, Deployment, Person } from './deployment.ts'

const ADMIN = 'organization-admin'
const NOBODY_SEES = 'the request changes nothing that an approver could review'
const NOT_INDEPENDENT = 'an independent administrator must approve this change'

/** Creates two independent administrators, and a key that the first one receives. */
const organization = async ({ admin, must, deploymentKey, invite }: Deployment, slug: string) => {
  const path = `/organizations/${slug}`
  const created = await must('POST', '/organizations', {
    key: deploymentKey,
    body: { slug, name: slug, admin_key: true },
  })
  const ada = await invite(slug, created.body.admin_key, `ada@${slug}.example`, ADMIN)
  const bob = await invite(slug, created.body.admin_key, `bob@${slug}.example`, ADMIN)
  const issue = async (kind: string): Promise<string> =>
    (await must('POST', `${path}/keys`, { cookie: ada.cookie, body: { name: kind, kind } })).body.key
  return {
    path,
    ada,
    bob,
    key: await issue('admin'),
    issue,
    call: (method: string, at: string, options: CallOptions) => admin(method, path + at, options),
    turnOn: async () => {
      await must('PATCH', `${path}/settings`, { cookie: ada.cookie, body: { second_person: true } })
      await nextSecond()
    },
    decide: (asked: Answer, { cookie }: Person) =>
      admin('POST', `${path}/approvals/${asked.body?.id}/decide`, { cookie, body: { approve: true } }),
  }
}

const hiddenChange: Abuse = {
  row: 28,
  name: 'second-person-sees-no-change',
  mustHappen: 'two paths of one host look different to an approver; what looks the same is not asked for',
  run: async (deployment, faults) => {
    const world = await organization(deployment, 'hidden')
    const { ada, bob, call, decide } = world
    await deployment.must('POST', `${world.path}/lists`, { cookie: ada.cookie, body: { name: 'partners' } })
    await world.turnOn()
    const ask = (path: string) =>
      call('PUT', '/lists/partners/source', {
        cookie: ada.cookie,
        body: { url: `https://lists.example${path}`, format: 'csv' },
      })
    faults.status('the first source', await decide(await ask('/acme/main.csv'), bob), 200)
    for (const path of ['/mallory/main.csv', '/acme/other.csv', '/acme/main.csv?branch=mine']) {
      const asked = await ask(path)
      faults.status(path, asked, 202)
      const { body } = await call('GET', '/approvals', { cookie: bob.cookie })
      const seen = body.data.find(({ id }: { id: string }) => id === asked.body?.id)?.changes?.[0]
      faults.holds(`${path}: ${JSON.stringify(seen)}`, seen !== undefined && seen.before !== seen.after)
      faults.holds(`${path} is not shown`, seen?.after.includes(path.split('?')[0]) === true)
    }
    const same = await ask('/acme/main.csv')
    faults.status('the same source again', same, 409)
    faults.holds(`the same source again: ${same.text}`, same.text.includes(NOBODY_SEES))
  },
}

const LISTED = 'id,kind,name\ns1,person,Radoslava Hitova Primerova\n'

const vanishingHit: Abuse = {
  row: 57,
  name: 'hit-vanishes-by-a-setting',
  mustHappen: 'a higher threshold needs a second person, and the open hit remains',
  run: async (deployment, faults) => {
    const { service } = deployment
    const { ada, bob, key, issue, call, turnOn, decide } = await organization(deployment, 'vanishing')
    const file = join(service.dataDirectory, 'second-person.csv')
    writeFileSync(file, LISTED)
    const words = ['screening-list', 'import', 'second-person', file, '--format', 'csv']
    const { code, stderr } = await runCommand(service.dataDirectory, ...words)
    faults.holds(`the list was refused: ${stderr}`, code === 0)
    const { sessionId } = await submitted(deployment, await issue('identity'), 'Radoslava Hitova Primerov')
    await turnOn()
    const compared = async (threshold: number) => {
      const read = () => call('GET', `/sessions/${sessionId}/checks/lists`, { cookie: bob.cookie })
      await until(async () => (await read()).body?.threshold === threshold, { limitMs: 60_000 })
      return (await read()).body
    }
    const { hits } = await compared(75)
    faults.holds(`hits: ${JSON.stringify(hits)}`, hits.length === 1 && hits[0].state === 'open' && hits[0].score < 100)

    const body = { threshold: 100 }
    faults.status('a key', await call('PUT', '/screening', { key, body }), 403)
    const asked = await call('PUT', '/screening', { cookie: ada.cookie, body })
    faults.status('one person', asked, 202)
    faults.status('the requester', await decide(asked, ada), 409)
    const settings = await call('GET', '/screening', { key })
    faults.holds(`the threshold is ${settings.body?.threshold}`, settings.body?.threshold === 75)

    faults.status('a second person', await decide(asked, bob), 200)
    const later = await compared(100)
    faults.holds(`afterwards: ${JSON.stringify(later)}`, later.outcome === 'look' && later.hits[0]?.state === 'open')
    const { sequence } = (await call('GET', `/sessions/${sessionId}`, { cookie: bob.cookie })).body
    const completed = await call('POST', `/sessions/${sessionId}/decide`, {
      cookie: bob.cookie,
      body: { status: 'completed', sequence },
    })
    faults.status('a decision despite the open hit', completed, 409)
  },
}

/** Creates an account that no administrator of the organization created. */
const outsider = async ({ must, root, welcome }: Deployment, email: string): Promise<Person> => {
  const body = { email, name: 'Outsider', deployment_admin: false }
  const { user, invitation } = (await must('POST', '/users', { cookie: root.cookie, body })).body
  return { id: user.id, email, cookie: await welcome(invitation.url) }
}

const puppetApproves: Abuse = {
  row: 28,
  name: 'puppet-approves',
  mustHappen: 'an account created with a key, a repeated invitation or a renewed offer cannot approve for its creator',
  run: async (deployment, faults) => {
    const { admin, must, invite, welcome } = deployment
    const { path, ada, bob, key, call, turnOn, decide } = await organization(deployment, 'puppets')
    const byBob = (email: string) =>
      call('POST', '/members', { cookie: bob.cookie, body: { email, name: 'Puppet', role: ADMIN } })
    const ofKey = await invite('puppets', key, 'key@puppets.example', ADMIN)
    const invited = (await byBob('again@puppets.example')).body.member.user_id
    await turnOn()

    const again = await must('POST', `${path}/members/${invited}/invitation`, { cookie: ada.cookie, body: {} })
    const ofInvitation = { id: invited, email: 'again@puppets.example', cookie: await welcome(again.body.url) }

    const ofOffer = await outsider(deployment, 'joiner@elsewhere.example')
    faults.status('the offer', await decide(await byBob(ofOffer.email), ada), 200)
    const [offer] = (await call('GET', '/member-offers', { cookie: ada.cookie })).body.data
    const renewed = await must('POST', `${path}/member-offers/${offer.id}/link`, { cookie: ada.cookie, body: {} })
    const [id = '', code = ''] = new URL(renewed.body.url).hash.slice(1).split('.')
    const accepted = await admin('POST', `/me/offers/${id}/accept`, { cookie: ofOffer.cookie, body: { code } })
    faults.status('the acceptance', accepted, 204)
    await nextSecond()

    const asked = await call('PUT', '/minimum-age', { cookie: ada.cookie, body: { years: 16 } })
    faults.status('the change', asked, 202)
    for (const [what, puppet] of Object.entries({ ofKey, ofInvitation, ofOffer })) {
      const answer = await decide(asked, puppet)
      faults.status(what, answer, 409)
      faults.holds(`${what}: ${answer.text}`, answer.text.includes(NOT_INDEPENDENT))
    }
    faults.status('an independent administrator', await decide(asked, bob), 200)
  },
}

export const SECOND_PERSON_ABUSES: readonly Abuse[] = [hiddenChange, vanishingHit, puppetApproves]
