// Attacks with two concurrent requests. Each attack runs many rounds against a separate service on PostgreSQL, where
// transactions run concurrently.
import { randomUUID } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { systemClock } from '../../src/lib/time.ts'
import { signWebhook } from '../../src/server/webhook-signature.ts'
import { openStore } from '../../src/store/store.ts'
import { parseStoreAddress } from '../../src/store/store-address.ts'
import { createPeople } from '../dashboard/support/people.ts'
import { runCountersign } from '../service/run-to-end.ts'
import { startPostgres } from '../support/postgres-server.ts'
import { nextSecond, until } from '../support/until.ts'
import type { Abuse, Faults } from './abuse.ts'
import { type Answer, type Deployment, policySource, startDeployment } from './deployment.ts'

const LIMIT = { limitMs: 60_000 }

/** A person of a separate organization, which other attacks do not touch. */
const bystander = async (deployment: Deployment, slug: string) => {
  const { must, deploymentKey, invite } = deployment
  const created = await must('POST', '/organizations', {
    key: deploymentKey,
    body: { slug, name: slug, admin_key: true },
  })
  const key: string = created.body.admin_key
  return { key, slug, person: await invite(slug, key, `admin@${slug}.example`, 'organization-admin') }
}

interface Attacked extends Deployment {
  /** Address of the database. */
  readonly store: string
  /** @throws Error if the command fails */
  command(...words: readonly string[]): Promise<void>
}

const overPostgres = async (
  run: (attacked: Attacked) => Promise<void>,
  environment: Readonly<Record<string, string>> = {},
): Promise<void> => {
  const postgres = await startPostgres()
  try {
    await postgres.administer('CREATE DATABASE attacked')
    const store = postgres.address('attacked')
    const deployment = await startDeployment({ COUNTERSIGN_STORE: store, ...environment })
    try {
      const at = { COUNTERSIGN_DATA_DIR: deployment.service.dataDirectory, COUNTERSIGN_STORE: store }
      const command = async (...words: readonly string[]): Promise<void> => {
        const { code, stdout, stderr } = await runCountersign(at, ...words)
        if (code !== 0) throw new Error(`${words.join(' ')}: ${stdout}${stderr}`)
      }
      await run({ ...deployment, store, command })
    } finally {
      await deployment.service.stop()
    }
  } finally {
    await postgres.stop()
  }
}

const statusesOf = (answers: readonly Answer[]): string => answers.map(({ status }) => status).join(' and ')
const succeeded = (answers: readonly Answer[]): number => answers.filter(({ status }) => status < 300).length

/** An organization with three administrators, in which changes need a second person. */
const threeAdministrators = async (deployment: Deployment, slug: string) => {
  const { admin, must, invite } = deployment
  const { key, person: ada } = await bystander(deployment, slug)
  const bob = await invite(slug, key, `bob@${slug}.example`, 'organization-admin')
  const carol = await invite(slug, key, `carol@${slug}.example`, 'organization-admin')
  const base = `/organizations/${slug}`
  const policies: { readonly id: string; readonly revisions: readonly string[] }[] = []
  for (let count = 0; count < 4; count++) {
    const { policy } = (await must('POST', `${base}/policies`, { key, body: { source: policySource('A') } })).body
    const revisions: string[] = []
    for (const name of ['B', 'C']) {
      const body = { source: policySource(name) }
      revisions.push((await must('POST', `${base}/policies/${policy.id}/revisions`, { key, body })).body.id)
    }
    policies.push({ id: policy.id, revisions })
  }
  await must('PATCH', `${base}/settings`, { cookie: ada.cookie, body: { second_person: true } })
  await nextSecond()
  const asks = async (method: string, path: string, body: object): Promise<string> =>
    (await must(method, base + path, { cookie: ada.cookie, body })).body.id
  const approves = ({ cookie }: { readonly cookie: string }, id: string): Promise<Answer> =>
    admin('POST', `${base}/approvals/${id}/decide`, { cookie, body: { approve: true } })
  return { base, key, bob, carol, policies, asks, approves }
}

