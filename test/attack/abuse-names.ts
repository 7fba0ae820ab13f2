// Attacks on screening by how a listed name is written.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createVisitor } from '../portal/support/visitor.ts'
import { runCommand } from '../service/start-service.ts'
import { until } from '../support/until.ts'
import type { Abuse } from './abuse.ts'
import type { Deployment } from './deployment.ts'

const LIST = 'id,kind,name\nn1,person,Nikola Obraztsov Primerov\n'
const SPELLINGS = [
  'NikolaObraztsovPrimerov',
  `${'Nikola '.repeat(16)}Obraztsov Primerov`,
  'N i k o l a  O b r a z t s o v  P r i m e r o v',
  'Nikоlа Оbrаztsоv Рrimеrоv',
  'Nikola Obr@ztsov Primerov',
  'Nikola Obraztsov Primerov Juan Luis Carlos Pedro',
]

/** Submits a session of a person of this name. @returns its id. @throws Error when it is not taken */
export const submitted = async ({ api, urls }: Deployment, key: string, fullName: string): Promise<string> => {
  const { body } = await api('POST', '/api/v1/register/individual', { key, body: {} })
  const { sessionId, redirectUrl } = body as { sessionId: string; redirectUrl: string }
  const visitor = createVisitor(urls.portal)
  await visitor.visit(redirectUrl)
  await visitor.agree(sessionId)
  await visitor.connectEvm(sessionId, sessionId)
  await visitor.call('PUT', `sessions/${sessionId}/fields`, { fullName, birthDate: '1970-01-01', country: 'DE' })
  const answer = await visitor.call('POST', `sessions/${sessionId}/submit`, {})
  if (answer.status !== 200) throw new Error(`${fullName}: ${answer.status} ${JSON.stringify(answer.body)}`)
  return sessionId
}

export const NAME_ABUSES: readonly Abuse[] = [
  {
    row: 56,
    name: 'listed-name-in-disguise',
    mustHappen: 'a listed name that is written otherwise is found, or is not passed',
    run: async (deployment, faults) => {
      const { service, must, alpha } = deployment
      const file = join(service.dataDirectory, 'names.csv')
      writeFileSync(file, LIST)
      const words = ['screening', 'import', 'names', file, '--format', 'csv']
      const { code, stderr } = await runCommand(service.dataDirectory, ...words)
      faults.holds(`the list was not taken: ${stderr}`, code === 0)
      for (const spelling of SPELLINGS) {
        const sessionId = await submitted(deployment, alpha.keys.identity, spelling)
        const path = `/organizations/${alpha.slug}/sessions/${sessionId}/checks/lists`
        const read = () => must('GET', path, { key: alpha.keys.admin })
        await until(async () => !['waiting', 'off'].includes((await read()).body?.outcome), { limitMs: 60_000 })
        const { body } = await read()
        const isFound = (body.hits ?? []).length > 0
        faults.holds(`${spelling}: ${body.outcome}`, body.outcome !== 'passed' && (isFound || body.outcome !== 'look'))
      }
    },
  },
]
