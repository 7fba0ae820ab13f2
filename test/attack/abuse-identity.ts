// Attacks on verification sessions and on the page.
import { deflateSync } from 'node:zlib'
import { blankPdf } from '../portal/support/pdf.ts'
import { createVisitor, type Visitor } from '../portal/support/visitor.ts'
import { evmAccount } from '../portal/support/wallets.ts'
import type { Abuse } from './abuse.ts'
import type { Answer, Deployment } from './deployment.ts'

const toAnswer = ({ status, headers, body }: { status: number; headers: Headers; body: unknown }): Answer => ({
  status,
  headers,
  body,
  text: JSON.stringify(body),
})

const register = async ({ api, alpha }: Deployment, body: object = {}) =>
  (await api('POST', '/api/v1/register/individual', { key: alpha.keys.identity, body })).body as {
    sessionId: string
    redirectUrl: string
  }

const entered = async (
  deployment: Deployment,
  body: object = {},
): Promise<{ visitor: Visitor; sessionId: string; link: string }> => {
  const { sessionId, redirectUrl } = await register(deployment, body)
  const visitor = createVisitor(deployment.urls.portal)
  await visitor.visit(redirectUrl)
  await visitor.agree(sessionId)
  return { visitor, sessionId, link: redirectUrl }
}

const challenge = async (visitor: Visitor, sessionId: string, name: string) => {
  const { address } = evmAccount(name)
  return toAnswer(await visitor.call('POST', `sessions/${sessionId}/wallets/challenge`, { address, chainId: 1 }))
}

const connect = async (visitor: Visitor, sessionId: string, name: string): Promise<Answer> => {
  const asked = await challenge(visitor, sessionId, name)
  if (asked.status !== 200) return asked
  const signature = await evmAccount(name).signMessage({ message: asked.body.message })
  return toAnswer(await visitor.call('POST', `sessions/${sessionId}/wallets`, { nonce: asked.body.nonce, signature }))
}

const pdfWith = (content: string): Buffer =>
  Buffer.from(blankPdf().toString('latin1').replace('/Type /Catalog', `/Type /Catalog ${content}`), 'latin1')

const bomb = (): Buffer => {
  const packed = deflateSync(Buffer.alloc(200_000_000))
  const head = `9 0 obj\n<< /Length ${packed.length} /Filter /FlateDecode >>\nstream\n`
  const [start = '', rest = ''] = blankPdf()
    .toString('latin1')
    .split(/(?<=%PDF-1\.4\n)/)
  return Buffer.concat([
    Buffer.from(start + head),
    packed,
    Buffer.from('\nendstream\nendobj\n'),
    Buffer.from(rest, 'latin1'),
  ])
}

