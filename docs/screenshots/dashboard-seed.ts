// An organization after some weeks of work, for screenshots.
import { createHash } from 'node:crypto'
import { DEMO_POLICY } from '../../src/policy/tools/templates.ts'
import type { Dashboard } from '../../test/dashboard/support/dashboard.ts'
import { seedPeople } from './people-seed.ts'

/** Addresses that belong to nobody: hashes of public texts. */
const address = (text: string): string => `0x${createHash('sha256').update(text).digest('hex').slice(0, 40)}`

const BASE = '/organizations/acme'

const PEOPLE = [
  ['grace@acme.example', 'Grace Hopper', 'organization-admin'],
  ['alan@acme.example', 'Alan Turing', 'reviewer'],
  ['katherine@acme.example', 'Katherine Johnson', 'viewer'],
] as const

const PARTNERS = [
  ['Market maker', 'maker'],
  ['Treasury', 'treasury'],
  ['Custodian', 'custodian'],
  ['Liquidity bot, north', 'bot 1'],
  ['Liquidity bot, south', 'bot 2'],
] as const

export const seedDashboard = async (dashboard: Dashboard): Promise<void> => {
  const { asAdmin, service } = dashboard
  await asAdmin('POST', '/organizations', { slug: 'acme', name: 'Acme Exchange', level: 'standard' })
  const { policy, revision } = (await asAdmin('POST', `${BASE}/policies`, {
    source: DEMO_POLICY.replace('Demo policy', 'Sanctions and geography'),
  })) as { policy: { id: string }; revision: { id: string } }
  await asAdmin('POST', `${BASE}/policies/${policy.id}/activate`, { revision_id: revision.id })
  const project = async (name: string, lifetime: number): Promise<string> => {
    const made = (await asAdmin('POST', `${BASE}/projects`, {
      name,
      policy_id: policy.id,
      lifetime_seconds: lifetime,
    })) as { id: string }
    return made.id
  }
  const swap = await project('Swap', 120)
  await project('Vault', 300)
  await project('Launchpad', 600)
  for (const chain of ['base', 'arbitrum', 'ethereum']) {
    await asAdmin('POST', `${BASE}/bindings`, { project_id: swap, chain, address: address(`router ${chain}`) })
  }
  const day = new Date(Date.now() + 90 * 86_400_000).toISOString()
  const issue = (body: Record<string, unknown>) =>
    asAdmin('POST', `${BASE}/keys`, body) as Promise<{ key: string; record: { id: string } }>
  const relayer = await issue({ name: 'Relayer, production', kind: 'attestation', expires_at: day })
  const old = await issue({ name: 'Relayer, old data center', kind: 'attestation' })
  const onboarding = await issue({ name: 'Onboarding service', kind: 'identity' })
  await issue({ name: 'Onboarding service, staging', kind: 'identity', environment: 'test' })
  await issue({ name: 'Terraform', kind: 'admin', rate_limit: { requests_per_second: 50, burst: 100 } })
  await asAdmin('POST', `${BASE}/keys/${old.record.id}/revoke`)
  await asAdmin('POST', `${BASE}/lists`, {
    name: 'partners',
    description: 'Known counterparties; reviewed each quarter',
  })
  await asAdmin('POST', `${BASE}/lists/partners/entries`, {
    add: PARTNERS.map(([memo, name]) => ({ address: address(name), memo })),
  })
  await asAdmin('POST', `${BASE}/lists`, { name: 'deny', description: 'Never, whatever a policy says' })
  await asAdmin('POST', `${BASE}/lists/deny/entries`, {
    add: [{ address: address('drained in march'), memo: 'Drainer, ticket 311' }],
  })
  for (const [email, name, role] of PEOPLE) await asAdmin('POST', `${BASE}/members`, { email, name, role })
  const { verification_hash } = (await asAdmin('GET', `${BASE}/projects/${swap}`)) as { verification_hash: string }
  for (let index = 0; index < 12; index++) {
    await service.attest(
      { from: address(`wallet ${index}`), chain: 'base', verification_hash },
      { 'x-api-key': relayer.key },
    )
  }
  await seedPeople(dashboard, onboarding.key)
}
