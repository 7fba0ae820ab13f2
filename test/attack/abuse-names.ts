// Attacks on screening with unusual spellings of listed names.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createVisitor, type Visitor } from '../portal/support/visitor.ts'
import { runCommand } from '../service/start-service.ts'
import { until } from '../support/until.ts'
import type { Abuse, Faults } from './abuse.ts'
import type { Deployment } from './deployment.ts'

const LIST = 'id,kind,name\nn1,person,Nikola Obraztsov Primerov\n'
const SPELLINGS = [
  'NikolaObraztsovPrimerov',
  `${'Nikola '.repeat(16)}Obraztsov Primerov`,
  'N i k o l a  O b r a z t s o v  P r i m e r o v',
  'Nikоlа Оbrаztsоv Рrimеrоv',
  'Nikola Obr@ztsov Primerov',
  'Nikola Obraztsov Primerov Juan Luis Carlos Pedro',
  'NikolaObraztsovPrimerov Perez',
  'Ni ko la Ob raz tsov Pri Pri me rov',
  'Nikola 🅞🅑🅡🅐🅩🅣🅢🅞🅥 Primerov',
  'Nikola Obr*ztsov Pr*merov',
]

const BIRTH_DATE = '1970-01-01'
const CLEARED_LIST = 'id,kind,name,birth_dates\nc1,person,Sergej Musterow,1950-03-21\n'

interface Submitted {
  readonly sessionId: string
  readonly visitor: Visitor
}

/** Submits a session with this name. @throws Error if the submission is refused */
export const submitted = async (
  { api, urls }: Deployment,
  key: string,
  fullName: string,
  birthDate = BIRTH_DATE,
): Promise<Submitted> => {
  const { body } = await api('POST', '/api/v1/register/individual', { key, body: {} })
  const { sessionId, redirectUrl } = body as { sessionId: string; redirectUrl: string }
  const visitor = createVisitor(urls.portal)
  await visitor.visit(redirectUrl)
  await visitor.agree(sessionId)
  await visitor.connectEvm(sessionId, sessionId)
  await visitor.call('PUT', `sessions/${sessionId}/fields`, { fullName, birthDate, country: 'DE' })
  const { status } = await visitor.call('POST', `sessions/${sessionId}/submit`, {})
  if (status !== 200) throw new Error(`the session was not submitted: ${status}`)
  return { sessionId, visitor }
}

const importList = async ({ service }: Deployment, name: string, content: string, faults: Faults): Promise<void> => {
  const file = join(service.dataDirectory, `${name}.csv`)
  writeFileSync(file, content)
  const words = ['screening-list', 'import', name, file, '--format', 'csv']
  const { code, stderr } = await runCommand(service.dataDirectory, ...words)
  faults.holds(`the list was refused: ${stderr}`, code === 0)
}

/** Returns the hits after the session's checks are done. */
const checkedBy = async ({ admin, alpha }: Deployment, sessionId: string) => {
  const path = `/organizations/${alpha.slug}/sessions/${sessionId}/checks/lists`
  const read = () => admin('GET', path, { key: alpha.keys.admin })
  const isMade = async (): Promise<boolean> => {
    const { body } = await read()
    return body?.waiting === false && !['waiting', 'off'].includes(body.outcome)
  }
  await until(isMade, { limitMs: 60_000, what: 'the checks' })
  return (await read()).body
}

export const NAME_ABUSES: readonly Abuse[] = [
  {
    row: 56,
    name: 'listed-name-in-disguise',
    mustHappen: 'another spelling of a listed name is found, or does not pass',
    run: async (deployment, faults) => {
      await importList(deployment, 'names', LIST, faults)
      for (const spelling of SPELLINGS) {
        const { sessionId } = await submitted(deployment, deployment.alpha.keys.identity, spelling)
        const body = await checkedBy(deployment, sessionId)
        const isFound = (body.hits ?? []).length > 0
        faults.holds(`${spelling}: ${body.outcome}`, body.outcome !== 'passed' && (isFound || body.outcome !== 'look'))
      }
    },
  },
  {
    row: 57,
    name: 'clearance-outlived',
    mustHappen: 'a hit cleared for a similar name reopens for the listed name and birth date',
    run: async (deployment, faults) => {
      const { admin, alpha } = deployment
      await importList(deployment, 'cleared', CLEARED_LIST, faults)
      const { sessionId, visitor } = await submitted(deployment, alpha.keys.identity, 'S. Musterow', '1985-01-01')
      const base = `/organizations/${alpha.slug}/sessions/${sessionId}`
      const post = (path: string, body: object) => admin('POST', base + path, { key: alpha.keys.admin, body })
      const decide = async (status: string, more: object = {}) => {
        const { body } = await admin('GET', base, { key: alpha.keys.admin })
        return post('/decide', { sequence: body.sequence, status, ...more })
      }
      const similar = (await checkedBy(deployment, sessionId)).hits
      faults.holds(`${similar.length} hits for the similar name`, similar.length > 0)
      for (const { id } of similar)
        faults.status('clearing', await post(`/checks/lists/${id}`, { state: 'cleared', reason: 'born later' }), 200)
      faults.status('sent back', await decide('retry', { corrections: ['fullName', 'birthDate'] }), 200)
      const listed = { fullName: 'Sergej Musterow', birthDate: '1950-03-21' }
      await visitor.call('PUT', `sessions/${sessionId}/fields`, listed)
      await visitor.call('POST', `sessions/${sessionId}/submit`, {})
      const exact = await checkedBy(deployment, sessionId)
      const open = exact.hits.filter(({ state }: { state: string }) => state === 'open')
      faults.holds(`the listed name: ${exact.outcome}`, exact.outcome === 'look' && open.length > 0)
      faults.status('completed despite the hit', await decide('completed'), 409)
    },
  },
]