/** An external decider that responds as quickly as possible. */
const startDecider = async ({ must, alpha, urls, api }: Attacked) => {
  const asked = new Map<string, () => void>()
  const early = new Set<string>()
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: async (request) => {
      const { type, data } = (await request.json()) as { type: string; data: { sessionId: string } }
      if (type !== 'session.decision_requested') return new Response()
      const waiting = asked.get(data.sessionId)
      if (waiting === undefined) early.add(data.sessionId)
      else waiting()
      return new Response()
    },
  })
  const { endpoint, secret } = (
    await must('POST', '/organizations/alpha/webhooks', {
      key: alpha.keys.admin,
      body: { url: server.url.href, purpose: 'decisions' },
    })
  ).body
  const key = Buffer.from(String(secret).replace('whsec_', ''), 'base64')
  const people = createPeople({ url: urls.api, quickstart: {} }, alpha.keys.identity)
  const decides = (sessionId: string, sequence: number): Promise<Answer> => {
    const body = JSON.stringify({
      type: 'session.decided',
      timestamp: new Date().toISOString(),
      data: { sessionId, status: 'completed', sequence },
    })
    const message = { id: randomUUID(), timestampSeconds: Math.floor(Date.now() / 1_000), body }
    return api('POST', `/api/v1/provider/${endpoint.id}/sessions/${sessionId}/result`, {
      body,
      headers: { ...signWebhook([key], message) },
    })
  }
  const isAsked = (sessionId: string): Promise<void> =>
    early.has(sessionId) ? Promise.resolve() : new Promise((resolve) => asked.set(sessionId, resolve))
  return { decides, isAsked, people, stop: () => server.stop(true) }
}

const sessionOf = async ({ must, alpha }: Deployment, sessionId: string) =>
  (await must('GET', `/organizations/alpha/sessions/${sessionId}`, { key: alpha.keys.admin })).body

/** Sessions go to the decider after the service has registered it. */
const submitted = async (attacked: Attacked, people: ReturnType<typeof createPeople>, name: string) => {
  for (;;) {
    const sessionId = await people.submit({ name, documents: [] })
    if ((await sessionOf(attacked, sessionId)).provider === 'webhook') return sessionId
  }
}

const decidesDuringSendBack = async (attacked: Attacked, faults: Faults): Promise<void> => {
  const { admin, alpha } = attacked
  const decider = await startDecider(attacked)
  const won = { decider: 0, operator: 0 }
  try {
    for (let round = 0; round < 60; round++) {
      const sessionId = await submitted(attacked, decider.people, `Ada ${round}`)
      await decider.isAsked(sessionId)
      const { sequence } = await sessionOf(attacked, sessionId)
      // The decider's request takes longer, so the operator starts up to three requests later.
      const sendsBack = async () => {
        for (let wait = 0; wait < round % 4; wait++) await sessionOf(attacked, sessionId)
        return admin('POST', `/organizations/alpha/sessions/${sessionId}/decide`, {
          key: alpha.keys.admin,
          body: { sequence, status: 'retry' },
        })
      }
      const [sentBack, decided] = await Promise.all([sendsBack(), decider.decides(sessionId, sequence)])
      const { status } = await sessionOf(attacked, sessionId)
      const isSentBack = succeeded([sentBack]) === 1
      won[isSentBack ? 'operator' : 'decider'] += 1
      const isOne = succeeded([decided, sentBack]) === 1 && status === (isSentBack ? 'retry' : 'completed')
      faults.holds(`round ${round}: ${statusesOf([decided, sentBack])}, and the session is ${status}`, isOne)
      if (isSentBack) faults.status('the older decision, repeated', await decider.decides(sessionId, sequence), 409)
    }
    faults.holds(`no race happened: ${JSON.stringify(won)}`, won.decider > 0 && won.operator > 0)
  } finally {
    await decider.stop()
  }
}

const decidesBeforeChecks = async (attacked: Attacked, faults: Faults): Promise<void> => {
  const { command, service, must, alpha } = attacked
  const name = 'Nikola Obraztsov Primerov'
  const file = join(service.dataDirectory, 'names.csv')
  writeFileSync(file, `id,kind,name\nn1,person,${name}\n`)
  await command('screening-list', 'import', 'names', file, '--format', 'csv')
  const decider = await startDecider(attacked)
  try {
    await submitted(attacked, decider.people, 'Ada Byron')
    for (let round = 0; round < 10; round++) {
      const sessionId = await submitted(attacked, decider.people, name)
      const checks = `/organizations/alpha/sessions/${sessionId}/checks/lists`
      const { sequence } = await sessionOf(attacked, sessionId)
      let isOver = false
      const asked = decider.isAsked(sessionId)
      const answers: Answer[] = []
      const insists = async (): Promise<void> => {
        while (!isOver) answers.push(await decider.decides(sessionId, sequence))
      }
      const insisting = Promise.all([insists(), insists(), insists()])
      const isFound = async () => {
        const { body } = await must('GET', checks, { key: alpha.keys.admin })
        return body.waiting === false && body.outcome === 'look'
      }
      await until(isFound, { ...LIMIT, what: 'the hit' }).finally(() => {
        isOver = true
      })
      await insisting
      await asked
      answers.push(await decider.decides(sessionId, sequence))
      faults.holds(`${succeeded(answers)} of ${answers.length} decisions were accepted`, succeeded(answers) === 0)
      for (const answer of answers) faults.status('a decision', answer, 409)
      const { status } = await sessionOf(attacked, sessionId)
      faults.holds(`a listed person’s session is ${status}`, status === 'submitted')
    }
  } finally {
    await decider.stop()
  }
}

