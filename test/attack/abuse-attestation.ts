// Attacks on what is signed, and on the parser in front of it.
import { until } from '../support/until.ts'
import type { Abuse } from './abuse.ts'
import type { Deployment, Tenant } from './deployment.ts'
import { exchangeBytes } from './wire.ts'

const WALLET = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'

const good = ({ things }: Tenant) => ({ from: WALLET, chain: 'base', verification_hash: things['verification_hash'] })

const attest = ({ api, alpha }: Deployment, body: unknown, headers: Record<string, string> = {}) =>
  api('POST', '/v2/attestation', { key: alpha.keys.attestation, body, headers })

export const ATTESTATION_ABUSES: readonly Abuse[] = [
  {
    row: 10,
    name: 'values',
    mustHappen: '400 for every msg_value and chain_id that is no exact number in its range',
    run: async (deployment, faults) => {
      const values = ['', ' ', '1 ', '+1', '-1', '1e3', '01', '1.0', '１', (2n ** 256n).toString()]
      for (const msg_value of values) {
        faults.status(
          JSON.stringify(msg_value),
          await attest(deployment, { ...good(deployment.alpha), msg_value }),
          400,
        )
      }
      for (const chain_id of [1.5, -1, 2 ** 60, 0]) {
        const body = { from: WALLET, to: deployment.alpha.things['to'], data: '0x', msg_value: '0', chain_id }
        const answer = await deployment.api('POST', '/v1/task', { key: deployment.alpha.keys.attestation, body })
        faults.status(`chain_id ${chain_id}`, answer, 400)
        faults.holds(`chain_id ${chain_id} was looked for`, answer.body?.code !== 'POLICY_NOT_FOUND')
      }
    },
  },
  {
    row: 11,
    name: 'denied-wallet-in-other-letters',
    mustHappen: 'a denied wallet is denied in every spelling',
    run: async (deployment, faults) => {
      const { admin, alpha } = deployment
      const denied = WALLET.toLowerCase()
      const created = await admin('POST', '/organizations/alpha/lists', {
        key: alpha.keys.admin,
        body: { name: 'deny' },
      })
      faults.status('list', created, 201, 409)
      const edited = await admin('POST', '/organizations/alpha/lists/deny/entries', {
        key: alpha.keys.admin,
        body: { add: [{ address: denied }] },
      })
      faults.status('entry', edited, 200)
      const verdict = async (body: object): Promise<unknown> => (await attest(deployment, body)).body?.is_compliant
      await until(async () => (await verdict({ ...good(alpha), from: WALLET })) === false, { what: 'the deny list' })
      for (const from of [WALLET, denied, `0x${WALLET.slice(2).toUpperCase()}`]) {
        faults.holds(`${from} is let through`, (await verdict({ ...good(alpha), from })) !== true)
      }
      const behind = { ...good(alpha), from: `0x${'7'.repeat(40)}`, on_behalf: denied }
      faults.holds('a represented wallet is let through', (await verdict(behind)) !== true)
      await admin('POST', '/organizations/alpha/lists/deny/entries', {
        key: alpha.keys.admin,
        body: { remove: [denied] },
      })
    },
  },
  {
    row: 31,
    name: 'misspelt-fields',
    mustHappen: '400 that names the field',
    run: async (deployment, faults) => {
      for (const name of ['msgvalue', 'msg_valu', 'onbehalf', 'userip', 'dat']) {
        const answer = await attest(deployment, { ...good(deployment.alpha), [name]: '1' })
        faults.status(name, answer, 400)
        faults.holds(`${name} is not named`, answer.text.includes(name))
      }
    },
  },
  {
    row: 12,
    name: 'ambiguous-json',
    mustHappen: '400 or 413 for duplicate keys, deep nesting, prototype names and huge bodies',
    run: async (deployment, faults) => {
      const text = JSON.stringify(good(deployment.alpha))
      const bodies: ReadonlyArray<readonly [string, string, number]> = [
        ['twice', `{"from":"0x${'2'.repeat(40)}",${text.slice(1)}`, 400],
        ['twice, escaped', `{"\\u0066rom":"0x${'2'.repeat(40)}",${text.slice(1)}`, 400],
        ['deep', `{"a":${'['.repeat(10_000)}${']'.repeat(10_000)}}`, 400],
        ['prototype', `{"__proto__":{"is_compliant":true},${text.slice(1)}`, 400],
        ['array', '[]', 400],
        ['nothing', '', 400],
        ['half a character', `{"from":"\\ud800",${text.slice(1)}`, 400],
        ['byte order mark', `\ufeff${text}`, 400],
        ['huge', `${text.slice(0, -1)},"data":"0x${'0'.repeat(2_000_000)}"}`, 413],
      ]
      for (const [what, body, status] of bodies) faults.status(what, await attest(deployment, body), status)
      faults.holds('Object.prototype is changed', !('is_compliant' in {}))
      faults.status('a good one', await attest(deployment, text), 200)
    },
  },
  {
    row: 8,
    name: 'one-key-many-calls',
    mustHappen: 'twenty calls with one Idempotency-Key yield one uuid',
    run: async (deployment, faults) => {
      const headers = { 'idempotency-key': 'attack-of-the-twenty' }
      const answers = await Promise.all(
        Array.from({ length: 20 }, () => attest(deployment, good(deployment.alpha), headers)),
      )
      const uuids = new Set(answers.filter(({ status }) => status === 200).map(({ body }) => body.attestation.uuid))
      faults.holds(`${uuids.size} uuids`, uuids.size === 1)
      for (const answer of answers) faults.status('one of twenty', answer, 200, 409)
      const other = { ...good(deployment.alpha), from: `0x${'8'.repeat(40)}` }
      faults.status('the key with another request', await attest(deployment, other, headers), 422)
    },
  },
  {
    row: 1,
    name: 'another-tenants-project',
    mustHappen: 'a project or contract of another organization is unknown',
    run: async (deployment, faults) => {
      const { things, canary } = deployment.beta
      for (const target of [{ verification_hash: things['verification_hash'] }, { to: things['to'] }]) {
        const answer = await attest(deployment, { from: WALLET, chain: 'base', ...target })
        faults.status(JSON.stringify(target), answer, 400)
        faults.holds('another text than for the unknown', answer.body?.code === 'POLICY_NOT_FOUND')
        faults.silent('answer', answer, canary)
      }
    },
  },
  {
    row: 21,
    name: 'keys-of-another-kind',
    mustHappen: 'keys open their own interface and nothing else; what is no key is 401',
    run: async ({ api, admin, alpha }, faults) => {
      const body = good(alpha)
      for (const key of [alpha.keys.identity, alpha.keys.admin]) {
        faults.status('attestation', await api('POST', '/v2/attestation', { key, body }), 403)
      }
      faults.status(
        'identity',
        await api('POST', '/api/v1/verify', { key: alpha.keys.attestation, body: { address: WALLET } }),
        403,
      )
      faults.status('admin', await admin('GET', '/organizations', { key: alpha.keys.identity }), 403)
      const { attestation } = alpha.keys
      const cut = attestation.slice(0, -1)
      for (const key of ['x', `${attestation}a`, cut, attestation.toLowerCase(), `${cut}0`]) {
        if (key !== attestation)
          faults.status(key.slice(0, 12), await api('POST', '/v2/attestation', { key, body }), 401)
      }
    },
  },
  {
    row: 25,
    name: 'two-parsers',
    mustHappen: 'requests that two parsers read differently are refused or closed; a good one right after succeeds',
    run: async (deployment, faults) => {
      const { ports, alpha } = deployment
      const text = JSON.stringify(good(alpha))
      const inner = `POST /v2/attestation HTTP/1.1\r\nhost: a\r\nx-api-key: ${alpha.keys.attestation}\r\ncontent-type: application/json\r\ncontent-length: ${text.length}\r\n\r\n${text}`
      const shapes: Readonly<Record<string, string>> = {
        both: `POST /livez HTTP/1.1\r\nhost: a\r\ncontent-length: 4\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n${inner}`,
        'two lengths': `POST /livez HTTP/1.1\r\nhost: a\r\ncontent-length: 0\r\ncontent-length: ${inner.length}\r\n\r\n${inner}`,
        'a space before the colon': `GET /livez HTTP/1.1\r\nhost: a\r\ntransfer-encoding : chunked\r\n\r\n`,
        'a folded line': 'GET /livez HTTP/1.1\r\nhost: a\r\nx: 1\r\n 2\r\n\r\n',
        'bare line feeds': 'GET /livez HTTP/1.1\nhost: a\n\n',
        'a null byte': 'GET /livez\0 HTTP/1.1\r\nhost: a\r\n\r\n',
        'a method that echoes': 'TRACE / HTTP/1.1\r\nhost: a\r\nx-echo: 1\r\n\r\n',
        'no version': 'GET /livez\r\n\r\n',
        'a huge line': `GET /${'a'.repeat(100_000)} HTTP/1.1\r\nhost: a\r\n\r\n`,
        'a preface of HTTP/2': 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
        'a bad chunk': 'POST /v2/attestation HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n',
      }
      for (const port of Object.values(ports)) {
        for (const [what, sent] of Object.entries(shapes)) {
          const outcome = await exchangeBytes(port, Buffer.from(sent, 'latin1'), { limitMs: 2_000, endsEarly: true })
          if (typeof outcome === 'string') continue
          // A folded line may be read as one line (RFC 9112 §5.2).
          const read = what === 'a folded line' || what === 'bare line feeds'
          if (outcome.status < 400 && !read) faults.add(`${what} at ${port}: ${outcome.status}`)
          if (outcome.status >= 500 && outcome.status !== 505) faults.add(`${what} at ${port}: ${outcome.status}`)
          if (outcome.body.includes('"attestation":{')) faults.add(`${what}: what was hidden in it was signed`)
        }
      }
      faults.status('a good one', await attest(deployment, good(alpha)), 200)
    },
  },
  {
    row: 20,
    name: 'streams-without-end',
    mustHappen: 'streams of one key over its cap are 429',
    run: async ({ urls, alpha }, faults) => {
      const stop = new AbortController()
      const open = () =>
        fetch(`${urls.api}/api/v1/status/realtime/individual/${alpha.portal.sessionId}`, {
          headers: { authorization: `Bearer ${alpha.keys.identity}` },
          signal: stop.signal,
        })
      const answers = await Promise.all(Array.from({ length: 30 }, open))
      const open200 = answers.filter(({ status }) => status === 200).length
      faults.holds(`${open200} streams are open`, open200 === 20)
      faults.holds(
        'another refusal than 429',
        answers.every(({ status }) => status === 200 || status === 429),
      )
      stop.abort()
    },
  },
]
