// Attacks by a person who knows only the address of a wallet.
import { createVisitor, tokenOf, type Visitor } from '../portal/support/visitor.ts'
import { evmAccount } from '../portal/support/wallets.ts'
import type { Abuse } from './abuse.ts'
import type { Deployment } from './deployment.ts'

/** Link that a customer's backend shows to anyone who enters a wallet. */
const linkFor = async ({ api, alpha }: Deployment, name: string) => {
  const body = { walletAddress: evmAccount(name).address }
  const answer = await api('POST', '/api/v1/register/individual', { key: alpha.keys.identity, body })
  return answer.body as { sessionId: string; redirectUrl: string }
}

const open = async ({ urls }: Deployment, url: string): Promise<Visitor> => {
  const visitor = createVisitor(urls.portal)
  await visitor.visit(url)
  return visitor
}

export const REUSE_ABUSES: readonly Abuse[] = [
  {
    row: 2,
    name: 'wallet-address-as-link',
    mustHappen: 'knowledge of a wallet address does not open a session in use',
    run: async (deployment, faults) => {
      const { sessionId, redirectUrl } = await linkFor(deployment, 'known')
      const victim = await open(deployment, redirectUrl)
      await victim.agree(sessionId)
      await victim.call('PUT', `sessions/${sessionId}/fields`, { fullName: 'Ada Byron', country: 'GB' })
      const again = await linkFor(deployment, 'known')
      faults.holds('the link opens another session', again.sessionId === sessionId)
      const stranger = await open(deployment, again.redirectUrl)
      faults.holds('the stranger received a cookie', stranger.cookies.size === 0)
      const { body } = await stranger.call('POST', 'enter', { token: tokenOf(again.redirectUrl) })
      faults.holds(
        `the stranger received ${JSON.stringify(body)}`,
        body['kind'] === 'elsewhere' && !('sessionId' in body),
      )
      const { status } = await stranger.call('GET', `sessions/${sessionId}/fields`)
      faults.holds(`the details: ${status}`, status === 404)
    },
  },
  {
    row: 2,
    name: 'session-opened-before-its-person',
    mustHappen: 'a stranger who opened a wallet’s session first sees nothing after its owner proves the wallet',
    run: async (deployment, faults) => {
      const first = await linkFor(deployment, 'awaited')
      const stranger = await open(deployment, first.redirectUrl)
      await stranger.agree(first.sessionId)
      const { redirectUrl, sessionId } = await linkFor(deployment, 'awaited')
      const person = await open(deployment, redirectUrl)
      const account = evmAccount('awaited')
      const token = tokenOf(redirectUrl)
      const asked = await person.call('POST', 'continue/challenge', { token, address: account.address, chainId: 1 })
      const signature = await account.signMessage({ message: String(asked.body['message']) })
      const proved = await person.call('POST', 'continue', { token, nonce: asked.body['nonce'], signature })
      faults.holds(`the person received ${proved.status}`, proved.status === 200)
      const { status } = await stranger.call('GET', `sessions/${sessionId}/fields`)
      faults.holds(`the details for the stranger: ${status}`, status === 404)
      faults.holds('the stranger’s consent is kept', (await person.view(sessionId)).agreement === null)
    },
  },
  {
    row: 59,
    name: 'correction-of-another-part',
    mustHappen: 'a session that was sent back for its wallets accepts no other name',
    run: async (deployment, faults) => {
      const { sessionId, redirectUrl } = await linkFor(deployment, 'corrected')
      const person = await open(deployment, redirectUrl)
      await person.agree(sessionId)
      const details = { fullName: 'Ada Byron', birthDate: '1985-12-10', country: 'GB' }
      await person.call('PUT', `sessions/${sessionId}/fields`, details)
      const key = deployment.alpha.keys.admin
      const { body } = await deployment.admin('GET', `/organizations/alpha/sessions/${sessionId}`, { key })
      const retry = { sequence: body.sequence, status: 'retry', corrections: ['wallets'] }
      const decided = await deployment.admin('POST', `/organizations/alpha/sessions/${sessionId}/decide`, {
        key,
        body: retry,
      })
      faults.status('sent back', decided, 200)
      const { status } = await person.call('PUT', `sessions/${sessionId}/fields`, { fullName: 'Eve Other' })
      faults.holds(`another name: ${status}`, status === 409)
      const kept = await person.call('GET', `sessions/${sessionId}/fields`)
      faults.holds('the name has changed', kept.body['fullName'] === details.fullName)
    },
  },
]