const LIST = { name: 'raced', format: 'json', reach: 'public', intervalSeconds: 86_400 } as const

/** Two nodes change one list: the first has read it when the second receives another address of it. */
const readsWhileChanged = async ({ store: address }: Attacked, faults: Faults): Promise<void> => {
  const open = () => openStore({ target: parseStoreAddress(address), clock: systemClock })
  const [reader, other] = await Promise.all([open(), open()])
  const kept = { changed: 0, read: 0 }
  try {
    const bytes = new Uint8Array(200_000)
    const urls = (path: string): readonly string[] => [`https://lists.invalid/${path}`]
    for (let round = 0; round < 300; round++) {
      await reader.screeningLists.set({ ...LIST, urls: urls('a') })
      // If the service has leased the list, the round does not count.
      const leased = await reader.screeningLists.takeDue(600)
      if (leased === null) continue
      const version = { sha256: round.toString(16).padStart(64, '0'), entries: 1, names: 1, bytes }
      const nextDueAtSeconds = systemClock.unixSeconds() + LIST.intervalSeconds
      const replace = () =>
        reader.screeningLists.replace(LIST.name, version, { token: leased.token, validators: {}, nextDueAtSeconds })
      const change = () => other.screeningLists.set({ ...LIST, urls: urls('b') })
      // Either change reaches the database before the other one commits.
      const changing = round % 2 === 0 ? null : change()
      const [replaced] = await Promise.all([replace(), changing ?? change()])
      const [list] = await other.database.query<{ urls: string; due_at_seconds: number }>(
        'SELECT urls, due_at_seconds FROM screening_lists WHERE name = ?',
        [LIST.name],
      )
      kept[replaced === null ? 'changed' : 'read'] += 1
      const isDue = Number(list?.due_at_seconds) <= systemClock.unixSeconds()
      faults.holds(`round ${round}: the new address is not read`, list?.urls.includes('/b') === true && isDue)
    }
    faults.holds(`no race happened: ${JSON.stringify(kept)}`, kept.changed > 0 && kept.read > 0)
  } finally {
    await Promise.all([reader.close(), other.close()])
  }
}

export const RACE_ABUSES: readonly Abuse[] = [
  {
    row: 63,
    name: 'approvals-at-once',
    mustHappen: 'of two concurrent approvals with the same basis, one is refused',
    run: (_, faults) =>
      overPostgres(async (attacked) => {
        for (let round = 0; round < 10; round++) {
          const { base, key, bob, carol, policies, asks, approves } = await threeAdministrators(
            attacked,
            `raced-${round}`,
          )
          for (const { id, revisions } of policies) {
            const path = `/policies/${id}/activate`
            const waiting: string[] = []
            for (const revision_id of revisions) waiting.push(await asks('POST', path, { revision_id }))
            const [first = '', second = ''] = waiting
            const answers = await Promise.all([approves(bob, first), approves(carol, second)])
            faults.holds(`round ${round}, two activations: ${statusesOf(answers)}`, succeeded(answers) === 1)
          }
          const demotes = (id: string) => asks('PATCH', `/members/${id}`, { role: 'viewer' })
          const [ofBob, ofCarol] = [await demotes(bob.id), await demotes(carol.id)]
          const answers = await Promise.all([approves(carol, ofBob), approves(bob, ofCarol)])
          const { data } = (await attacked.must('GET', `${base}/members`, { key })).body
          const left = data.filter(({ role }: { role: string }) => role === 'organization-admin').length
          faults.holds(`round ${round}, two demotions: ${statusesOf(answers)}, ${left} are left`, left >= 2)
        }
      }),
  },
  {
    row: 50,
    name: 'decided-while-sent-back',
    mustHappen: 'a decider’s answer does not complete a session that is sent back at the same moment',
    run: (_, faults) =>
      overPostgres((attacked) => decidesDuringSendBack(attacked, faults), { COUNTERSIGN_WEBHOOK_REACH: 'loopback' }),
  },
  {
    row: 58,
    name: 'decided-before-checks',
    mustHappen: 'a decider that answers immediately does not complete a listed person',
    run: (_, faults) =>
      overPostgres((attacked) => decidesBeforeChecks(attacked, faults), { COUNTERSIGN_WEBHOOK_REACH: 'loopback' }),
  },
  {
    row: 53,
    name: 'list-read-while-changed',
    mustHappen: 'reading a sanctions list does not delay reading its new address',
    run: (_, faults) => overPostgres((attacked) => readsWhileChanged(attacked, faults)),
  },
]