export const IDENTITY_ABUSES: readonly Abuse[] = [
  {
    row: 2,
    name: 'session-id-as-link',
    mustHappen: 'a session’s id opens nothing',
    run: async ({ urls, alpha }, faults) => {
      const visitor = createVisitor(urls.portal)
      const { sessionId } = alpha.portal
      const page = await visitor.visit(`${urls.portal}/v/${sessionId}`)
      faults.holds(`the link: ${page.status}`, page.status === 404 && page.headers.getSetCookie().length === 0)
      faults.status('enter', toAnswer(await visitor.call('POST', 'enter', { token: sessionId })), 404)
      faults.status('session', toAnswer(await visitor.call('GET', `sessions/${sessionId}`)), 404)
    },
  },
  {
    row: 4,
    name: 'link-in-a-second-browser',
    mustHappen: 'a link that a browser has opened gives another one nothing',
    run: async ({ urls, alpha }, faults) => {
      const second = createVisitor(urls.portal)
      const page = await second.visit(alpha.portal.link)
      faults.holds('it got a cookie', page.headers.getSetCookie().length === 0)
      const token = alpha.portal.link.slice(alpha.portal.link.lastIndexOf('/') + 1)
      const answer = toAnswer(await second.call('POST', 'enter', { token }))
      faults.holds(`it is ${answer.text}`, answer.body.kind === 'elsewhere')
      faults.status('session', toAnswer(await second.call('GET', `sessions/${alpha.portal.sessionId}`)), 404)
    },
  },
  {
    row: 5,
    name: 'forged-proofs',
    mustHappen: 'forged, replayed and foreign wallet proofs are refused',
    run: async (deployment, faults) => {
      const { visitor, sessionId } = await entered(deployment)
      const path = `sessions/${sessionId}/wallets`
      const asked = await challenge(visitor, sessionId, 'victim')
      const { nonce, message } = asked.body
      const bring = async (body: object) => toAnswer(await visitor.call('POST', path, body))
      const foreign = await evmAccount('mallory').signMessage({ message })
      faults.status('another’s signature', await bring({ nonce, signature: foreign }), 400)
      const changed = await evmAccount('victim').signMessage({ message: `${message} ` })
      faults.status('another message', await bring({ nonce, signature: changed }), 400)
      const other = await entered(deployment)
      const own = await evmAccount('victim').signMessage({ message })
      const elsewhere = await other.visitor.call('POST', `sessions/${other.sessionId}/wallets`, {
        nonce,
        signature: own,
      })
      faults.status('in another session', toAnswer(elsewhere), 400)
      faults.status('the right one', await bring({ nonce, signature: own }), 200)
      faults.status('again', await bring({ nonce, signature: own }), 400)
    },
  },
  {
    row: 6,
    name: 'wallet-limits',
    mustHappen: 'a locked session takes its wallet only; the 21st wallet is refused in a race',
    run: async (deployment, faults) => {
      const locked = await entered(deployment, { walletAddress: evmAccount('locked').address })
      faults.status('another wallet', await connect(locked.visitor, locked.sessionId, 'mallory'), 409)
      const { visitor, sessionId } = await entered(deployment)
      const answers: Answer[] = []
      for (let round = 0; round < 4; round++) {
        answers.push(
          ...(await Promise.all(
            Array.from({ length: 6 }, (_, n) => connect(visitor, sessionId, `many ${round} ${n}`)),
          )),
        )
      }
      const view = await visitor.view(sessionId)
      faults.holds(`${view.wallets.length} wallets`, view.wallets.length <= 20)
      for (const answer of answers) faults.status('one of many wallets', answer, 200, 409, 429)
    },
  },
  {
    row: 3,
    name: 'tenants-cannot-be-linked',
    mustHappen: 'another organization’s session is 404 by its id, and a wallet never seen tells nothing',
    run: async ({ api, alpha, beta }, faults) => {
      const key = alpha.keys.identity
      const { sessionId } = beta.portal
      for (const path of [`individual/${sessionId}`, `business/${sessionId}`, `realtime/individual/${sessionId}`]) {
        faults.status(path, await api('GET', `/api/v1/status/${path}`, { key }), 404)
      }
      const unseen = await api('POST', '/api/v1/verify', { key, body: { address: `0x${'b'.repeat(40)}` } })
      faults.holds(
        unseen.text,
        Object.keys(unseen.body ?? {})
          .sort()
          .join() === 'address,verified',
      )
    },
  },
  {
    row: 16,
    name: 'origin-urls',
    mustHappen: '400 for every originUrl that is no plain https address',
    run: async ({ api, alpha }, faults) => {
      const urls = [
        'javascript:alert(1)',
        'http://a.example',
        '//a.example',
        '/back',
        'https://u:p@a.example',
        'data:text/html,x',
        `https://a.example/${'a'.repeat(2_048)}`,
      ]
      for (const originUrl of urls) {
        faults.status(
          originUrl.slice(0, 40),
          await api('POST', '/api/v1/register/individual', { key: alpha.keys.identity, body: { originUrl } }),
          400,
        )
      }
    },
  },
  {
    row: 19,
    name: 'qr-sizes',
    mustHappen: '400 outside of 80 to 2,000 pixels',
    run: async ({ api, alpha }, faults) => {
      for (const size of [
        '79',
        '2001',
        '-1',
        '1e3',
        '0x100',
        '300.5',
        '',
        'NaN',
        '99999999999999999999',
        '300&size=301',
      ]) {
        faults.status(
          size,
          await api('POST', `/api/v1/register/individual?size=${size}`, { key: alpha.keys.identity, body: {} }),
          400,
        )
      }
    },
  },
  {
    row: 18,
    name: 'hostile-documents',
    mustHappen: 'scripts, bombs, polyglots and wrong types are refused; names are no paths',
    run: async (deployment, faults) => {
      const level = (level: string) =>
        deployment.must('PATCH', '/organizations/alpha', { key: deployment.alpha.keys.admin, body: { level } })
      // Sessions of the basic level ask for no document.
      await level('enhanced')
      const { visitor, sessionId } = await entered(deployment).finally(() => level('basic'))
      const send = async (content: Uint8Array, type: string, name = 'a.pdf') =>
        toAnswer(
          await visitor.call('POST', `sessions/${sessionId}/documents/identity-document`, content, {
            'content-type': type,
            'x-file-name': encodeURIComponent(name),
          }),
        )
      const script = '/OpenAction<</S/JavaScript/JS(app.alert(1))>>'
      const huge = Buffer.concat([
        Buffer.from('89504e470d0a1a0a0000000d494844520000ffff0000ffff0806000000', 'hex'),
        Buffer.alloc(100),
      ])
      const hostile: ReadonlyArray<readonly [string, Uint8Array, string]> = [
        ['a script', pdfWith(script), 'application/pdf'],
        ['a script in escapes', pdfWith(script.replace('JavaScript', 'J#61v#61Script')), 'application/pdf'],
        ['a bomb', bomb(), 'application/pdf'],
        ['a page as a picture', Buffer.from('<html><script>1</script>'), 'image/png'],
        ['SVG', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'), 'image/svg+xml'],
        ['an archive', Buffer.from('PK\x03\x04aaaaaaaa'), 'application/pdf'],
        ['65,535 pixels square', huge, 'image/png'],
        ['nothing', new Uint8Array(0), 'image/png'],
      ]
      for (const [what, content, type] of hostile) faults.status(what, await send(content, type), 400, 413, 415)
      const kept = await send(blankPdf(), 'application/pdf', '../../../etc/cron.d/x')
      faults.status('a harmless one, with a path as its name', kept, 200, 201)
    },
  },
  {
    row: 4,
    name: 'left-devices',
    mustHappen: 'a browser that left is known no longer; the cookie lives for 30 days at most',
    run: async (deployment, faults) => {
      const { sessionId, redirectUrl } = await register(deployment)
      const visitor = createVisitor(deployment.urls.portal)
      const [line = ''] = (await visitor.visit(redirectUrl)).headers.getSetCookie()
      const age = Number(/Max-Age=(\d+)/.exec(line)?.[1])
      faults.holds(`the cookie lives for ${age} s`, age > 0 && age <= 30 * 86_400)
      faults.holds(line, /; HttpOnly/.test(line) && /; SameSite=Strict/.test(line))
      const cookie = [...visitor.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
      await visitor.call('POST', `sessions/${sessionId}/leave`, {})
      const after = await visitor.call('GET', `sessions/${sessionId}`, undefined, { cookie })
      faults.status('after leaving', toAnswer(after), 404)
    },
  },
  {
    row: 23,
    name: 'forged-portal-requests',
    mustHappen: '403 for changes from another site',
    run: async ({ urls, alpha }, faults) => {
      const visitor = createVisitor(urls.portal)
      for (const headers of [
        { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' },
        { origin: urls.dashboard, 'sec-fetch-site': 'same-site' },
      ]) {
        const all = { ...headers, cookie: alpha.portal.cookie }
        const answer = await visitor.call('POST', `sessions/${alpha.portal.sessionId}/handover`, {}, all)
        faults.status(headers.origin, toAnswer(answer), 403)
      }
    },
  },
]
